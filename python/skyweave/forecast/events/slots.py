"""A measured series slot by slot: its level, how it moved within, whether it fell silent."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from skyweave.errors import DataError
from skyweave.forecast.measurement import Measurement
from skyweave.model import limits
from skyweave.model.drive import Values

SETTLED_S = 2.0
"""The first seconds of a slot belong to the handover and not to its level."""
SILENT_MBPS = 0.1
"""A second with a lower rate is an outage."""
LEAST_SLOTS = 100
"""With fewer nothing can be learned."""


@dataclass(frozen=True)
class SlotRows:
    """One row a slot, in order, those without samples too.

    ``levels`` are medians of the settled part in the unit of the series, ``drifts`` the median of
    its second half ÷ that of its first as a logarithm, both NaN where nothing was measured;
    ``outages`` says whether a whole second was lost, or carried nothing.
    """

    begin_unix_s: Values
    levels: Values
    drifts: Values
    outages: npt.NDArray[np.bool_]
    measured: npt.NDArray[np.bool_]
    """Whether there are samples on at least half of its seconds."""

    def __len__(self) -> int:
        return len(self.levels)


def in_slots(series: Measurement, period_s: float, edge_s: float) -> SlotRows:
    """Return a series slot by slot; slots begin at ``edge_s`` modulo ``period_s``.

    Raises :class:`DataError` if fewer than :data:`LEAST_SLOTS` were measured, and if it spans more
    slots than :mod:`~skyweave.model.limits` allows.
    """
    numbers = np.floor((series.times_unix_s - edge_s) / period_s).astype(np.int64)
    first = int(numbers[0])
    count = int(numbers[-1]) - first + 1
    limits.checked(count, f"{series.name}: its slots")
    begins: Values = edge_s + period_s * np.arange(first, first + count, dtype=np.float64)
    levels, drifts = np.full(count, np.nan), np.full(count, np.nan)
    outages, measured = np.zeros(count, np.bool_), np.zeros(count, np.bool_)
    present, place = np.unique(numbers, return_index=True)
    ends = np.append(place[1:], len(numbers))
    for number, begin, end in zip(present.tolist(), place.tolist(), ends.tolist(), strict=True):
        row = number - first
        since = series.times_unix_s[begin:end] - begins[row]
        values = series.values[begin:end]
        levels[row], drifts[row] = _level(since, values, period_s)
        outages[row], measured[row] = _silence(series.kind == "rtt", since, values, period_s)
    if measured.sum() < LEAST_SLOTS:
        raise DataError(
            f"{series.name}: {measured.sum()} slots of {period_s:g} s with samples on half of "
            f"their seconds; give at least {LEAST_SLOTS}"
        )
    return SlotRows(begins, levels, drifts, outages, measured)


def _level(since: Values, values: Values, period_s: float) -> tuple[float, float]:
    settled = (since >= SETTLED_S) & np.isfinite(values)
    if not settled.any():
        return np.nan, np.nan
    middle = (SETTLED_S + period_s) / 2
    halves = [values[settled & part] for part in (since < middle, since >= middle)]
    level = float(np.median(values[settled]))
    if not len(halves[0]) or not len(halves[1]):
        return level, np.nan
    before, after = float(np.median(halves[0])), float(np.median(halves[1]))
    return level, float(np.log(after / before)) if before > 0 and after > 0 else np.nan


def _silence(is_rtt: bool, since: Values, values: Values, period_s: float) -> tuple[bool, bool]:
    """Whether a second was silent, and whether half of the seconds were measured."""
    seconds = np.floor(since).astype(np.int64)
    works = np.isfinite(values) if is_rtt else values >= SILENT_MBPS
    there = np.unique(seconds)
    working = np.unique(seconds[works])
    return len(working) < len(there), 2 * len(there) >= period_s
