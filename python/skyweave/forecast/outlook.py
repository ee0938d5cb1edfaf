"""Forecasts in files: what is foreseen of a path, on the clock of the world.

JSON, for schedulers, adaptive video and triggers, wherever it comes from. Moments are Unix seconds
(UTC), so that no zone and no calendar stands between programs; what is foreseen stands in seconds
after the first of them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import numpy as np
from pydantic import Field, ValidationError, model_validator

from skyweave.data.importers.base import as_text, read_bytes
from skyweave.data.writers import write_text
from skyweave.errors import ConfigError, DataError
from skyweave.forecast.slots import SlotEstimate
from skyweave.model.base import Model
from skyweave.model.forecast import Forecast, ForecastBoundary, ForecastUpdate
from skyweave.model.parsing import parse_json
from skyweave.model.windows import ForecastWindow

SCHEMA: Literal[2] = 2
OLDEST_SCHEMA = 1
SHORTEST_S = 1e-3
"""A forecast lasts this long at least: Unix time in floats has microseconds."""
MOST_WINDOWS = 1_000_000
MOST_UPDATES = 100_000
REMEDY = "write one with 'skyweave forecast slots --out'"
ROUNDING_S = 1e-6
"""Unix seconds as floats are good to less than this; moments this close are the same."""

Moment = Annotated[float, Field(allow_inf_nan=False)]


class ForecastFile(Model):
    """What is foreseen of a path between two moments; outside of them nothing is said.

    ``source`` says what it was made from, ``method`` how. ``forecast`` and ``updates`` are in
    seconds after ``start_unix_s``: what is known then, and what arrives later and replaces it.
    Outages begin within the file's span; the last may end after it.
    """

    kind: Literal["skyweave-forecast"] = "skyweave-forecast"
    schema_version: Literal[2] = SCHEMA
    source: str
    method: str
    start_unix_s: Moment
    end_unix_s: Moment
    forecast: Forecast
    updates: Annotated[tuple[ForecastUpdate, ...], Field(max_length=MOST_UPDATES)] = ()

    @model_validator(mode="after")
    def _within(self) -> Self:
        if self.end_unix_s <= self.start_unix_s:
            raise ValueError("end_unix_s must be after start_unix_s")
        if self.forecast.issued_at_s:
            raise ValueError("what is issued after start_unix_s must stand in updates")
        span_s = self.end_unix_s - self.start_unix_s + ROUNDING_S
        for known in (self.forecast, *(one.forecast for one in self.updates)):
            starts = [one.start_s for one in known.outages]
            if starts != sorted(starts):
                raise ValueError("the outages must be in order of their start")
            if starts and starts[-1] >= span_s:
                raise ValueError("the outages must begin between start_unix_s and end_unix_s")
            if any(one.at_s >= span_s for one in known.boundaries):
                raise ValueError("the boundaries must lie between start_unix_s and end_unix_s")
        return self

    def of_run(
        self, start_utc: datetime | float, duration_s: float
    ) -> tuple[Forecast, tuple[ForecastUpdate, ...]]:
        """Return what is known when a run begins, and what arrives during it, in its seconds.

        Raises :class:`ConfigError` if the run is not within the file: silence there is ignorance.
        """
        start = unix_s(start_utc)
        self._check(start, duration_s)
        shift = self.start_unix_s - start
        known, later = Forecast(), []
        for arrives_s, forecast in self._fresh():
            there = _of_run(forecast.moved(shift), duration_s)
            if arrives_s + shift <= 0:
                known = there
            elif arrives_s + shift < duration_s:
                later.append(ForecastUpdate(arrives_s=arrives_s + shift, forecast=there))
        return known, tuple(later)

    def outages(
        self, start_utc: datetime | float, duration_s: float, least_probability: float = 0.0
    ) -> tuple[ForecastWindow, ...]:
        """Return the outages known when a run begins, in its seconds.

        Cut to the run, joined where they meet, without those below ``least_probability``. Raises
        :class:`ConfigError` as :meth:`of_run` does.
        """
        known, _ = self.of_run(start_utc, duration_s)
        return tuple(
            one.model_copy(update={"end_s": min(one.end_s, duration_s)})
            for one in known.likely(least_probability)
        )

    def probability_at(self, moment_utc: datetime | float) -> float:
        """Return the largest probability of the first outages around a moment; 0 without one."""
        return self.forecast.probability_at(unix_s(moment_utc) - self.start_unix_s)

    def write(self, path: Path) -> None:
        """Write the JSON file, whole or not at all; :class:`DataError` if that fails."""
        facts = self.model_dump(mode="json", exclude_none=True)
        write_text(path, json.dumps(facts, indent=1) + "\n")

    def _check(self, start: float, duration_s: float) -> None:
        if not duration_s > 0:
            raise ConfigError(f"a run of {duration_s:g} s; give a duration above 0")
        before, after = self.start_unix_s - start, start + duration_s - self.end_unix_s
        if max(before, after) > ROUNDING_S:
            raise ConfigError(
                f"a run from {_utc(start)} for {duration_s:g} s is not within the forecast of "
                f"{self.source} ({_utc(self.start_unix_s)} to {_utc(self.end_unix_s)}); "
                "make a longer forecast or move the run"
            )

    def _fresh(self) -> Iterator[tuple[float, Forecast]]:
        """Yield when each forecast arrives, without those that were overtaken on their way."""
        newest_s = self.forecast.issued_at_s or 0.0
        yield 0.0, self.forecast
        for one in sorted(self.updates, key=lambda update: update.arrives_s):
            issued = one.forecast.issued_at_s
            issued_s = one.arrives_s if issued is None else issued
            if issued_s >= newest_s:
                newest_s = issued_s
                yield one.arrives_s, one.forecast


def _of_run(known: Forecast, duration_s: float) -> Forecast:
    """Leave out what begins after the run."""
    outages = tuple(one for one in known.outages if one.start_s < duration_s)
    boundaries = tuple(one for one in known.boundaries if one.at_s < duration_s)
    return known.model_copy(update={"outages": outages, "boundaries": boundaries})


def read_forecast(path: Path) -> ForecastFile:
    """Read a forecast file of this schema or an older one.

    :class:`DataError` says in a sentence what is wrong with it.
    """
    text = as_text(str(path), read_bytes(path))
    facts = parse_json(text, REMEDY)
    if not isinstance(facts, dict) or facts.get("kind") != "skyweave-forecast":
        raise text.bad(1, "this is no forecast", REMEDY)
    if facts.get("schema_version") not in (OLDEST_SCHEMA, SCHEMA):
        known = f"{OLDEST_SCHEMA} or {SCHEMA}, which are known here"
        what = f"schema {facts.get('schema_version')!r} is not {known}"
        raise text.bad(1, what, "write it anew with this version of Skyweave")
    try:
        if facts["schema_version"] == OLDEST_SCHEMA:
            return _First.model_validate(facts).upgraded()
        return ForecastFile.model_validate(facts)
    except ValidationError as error:
        first = error.errors()[0]
        said = first["msg"].removeprefix("Value error, ")
        where = ".".join(str(part) for part in first["loc"]) or "the forecast"
        raise DataError(f"{path}: {where}: {said}; correct it or write it anew") from None


class _FirstWindow(Model):
    """An outage of schema 1, in Unix seconds."""

    start_unix_s: Moment
    end_unix_s: Moment
    probability: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]

    @model_validator(mode="after")
    def _rising(self) -> Self:
        if self.end_unix_s <= self.start_unix_s:
            raise ValueError("end_unix_s must be after start_unix_s")
        return self


class _First(Model):
    """Schema 1: outages and nothing else."""

    kind: Literal["skyweave-forecast"]
    schema_version: Literal[1]
    source: str
    method: str
    start_unix_s: Moment
    end_unix_s: Moment
    windows: Annotated[tuple[_FirstWindow, ...], Field(max_length=MOST_WINDOWS)] = ()

    @model_validator(mode="after")
    def _within(self) -> Self:
        if any(one.start_unix_s < self.start_unix_s for one in self.windows):
            raise ValueError("the windows must begin between start_unix_s and end_unix_s")
        return self

    def upgraded(self) -> ForecastFile:
        """Return the same in the schema of today."""
        zero = self.start_unix_s
        outages: list[dict[str, Any]] = [
            {
                "start_s": one.start_unix_s - zero,
                "end_s": one.end_unix_s - zero,
                "probability": one.probability,
            }
            for one in self.windows
        ]
        rest = self.model_dump(exclude={"schema_version", "windows"})
        return ForecastFile.model_validate(rest | {"forecast": {"outages": outages}})


def slot_forecast(
    estimate: SlotEstimate, start_utc: datetime | float, duration_s: float
) -> ForecastFile:
    """A window and a boundary at every slot edge, as probable as handovers.

    Windows are as long as the disturbance usually is, boundaries as uncertain as the phase.

    Raises :class:`DataError` if no slots were found: their forecast would be made up.
    """
    start, period = unix_s(start_utc), estimate.period_s
    if not SHORTEST_S <= duration_s < float("inf"):
        raise ConfigError(f"a forecast of {duration_s:g} s; give a duration above 0")
    if duration_s / period > MOST_WINDOWS:
        raise ConfigError(f"a forecast of {duration_s:g} s is too long; give a shorter duration")
    if not estimate.found:
        raise DataError(
            f"{estimate.name}: no slots found (p = {estimate.p_value:.2g}), so there is nothing to "
            "forecast; measure longer or more often"
        )
    first = start + (estimate.offset_s - start) % period
    count = int(np.ceil((start + duration_s - first - ROUNDING_S) / period))
    edges = (first - start + period * np.arange(count)).tolist()
    low, high = estimate.offset_low_s, estimate.offset_high_s
    return ForecastFile(
        source=estimate.name,
        method=(
            f"slots of {period:g} s found in measurements: edges at {estimate.offset_s:.2f} s "
            f"(95 %: {low:.2f} to {high:.2f}) modulo the period, p = {estimate.p_value:.2g}; "
            f"handovers at {len(estimate.handovers)} of {len(estimate.edges)} edges; disturbed for "
            f"{estimate.disturbance_s:.2f} s after an edge"
        ),
        start_unix_s=start,
        end_unix_s=start + duration_s,
        forecast=Forecast(
            outages=tuple(
                ForecastWindow(
                    start_s=edge,
                    end_s=edge + estimate.disturbance_s,
                    probability=estimate.handover_share,
                )
                for edge in edges
            ),
            boundaries=tuple(
                ForecastBoundary(
                    at_s=edge,
                    uncertainty_s=max(high - estimate.offset_s, estimate.offset_s - low, 0.0),
                    probability=estimate.handover_share,
                )
                for edge in edges
            ),
        ),
    )


def unix_s(moment: datetime | float) -> float:
    """Unix seconds; a datetime must name its zone, else :class:`ConfigError`."""
    if not isinstance(moment, datetime):
        return float(moment)
    if moment.tzinfo is None:
        raise ConfigError(f"{moment} names no zone; forecasts are in UTC, add +00:00")
    return moment.timestamp()


def _utc(moment: float) -> str:
    try:
        return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    except (OverflowError, ValueError, OSError):
        return f"{moment:g} s"
