"""When a synthetic path is out: an on/off process, thicker where the road is badly covered."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from skyweave.model.drive import Values
from skyweave.synthesis.preset import Outage

_LEVELS = np.array([NormalDist().inv_cdf((k + 0.5) / 400) for k in range(400)])
"""Coverage at 400 equally likely places."""


def outages(
    rng: np.random.Generator, outage: Outage, count: int, cover: Values | None = None
) -> npt.NDArray[np.bool_]:
    """Which of ``count`` seconds are out: lengths from the table, exponential gaps in between.

    ``cover`` is the path's coverage latent by second, shape (count,). With it, gaps run on a clock
    that is exp(-slope·cover) times as fast; what lies before the drive has its first coverage.
    """
    if not outage.share:
        return np.zeros(count, dtype=bool)
    slope = outage.coverage_slope if cover is not None else 0.0
    mean_s = float(np.mean(outage.durations_s))
    gap_s = mean_gap_s(outage, slope)
    out = np.zeros(count, dtype=bool)
    clock = -20 * (mean_s + gap_s)  # long before the drive, so that it begins anywhere in a gap
    road = _Clock(np.exp(-slope * cover), clock) if cover is not None and slope else None
    while clock < count:
        gap = rng.exponential(gap_s)
        clock = road.after(clock, gap) if road else clock + gap
        length = float(rng.choice(outage.durations_s))
        first, last = math.floor(clock + 0.5), math.floor(clock + length + 0.5)
        out[max(first, 0) : max(last, 0)] = True
        clock += length
    return out


def mean_gap_s(outage: Outage, slope: float) -> float:
    """The mean gap at coverage 0 that makes outages take their share over all coverage."""
    mean_s = float(np.mean(outage.durations_s))
    flat_s = mean_s * (1 - outage.share) / outage.share
    if not slope:
        return flat_s
    pace = np.exp(-slope * _LEVELS)
    low, high = flat_s * 1e-3, flat_s * 1e3
    for _ in range(80):
        middle = math.sqrt(low * high)
        share = float(np.mean(mean_s * pace / (mean_s * pace + middle)))
        low, high = (middle, high) if share > outage.share else (low, middle)
    return high


class _Clock:
    """Time that runs ``pace[k]`` times as fast during second k, as in second 0 before the drive."""

    def __init__(self, pace: Values, start: float) -> None:
        self.times = np.concatenate([[start], np.arange(len(pace) + 1)])
        self.shown = np.concatenate([[start * pace[0], 0.0], np.cumsum(pace)])

    def after(self, clock: float, gap: float) -> float:
        """When ``gap`` has passed on this clock, or some time after the drive."""
        shown = float(np.interp(clock, self.times, self.shown)) + gap
        if shown >= self.shown[-1]:
            return float(len(self.times))
        return float(np.interp(shown, self.shown, self.times))
