"""A forecast: windows of UTC in which a path is expected to be disturbed, each with a probability.

What schedulers, adaptive video and triggers know ahead, wherever it comes from. In a file it is
JSON; moments are Unix seconds (UTC), so that no zone and no calendar stands between programs.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Literal, Self

import numpy as np
from pydantic import Field, ValidationError, model_validator

from skyweave.data.importers.base import as_text, read_bytes
from skyweave.data.writers import write_text
from skyweave.errors import ConfigError, DataError
from skyweave.forecast.slots import SlotEstimate
from skyweave.model.config import ForecastWindow, Model

SCHEMA: Literal[1] = 1
MOST_WINDOWS = 1_000_000
REMEDY = "write one with 'skyweave forecast slots --out'"
ROUNDING_S = 1e-6
"""Unix seconds as floats are good to less than this; moments this close are the same."""

Moment = Annotated[float, Field(allow_inf_nan=False)]


class Window(Model):
    """[start, end) in Unix seconds, and the probability (0 to 1) of a disturbance in it."""

    start_unix_s: Moment
    end_unix_s: Moment
    probability: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]

    @model_validator(mode="after")
    def _rising(self) -> Self:
        if self.end_unix_s <= self.start_unix_s:
            raise ValueError("end_unix_s must be after start_unix_s")
        return self


class Forecast(Model):
    """What is foreseen for a path between two moments; outside of them nothing is said.

    ``source`` says what it was made from, ``method`` how. ``windows`` begin in order and lie
    within the forecast, but for the end of the last.
    """

    kind: Literal["skyweave-forecast"] = "skyweave-forecast"
    schema_version: Literal[1] = SCHEMA
    source: str
    method: str
    start_unix_s: Moment
    end_unix_s: Moment
    windows: tuple[Window, ...] = ()

    @model_validator(mode="after")
    def _within(self) -> Self:
        starts = [window.start_unix_s for window in self.windows]
        if self.end_unix_s <= self.start_unix_s:
            raise ValueError("end_unix_s must be after start_unix_s")
        if starts != sorted(starts):
            raise ValueError("the windows must be in order of their start")
        if starts and not self.start_unix_s <= starts[0] <= starts[-1] < self.end_unix_s:
            raise ValueError("the windows must begin between start_unix_s and end_unix_s")
        return self

    def outages(
        self, start_utc: datetime | float, duration_s: float, least_probability: float = 0.0
    ) -> tuple[ForecastWindow, ...]:
        """The windows in seconds of a run that begins at ``start_utc``: a study path's forecast.

        Cut to the run, joined where they meet, without those below ``least_probability``. Raises
        :class:`ConfigError` if the run is not within the forecast: silence there is ignorance.
        """
        start = unix_s(start_utc)
        if not duration_s > 0:
            raise ConfigError(f"a run of {duration_s:g} s; give a duration above 0")
        before, after = self.start_unix_s - start, start + duration_s - self.end_unix_s
        if max(before, after) > ROUNDING_S:
            raise ConfigError(
                f"a run from {_utc(start)} for {duration_s:g} s is not within the forecast of "
                f"{self.source} ({_utc(self.start_unix_s)} to {_utc(self.end_unix_s)}); "
                "make a longer forecast or move the run"
            )
        spans: list[tuple[float, float]] = []
        for window in self.windows:
            begin = max(window.start_unix_s - start, 0.0)
            end = min(window.end_unix_s - start, duration_s)
            if window.probability < least_probability or begin >= end:
                continue
            if spans and begin <= spans[-1][1]:
                begin, end = spans[-1][0], max(end, spans.pop()[1])
            spans.append((begin, end))
        return tuple(ForecastWindow(start_s=a, end_s=b) for a, b in spans)

    def probability_at(self, moment_utc: datetime | float) -> float:
        """The largest probability of the windows around a moment; 0 where there is none."""
        moment = unix_s(moment_utc)
        around = (w for w in self.windows if w.start_unix_s <= moment < w.end_unix_s)
        return max((window.probability for window in around), default=0.0)

    def write(self, path: Path) -> None:
        """Write the JSON file, whole or not at all; :class:`DataError` if that fails."""
        write_text(path, json.dumps(self.model_dump(mode="json"), indent=1) + "\n")


def read_forecast(path: Path) -> Forecast:
    """Read a forecast file; :class:`DataError` says in a sentence what is wrong with it."""
    text = as_text(str(path), read_bytes(path))
    try:
        facts = json.loads(text.body)
    except ValueError as error:
        line = getattr(error, "lineno", 1)
        raise text.bad(line, "this is not JSON", REMEDY) from None
    if not isinstance(facts, dict) or facts.get("kind") != "skyweave-forecast":
        raise text.bad(1, "this is no forecast", REMEDY)
    if facts.get("schema_version") != SCHEMA:
        what = f"schema {facts.get('schema_version')!r} is not {SCHEMA}, which is known here"
        raise text.bad(1, what, "write it anew with this version of Skyweave")
    try:
        return Forecast.model_validate(facts)
    except ValidationError as error:
        first = error.errors()[0]
        said = first["msg"].removeprefix("Value error, ")
        where = ".".join(str(part) for part in first["loc"]) or "the forecast"
        raise DataError(f"{path}: {where}: {said}; correct it or write it anew") from None


def slot_forecast(
    estimate: SlotEstimate, start_utc: datetime | float, duration_s: float
) -> Forecast:
    """A window at every slot edge: as long as its disturbance usually is, as probable as handovers.

    Raises :class:`DataError` if no slots were found: their forecast would be made up.
    """
    start, period = unix_s(start_utc), estimate.period_s
    if not 0 < duration_s < float("inf"):
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
    edges = (first + period * np.arange(count)).tolist()
    low, high = estimate.offset_low_s, estimate.offset_high_s
    return Forecast(
        source=estimate.name,
        method=(
            f"slots of {period:g} s found in measurements: edges at {estimate.offset_s:.2f} s "
            f"(95 %: {low:.2f} to {high:.2f}) modulo the period, p = {estimate.p_value:.2g}; "
            f"handovers at {len(estimate.handovers)} of {len(estimate.edges)} edges; disturbed for "
            f"{estimate.disturbance_s:.2f} s after an edge"
        ),
        start_unix_s=start,
        end_unix_s=start + duration_s,
        windows=tuple(
            Window(
                start_unix_s=edge,
                end_unix_s=edge + estimate.disturbance_s,
                probability=estimate.handover_share,
            )
            for edge in edges
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
