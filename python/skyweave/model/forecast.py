"""What is known about the future of a path: the type of ``crates/forecast``, in seconds of a run.

Made from orbits, slots, files and predictors; read by schedulers, players and triggers.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from skyweave.model.base import Model, Ratio, Seconds
from skyweave.model.windows import ForecastWindow, union

_MOST_QUANTILES = 99
_MOST_VALUES = 1_000_000
_MOST_OUTAGES = 1_000_000
_MOST_BOUNDARIES = 1_000_000


class ForecastSeries(Model):
    """Quantiles of a quantity ahead.

    A row of ``values`` holds from its time to the next; its columns belong to ``quantiles``.
    """

    times_s: tuple[Seconds, ...] = Field(min_length=1)
    quantiles: tuple[Ratio, ...] = Field(min_length=1, max_length=_MOST_QUANTILES)
    values: tuple[tuple[float, ...], ...]

    @model_validator(mode="after")
    def _in_shape(self) -> Self:
        rows, columns = len(self.times_s), len(self.quantiles)
        if rows * columns > _MOST_VALUES:
            raise ValueError(f"{rows * columns} values: at most {_MOST_VALUES} are possible")
        for name, numbers in (("times_s", self.times_s), ("quantiles", self.quantiles)):
            if any(after <= before for before, after in pairwise(numbers)):
                raise ValueError(f"{name}: each number must be larger than the one before it")
        if len(self.values) != rows or any(len(row) != columns for row in self.values):
            raise ValueError(
                f"values: give {rows} rows, one for each time, of {columns} numbers, one for each "
                "quantile"
            )
        table = np.array(self.values)
        if not np.all(np.isfinite(table) & (table >= 0)):
            raise ValueError("values: give finite numbers of at least 0")
        if np.any(np.diff(table, axis=1) < 0):
            raise ValueError("values: the values of a row must not fall, for its quantiles rise")
        return self

    def at(self, time_s: float, quantile: float) -> float | None:
        """Return a quantile at a moment; ``None`` before the first time.

        Linear between two quantiles that are given, the nearest one beyond them.
        """
        row = int(np.searchsorted(self.times_s, time_s, side="right")) - 1
        if row < 0:
            return None
        return float(np.interp(quantile, self.quantiles, self.values[row]))

    def moved(self, by_s: float) -> Self:
        """Return the same on a clock that is ``by_s`` further on; the row of then begins at 0."""
        times = np.array(self.times_s) + by_s
        first = max(int(np.searchsorted(times, 0.0, side="right")) - 1, 0)
        times = np.maximum(times[first:], 0.0)
        return self.model_copy(
            update={"times_s": tuple(times.tolist()), "values": self.values[first:]}
        )


class ForecastBoundary(Model):
    """A moment at which a path may change: its rate, its delay, whether it is there at all.

    It comes at ``at_s``, at most ``uncertainty_s`` earlier or later.
    """

    at_s: Seconds
    uncertainty_s: Seconds = 0.0
    kind: Literal["slot", "handover", "outage", "obstruction"] = "slot"
    probability: Ratio = 1.0


class Forecast(Model):
    """What was foreseen of a path at one moment.

    ``issued_at_s``: when it was made; by default when it arrives. Beyond ``valid_until_s`` nothing
    is said. ``outages`` may overlap; ``boundaries`` are for congestion controls. Of two forecasts,
    the one issued later replaces the other.
    """

    issued_at_s: Seconds | None = None
    valid_until_s: Seconds | None = None
    outages: Annotated[tuple[ForecastWindow, ...], Field(max_length=_MOST_OUTAGES)] = ()
    boundaries: Annotated[tuple[ForecastBoundary, ...], Field(max_length=_MOST_BOUNDARIES)] = ()
    down_mbps: ForecastSeries | None = None
    up_mbps: ForecastSeries | None = None
    rtt_ms: ForecastSeries | None = None

    @model_validator(mode="after")
    def _valid(self) -> Self:
        if self.valid_until_s is not None and self.valid_until_s <= (self.issued_at_s or 0.0):
            raise ValueError(
                f"valid_until_s is {self.valid_until_s:g} s: it must be after issued_at_s, "
                f"{self.issued_at_s or 0.0:g} s"
            )
        return self

    def likely(self, least_probability: float) -> tuple[ForecastWindow, ...]:
        """Return the outages of at least this probability, in order and apart."""
        end_s = float("inf") if self.valid_until_s is None else self.valid_until_s
        return union(
            one
            for one in self.outages
            if one.probability >= least_probability and one.start_s < end_s
        )

    def outage(self, now_s: float, least_probability: float = 0.5) -> ForecastWindow | None:
        """Return the outage that is under way or comes next; ``None`` if there is none."""
        return next((one for one in self.likely(least_probability) if now_s < one.end_s), None)

    def probability_at(self, time_s: float) -> float:
        """Return the largest probability of the outages around a moment; 0 without one."""
        around = (one for one in self.outages if one.start_s <= time_s < one.end_s)
        return max((one.probability for one in around), default=0.0)

    def moved(self, by_s: float) -> Self:
        """Return the same on a clock that is ``by_s`` further on.

        What ended before 0 is left out; one that is over by then says nothing.
        """
        if self.valid_until_s is not None and self.valid_until_s + by_s <= 0:
            return type(self)()

        def at(time_s: float | None) -> float | None:
            return None if time_s is None else max(time_s + by_s, 0.0)

        outages = tuple(
            one.model_copy(
                update={"start_s": max(one.start_s + by_s, 0.0), "end_s": one.end_s + by_s}
            )
            for one in self.outages
            if one.end_s + by_s > 0
        )
        boundaries = tuple(
            one.model_copy(update={"at_s": one.at_s + by_s})
            for one in self.boundaries
            if one.at_s + by_s >= 0
        )

        def series(one: ForecastSeries | None) -> ForecastSeries | None:
            return None if one is None else one.moved(by_s)

        return type(self)(
            issued_at_s=at(self.issued_at_s),
            valid_until_s=at(self.valid_until_s),
            outages=outages,
            boundaries=boundaries,
            down_mbps=series(self.down_mbps),
            up_mbps=series(self.up_mbps),
            rtt_ms=series(self.rtt_ms),
        )


class ForecastUpdate(Model):
    """A forecast that arrives during a run and replaces what was known of the path."""

    arrives_s: Seconds
    forecast: Forecast

    @model_validator(mode="after")
    def _made_before(self) -> Self:
        issued_at_s = self.forecast.issued_at_s
        if issued_at_s is not None and issued_at_s > self.arrives_s:
            raise ValueError(
                f"arrives_s is {self.arrives_s:g} s: it must not be before issued_at_s, "
                f"{issued_at_s:g} s"
            )
        return self
