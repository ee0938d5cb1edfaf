"""Folding shifts modulo a period: the profile, its null and what resampling says of its peak.

Everything is computed from one matrix: a row per cycle (or per few of them), a column per phase.
Rows are the blocks of both resamplings, for neighbouring shifts are not independent: their windows
overlap and networks have memory. That memory is taken to be shorter than a cycle.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from skyweave.forecast.shifts import Shifts
from skyweave.model.drive import Values

FINEST_S = 0.1
"""Narrowest column; a level cannot be placed better than a few samples anyway."""
MOST_ROWS = 500
"""More cycles than this are added up to this many rows; resampling then costs the same for days."""
REPEATS = 999
NULL_SEED, BOOTSTRAP_SEED = 15, 12
"""Seeds of both resamplings: the same series gives the same answer everywhere."""

Progress = Callable[[range], Iterable[int]]
"""Wraps the steps of a long computation in a progress bar."""


def silent(steps: range) -> Iterable[int]:
    """No progress bar."""
    return steps


@dataclass(frozen=True)
class Cycles:
    """Sums and counts of shift sizes; both of shape (rows, columns).

    Column ``k`` is about the phase ``origin_unix_s + k * width_s`` modulo the period.
    """

    sums: Values
    counts: Values
    origin_unix_s: float
    period_s: float

    @property
    def columns(self) -> int:
        """Number of phases."""
        return int(self.sums.shape[1])

    @property
    def width_s(self) -> float:
        """Seconds from one phase to the next."""
        return self.period_s / self.columns

    def profile(self) -> Values:
        """Mean shift by phase, shape (columns,); NaN where there was none."""
        counts = self.counts.sum(axis=0)
        return np.where(counts > 0, self.sums.sum(axis=0) / np.maximum(counts, 1), np.nan)

    def peak(self) -> int:
        """The column that stands out most."""
        return int(np.argmax(excess(self.sums.sum(axis=0), self.counts.sum(axis=0))))


def fold(shifts: Shifts, period_s: float) -> Cycles:
    """The shifts as a matrix of cycles; phases count from the first instant, so that moving all
    times moves the phase and nothing else."""
    columns = max(4, round(period_s / max(shifts.spacing_s, FINEST_S)))
    width = period_s / columns
    origin = float(shifts.instants_unix_s[0])
    cell = np.round((shifts.instants_unix_s - origin) / width).astype(np.int64)
    cycle, column = np.divmod(cell, columns)
    _, row = np.unique(cycle, return_inverse=True)
    row = row // -(-(int(row[-1]) + 1) // MOST_ROWS)
    rows = int(row[-1]) + 1
    place = row * columns + column
    sums: Values = np.bincount(place, shifts.sizes, rows * columns).astype(np.float64)
    counts: Values = np.bincount(place, minlength=rows * columns).astype(np.float64)
    shape = (rows, columns)
    return Cycles(sums.reshape(shape), counts.reshape(shape), origin, period_s)


def excess(sums: Values, counts: Values) -> Values:
    """By how many (common) standard errors each phase's mean lies above the mean of all.

    Works on the last axis. The standard deviation of a single shift is left out, it is the same
    for all phases and for the null.
    """
    overall = sums.sum(axis=-1, keepdims=True) / counts.sum(axis=-1, keepdims=True)
    means = sums / np.maximum(counts, 1)
    found: Values = np.where(counts > 0, (means - overall) * np.sqrt(counts), -np.inf)
    return found


def chance(cycles: Cycles, progress: Progress = silent) -> float:
    """The p-value of the peak: how often cycles with no common phase show one as high.

    Each repeat turns every row by a random phase of its own. That keeps what happens within a
    cycle and takes away what cycles have in common, which is the hypothesis of no slots.
    """
    generator = np.random.default_rng(NULL_SEED)
    rows, columns = cycles.sums.shape
    found = float(excess(cycles.sums.sum(axis=0), cycles.counts.sum(axis=0)).max())
    twice = [np.tile(part, 2).ravel() for part in (cycles.sums, cycles.counts)]
    starts = 2 * columns * np.arange(rows)
    as_high = 0
    for _ in progress(range(REPEATS)):
        turned = (starts + generator.integers(0, columns, rows))[:, None] + np.arange(columns)
        sums, counts = (part[turned].sum(axis=0) for part in twice)
        as_high += bool(excess(sums, counts).max() >= found)
    return (1 + as_high) / (1 + REPEATS)


def peak_interval(cycles: Cycles, level: float = 0.95) -> tuple[float, float]:
    """How far below and above the peak's phase (s, both from 0) the true one may lie.

    Bootstrap over rows, widened by half a column: nothing finer than the samples is known.
    """
    generator = np.random.default_rng(BOOTSTRAP_SEED)
    rows, columns = cycles.sums.shape
    weights = generator.multinomial(rows, np.full(rows, 1 / rows), REPEATS).astype(np.float64)
    peaks = np.argmax(excess(weights @ cycles.sums, weights @ cycles.counts), axis=-1)
    away = around(peaks - cycles.peak(), columns) * cycles.width_s
    low, high = np.quantile(away, [(1 - level) / 2, (1 + level) / 2]).tolist()
    return max(0.0, -low) + cycles.width_s / 2, max(0.0, high) + cycles.width_s / 2


def around(distance: npt.ArrayLike, period: float) -> Values:
    """Distances on a circle, brought to [-period/2, period/2).

    >>> around([14, 1, -9], 15).tolist()
    [-1.0, 1.0, 6.0]
    """
    found: Values = (np.asarray(distance, dtype=np.float64) + period / 2) % period - period / 2
    return found
