"""Numbers about traces that importers, studies and the synthesis share.

All functions take plain arrays in Mbit/s (or ms) and leave NaN (not logged) out. Those that look at
neighbours in time take a list of contiguous pieces, so that no lag ever spans two drives.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from skyweave.model import limits
from skyweave.model.drive import Series, Values

SLOT_S = 15
"""Starlink reassigns satellites every 15 s, at seconds 12, 27, 42 and 57 of each minute."""
SLOT_PHASE_S = 12
STANDARD_PERCENTS = (1, 5, 25, 50, 75, 95, 99)


def outage_share(values: Values, below_mbps: float | None = None) -> float:
    """Share (0 to 1) of samples that are exactly 0, or ``< below_mbps`` if given; NaN if empty."""
    logged = values[~np.isnan(values)]
    if not len(logged):
        return float("nan")
    return float(np.mean(logged == 0 if below_mbps is None else logged < below_mbps))


@dataclass(frozen=True)
class ConcurrentOutage:
    """Table 1 of AK-HI for one pair: shares (0 to 1) of ``samples``."""

    samples: int
    a_zero: float
    b_zero: float
    both_zero: float
    both_below_1: float
    both_below_5: float


def concurrent_outage(a_mbps: Values, b_mbps: Values) -> ConcurrentOutage:
    """How often two paths are out at the same time.

    As defined by ``tab1_concurrent_outage/main.py`` of AK-HI's release: ``A == 0``,
    ``B == 0``, both ``== 0``, both ``< 1`` and both ``< 5`` Mbit/s, each over the samples in which
    both were logged. ``a_mbps`` and ``b_mbps`` have the same shape (n,) and the same times.
    """
    both = ~(np.isnan(a_mbps) | np.isnan(b_mbps))
    a, b = a_mbps[both], b_mbps[both]
    if not len(a):
        return ConcurrentOutage(0, *[float("nan")] * 5)
    shares = (a == 0, b == 0, (a == 0) & (b == 0), (a < 1) & (b < 1), (a < 5) & (b < 5))
    return ConcurrentOutage(len(a), *(float(np.mean(share)) for share in shares))


def quantiles(values: Values, percents: Sequence[float] = STANDARD_PERCENTS) -> Values:
    """The percentiles of the logged values (linear interpolation); NaN if there are none."""
    logged = values[~np.isnan(values)]
    if not len(logged):
        return np.full(len(percents), np.nan)
    return np.percentile(logged, percents)


def correlation(a: Values, b: Values) -> float:
    """Pearson correlation over the samples in which both were logged; NaN if one is constant."""
    both = ~(np.isnan(a) | np.isnan(b))
    if both.sum() < 2 or np.ptp(a[both]) == 0 or np.ptp(b[both]) == 0:
        return float("nan")
    return float(np.corrcoef(a[both], b[both])[0, 1])


def autocorrelation(pieces: Sequence[Values], lags: Sequence[int]) -> Values:
    """Autocorrelation at lags in samples, pooled over contiguous pieces, about the common mean."""
    joined = np.concatenate(list(pieces))
    mean, variance = np.nanmean(joined), np.nanvar(joined)
    result = np.full(len(lags), np.nan)
    for index, lag in enumerate(lags):
        products = [(p[lag:] - mean) * (p[: len(p) - lag] - mean) for p in pieces if len(p) > lag]
        known = np.concatenate(products) if products else np.empty(0)
        known = known[~np.isnan(known)]
        if len(known) and variance > 0:
            result[index] = float(known.mean() / variance)
    return result


def on_grid(series: Series, step_s: float, count: int) -> Values:
    """The value that holds at 0, step, 2·step, …: shape (count,), NaN after the series' end."""
    limits.checked(count, f"samples {step_s:g} s apart")
    times_s = np.arange(count) * step_s
    index = np.searchsorted(series.times_s, times_s + 1e-9, side="right") - 1
    held = series.values[np.clip(index, 0, None)]
    return np.where(times_s < series.duration_s - 1e-9, held, np.nan)


@dataclass(frozen=True)
class SlotProfile:
    """Mean absolute change from the second before, by second of the 15 s cycle.

    ``change_by_second[k]`` is the mean over all seconds whose clock reads k modulo 15. ``phase_s``
    is the second of the largest change; ``ratio`` is that change over the mean of the others;
    ``ratio_near`` takes the second and its two neighbours together (clocks that are 1 s off smear
    the jump); ``score`` is how many standard errors the largest stands above the others.
    """

    change_by_second: Values
    phase_s: int
    ratio: float
    ratio_near: float
    score: float

    @property
    def found(self) -> bool:
        """Whether a 15 s rhythm stands out: at least 20 % and 4 standard errors above the rest.

        Four, because the largest of 15 is looked at: by chance 1 in 2,000 for independent changes.
        """
        return self.ratio >= 1.2 and self.score >= 4


def slot_profile(
    pieces: Sequence[tuple[Series, datetime]], phase_s: int | None = None
) -> SlotProfile | None:
    """The 15 s profile of series with absolute start times; None if fewer than 150 changes.

    ``phase_s`` fixes the second whose ratio is computed instead of the largest.
    """
    changes, seconds = changes_by_second(pieces)
    if len(changes) < 10 * SLOT_S or len(np.unique(seconds)) < SLOT_S:
        return None
    counts = np.bincount(seconds, minlength=SLOT_S)
    means = np.bincount(seconds, changes, SLOT_S) / counts
    phase = int(np.argmax(means)) if phase_s is None else phase_s
    at = seconds == phase
    rest = float(changes[~at].mean())
    if rest == 0:
        return None
    distance = (seconds - phase + SLOT_S // 2) % SLOT_S - SLOT_S // 2
    near = np.abs(distance) <= 1
    error = np.sqrt(changes[at].var() / at.sum() + changes[~at].var() / (~at).sum())
    return SlotProfile(
        change_by_second=means,
        phase_s=phase,
        ratio=float(means[phase] / rest),
        ratio_near=float(changes[near].mean() / changes[~near].mean()),
        score=float((means[phase] - rest) / error) if error > 0 else 0.0,
    )


def changes_by_second(
    pieces: Sequence[tuple[Series, datetime]],
) -> tuple[Values, np.typing.NDArray[np.int64]]:
    """Absolute changes and the clock second (modulo 15) at which each happened; both shape (n,).

    Series not sampled about once a second (0.4 to 1.5 s) are passed over.
    """
    changes, seconds = [np.empty(0)], [np.empty(0, np.int64)]
    for series, start in pieces:
        if not 0.4 <= series.spacing_s <= 1.5 or len(series.values) < 2:
            continue
        clock = start.second + start.microsecond / 1e6 + series.times_s[1:]
        steps = np.abs(np.diff(series.values))
        good = ~np.isnan(steps) & (np.diff(series.times_s) <= 1.5)
        changes.append(steps[good])
        seconds.append((np.floor(clock[good] + 1e-6) % SLOT_S).astype(np.int64))
    return np.concatenate(changes), np.concatenate(seconds)


def run_lengths(flags: np.typing.NDArray[np.bool_]) -> np.typing.NDArray[np.int64]:
    """Lengths in samples of the stretches in which ``flags`` holds."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], flags.astype(np.int8), [0]])))
    return edges[1::2] - edges[::2]
