"""Slots from a measurement: is there a period, where in it are the edges, which were handovers?

>>> from skyweave.forecast import estimate_slots, measurement
>>> times = 1_700_000_000 + np.arange(3000) / 5
>>> satellite = np.floor((times - 12) / 15) % 7  # a level of its own in each slot
>>> found = estimate_slots(measurement("made up", "rtt", times, 40 + 5 * satellite))
>>> found.found, found.period_s, round(found.offset_s, 1), len(found.handovers)
(True, 15.0, 11.9, 40)

The edge is found midway between the last probe before it and the first one after it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skyweave.errors import ConfigError, DataError
from skyweave.forecast.edges import Edge, disturbance_s, rate_edges
from skyweave.forecast.folding import Cycles, Progress, around, chance, fold, peak_interval, silent
from skyweave.forecast.measurement import Measurement
from skyweave.forecast.period import find_period
from skyweave.forecast.shifts import WINDOWS_PER_PERIOD, Shifts, level_shifts, window_s
from skyweave.model.drive import Values

STARLINK_PERIOD_S = 15.0
"""Starlink reassigns satellites at seconds 12, 27, 42 and 57 of each minute."""
SIGNIFICANT = 0.01
"""Largest p-value that counts as slots: one series in a hundred without any is called wrongly."""
LEAST_CYCLES = 6
"""Fewer edges say next to nothing: the chance of so high a peak is never small."""
HALF_BLOCK_S = 300.0
"""Length of the stretches that in turn search for a period and test it."""


@dataclass(frozen=True)
class Profile:
    """Mean shift in rank by phase: ``offsets_s`` modulo the period, rising; same shapes."""

    offsets_s: Values
    shifts: Values


@dataclass(frozen=True)
class SlotEstimate:
    """What a measurement says about slots.

    Edges lie at ``offset_s`` modulo ``period_s`` in seconds of UTC (Unix time), with a 95 %
    interval around it that may reach beyond 0 or the period. ``contrast`` is the mean shift at the
    edges over that elsewhere. ``p_value`` is the chance of so high a peak without common slots; if
    the period was searched, it comes from stretches that took no part in the search. ``edges`` are
    all slot edges with samples on both sides; ``disturbance_s`` is how long samples after an edge
    differ from the rest of their slot.
    """

    name: str
    period_s: float
    searched: bool
    offset_s: float
    offset_low_s: float
    offset_high_s: float
    p_value: float
    contrast: float
    disturbance_s: float
    edges: tuple[Edge, ...]
    profile: Profile

    @property
    def found(self) -> bool:
        """Whether there are slots at all; without them the rest means nothing."""
        return self.p_value <= SIGNIFICANT

    @property
    def handovers(self) -> tuple[Edge, ...]:
        """The edges at which the series shifted more than it does elsewhere; none without slots."""
        return tuple(edge for edge in self.edges if edge.handover) if self.found else ()

    @property
    def handover_share(self) -> float:
        """Share of the edges that were handovers (0 to 1)."""
        return len(self.handovers) / len(self.edges) if self.edges else 0.0


def estimate_slots(
    series: Measurement,
    period_s: float | tuple[float, float] = STARLINK_PERIOD_S,
    progress: Progress = silent,
) -> SlotEstimate:
    """Phase, significance and handovers for a known period, or one searched in (low, high).

    Raises :class:`ConfigError` for a period that makes no sense, :class:`DataError` for a series
    that is too short or too sparse for it.
    """
    low, high = (period_s, period_s) if isinstance(period_s, int | float) else period_s
    _check_period(series, low, high)
    shifts = level_shifts(series, window_s(series, low))
    if len(shifts.sizes) * series.spacing_s < LEAST_CYCLES * high:
        covered = len(shifts.sizes) * series.spacing_s
        raise DataError(
            f"{series.name}: {covered:.0f} s without gaps are too few for a period of {high:g} s; "
            f"measure {LEAST_CYCLES * high:.0f} s or more"
        )
    if low == high:
        period, p_value = low, chance(fold(shifts, low), progress)
    else:
        first, second = _halves(shifts, 10 * high)
        period = find_period(first, low, high, progress)
        p_value = chance(fold(second, period), progress)
    return _described(series, shifts, fold(shifts, period), p_value, low != high)


def _described(
    series: Measurement, shifts: Shifts, cycles: Cycles, p_value: float, searched: bool
) -> SlotEstimate:
    period = cycles.period_s
    peak, profile = cycles.peak(), cycles.profile()
    edge_unix_s = cycles.origin_unix_s + peak * cycles.width_s
    below, above = peak_interval(cycles)
    offset = edge_unix_s % period
    phases = cycles.width_s * np.arange(cycles.columns, dtype=np.float64)
    offsets = (cycles.origin_unix_s + phases) % period
    order = np.argsort(offsets)
    away = np.abs(around(offsets - offset, period)) > shifts.window_s
    elsewhere = float(np.nanmean(profile[away]))
    return SlotEstimate(
        name=series.name,
        period_s=period,
        searched=searched,
        offset_s=offset,
        offset_low_s=offset - below,
        offset_high_s=offset + above,
        p_value=p_value,
        contrast=float(profile[peak] / elsewhere) if elsewhere > 0 else float("inf"),
        disturbance_s=disturbance_s(series, period, offset),
        edges=rate_edges(series, shifts, period, offset),
        profile=Profile(offsets[order], profile[order]),
    )


def _check_period(series: Measurement, low: float, high: float) -> None:
    if not 0 < low <= high < float("inf"):
        raise ConfigError(f"period {low:g} to {high:g} s: give a number above 0, or LOW:HIGH")
    least = WINDOWS_PER_PERIOD * series.spacing_s
    if low < least:
        raise ConfigError(
            f"{series.name}: samples every {series.spacing_s:.3g} s cannot show a period of "
            f"{low:g} s; look for {least:.3g} s or more, or measure more often"
        )


def _halves(shifts: Shifts, block_s: float) -> tuple[Shifts, Shifts]:
    """The shifts of every other stretch, and those of the rest."""
    instants = shifts.instants_unix_s
    span = float(instants[-1] - instants[0])
    block = min(max(HALF_BLOCK_S, block_s), span / 4)
    odd = np.floor((instants - instants[0]) / block) % 2 == 1
    first, second = (
        Shifts(instants[part], shifts.shifts[part], shifts.spacing_s, shifts.window_s)
        for part in (~odd, odd)
    )
    return first, second
