"""How much a series' level changes at each instant, in a scale that no outlier can stretch.

Values become their ranks (0 to 1): the same for a quantity and its logarithm, a spike counts no
more than the largest value, and a lost probe is simply the largest round trip of all. The shift at
an instant is the mean rank of the :data:`WINDOW_S` after it less that of the window before. Means
of ranks, not medians of values: a median does not move until half of its window has passed the
edge, so its shift is as large a second beside the edge as at it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skyweave.forecast.measurement import Measurement
from skyweave.model.drive import Values

WINDOW_S = 2.0
"""Seconds on either side; the sharpest window that still averages the jitter of 1 s series."""
WINDOWS_PER_PERIOD = 4
"""A window is at most this part of a period, so that those of two edges never meet."""
LEAST_SHARE = 0.25
"""A window with fewer of its expected samples than this says nothing: no shifts across gaps."""


@dataclass(frozen=True)
class Shifts:
    """Signed shifts in mean rank (-1 to 1) at increasing instants, both of shape (n,)."""

    instants_unix_s: Values
    shifts: Values
    spacing_s: float
    window_s: float

    @property
    def sizes(self) -> Values:
        """The shifts without their sign."""
        return np.abs(self.shifts)


def window_s(series: Measurement, shortest_period_s: float) -> float:
    """The window that suits a series and the shortest period that is looked for."""
    widest = max(shortest_period_s / WINDOWS_PER_PERIOD, series.spacing_s)
    return min(max(WINDOW_S, 2 * series.spacing_s), widest)


def level_shifts(series: Measurement, window: float) -> Shifts:
    """The shift between each two neighbouring samples with enough others around.

    A round trip belongs to its moment, so the instant is midway between two; a rate belongs to the
    interval that begins with it, so the instant is that beginning.
    """
    times, ranks = series.times_unix_s, mean_ranks(series.values)
    instants = (times[1:] + times[:-1]) / 2 if series.kind == "rtt" else times[1:]
    place = np.arange(1, len(times))
    slack = 1e-3 * series.spacing_s  # samples that stand exactly on the window's end belong to it
    before = place - np.searchsorted(times, instants - window - slack)
    after = np.searchsorted(times, instants + window - slack) - place
    total = np.concatenate([[0.0], np.cumsum(ranks)])
    expected = window / series.spacing_s
    least = max(min(2.0, np.floor(expected + 1e-6)), LEAST_SHARE * expected)
    good = (before >= least) & (after >= least)
    place, before, after = place[good], before[good], after[good]
    rise = (total[place + after] - total[place]) / after
    fall = (total[place] - total[place - before]) / before
    return Shifts(instants[good], rise - fall, series.spacing_s, window)


def mean_ranks(values: Values) -> Values:
    """The rank of each value among all, 0 to 1; equal values share their mean rank.

    >>> mean_ranks(np.array([5.0, np.inf, 5.0, 1.0])).tolist()
    [0.5, 0.875, 0.5, 0.125]
    """
    _, where, counts = np.unique(values, return_inverse=True, return_counts=True)
    middles = np.cumsum(counts) - counts / 2
    ranks: Values = middles[where] / len(values)
    return ranks
