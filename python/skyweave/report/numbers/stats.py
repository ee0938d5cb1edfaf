"""Statistics of pooled samples with bootstrap intervals over drives.

Seconds of one drive are not independent of each other, drives are: so whole drives are drawn with
replacement. All cells of a panel share the same draws (paired), so that differences and ratios of
cells get honest intervals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from skyweave.report.numbers.metrics import Values

SEED = 20_260_101
"""Seed of the draws; fixed, so that a report of the same records is the same report."""
_BLOCK = 4_000_000


@dataclass(frozen=True)
class Estimate:
    """A statistic with its value in each bootstrap draw (empty with fewer than two drives)."""

    value: float
    draws: Values

    @property
    def low(self) -> float:
        """Lower end of the 95 % interval; NaN where there is none."""
        return _quantile(self.draws, 0.025) if len(self.draws) else float("nan")

    @property
    def high(self) -> float:
        """Upper end of the 95 % interval; NaN where there is none."""
        return _quantile(self.draws, 0.975) if len(self.draws) else float("nan")

    def __sub__(self, other: Estimate) -> Estimate:
        return Estimate(self.value - other.value, self.draws - other.draws)

    def over(self, other: Estimate) -> Estimate:
        """Return the ratio to ``other``; infinite where that is 0."""
        with np.errstate(divide="ignore", invalid="ignore"):
            value = float(np.divide(self.value, other.value))
            draws = np.divide(self.draws, other.draws)
        return Estimate(value, draws[~np.isnan(draws)])


class Draws:
    """How often each drive was drawn: ``counts`` has a row for each draw."""

    def __init__(self, drives: int, draws: int) -> None:
        rng = np.random.default_rng(SEED)
        picks = rng.integers(0, drives, size=(draws if drives > 1 else 0, drives))
        self.counts: npt.NDArray[np.int32] = np.stack(
            [np.sum(picks == drive, axis=1, dtype=np.int32) for drive in range(drives)], axis=1
        )

    def estimate(self, samples: Sequence[Values], statistic: str) -> Estimate:
        """Return a statistic of the pooled samples; ``samples`` has one array for each drive."""
        pooled = np.concatenate(list(samples))
        if not len(pooled):
            return Estimate(float("nan"), np.empty(0))
        if statistic in ("mean", "zero_share"):
            values = [s if statistic == "mean" else (s == 0).astype(float) for s in samples]
            return self._mean(values)
        if statistic.startswith("over_"):
            limit = float(statistic.removeprefix("over_"))
            return self._mean([(s > limit).astype(float) for s in samples])
        if statistic in ("min", "max"):
            return self._extreme(samples, statistic)
        share = 0.5 if statistic == "median" else int(statistic.removeprefix("p")) / 100
        return Estimate(_quantile(pooled, share), self._quantiles(samples, share))

    def _mean(self, samples: Sequence[Values]) -> Estimate:
        sums = np.array([s.sum() for s in samples])
        sizes = np.array([len(s) for s in samples])
        with np.errstate(invalid="ignore"):
            draws = (self.counts @ sums) / (self.counts @ sizes)
        return Estimate(float(sums.sum() / sizes.sum()), draws[~np.isnan(draws)])

    def _extreme(self, samples: Sequence[Values], statistic: str) -> Estimate:
        sign = 1.0 if statistic == "max" else -1.0
        tops = np.array([(sign * s).max() if len(s) else -np.inf for s in samples])
        draws = np.where(self.counts > 0, tops, -np.inf).max(axis=1, initial=-np.inf)
        return Estimate(float(sign * tops.max()), sign * draws)

    def _quantiles(self, samples: Sequence[Values], share: float) -> Values:
        """Return the quantile of each draw, by the estimator of the value: sort once, then count.

        Linear between order statistics (Hyndman and Fan's type 7): of N samples the one at
        (N - 1)·share, counted from 0.
        """
        pooled = np.concatenate(list(samples))
        drive = np.repeat(np.arange(len(samples)), [len(s) for s in samples])
        order = np.argsort(pooled, kind="stable")
        values, owner = pooled[order], drive[order]
        block = max(_BLOCK // max(len(values), 1), 1)
        found = [
            _at(values, np.cumsum(self.counts[start : start + block, owner], axis=1), share)
            for start in range(0, len(self.counts), block)
        ]
        return np.concatenate(found) if found else np.empty(0)


def _quantile(values: Values, share: float) -> float:
    """Return a quantile; between two infinite values it is infinite, too."""
    with np.errstate(invalid="ignore"):
        found = float(np.quantile(values, share))
    return float(np.quantile(values, share, method="higher")) if np.isnan(found) else found


def _at(values: Values, cumulated: npt.NDArray[np.int64], share: float) -> Values:
    """Return a quantile for each row of ``cumulated``: how often each of ``values``, summed up.

    Rows in which nothing was drawn are left out.
    """
    cumulated = cumulated[cumulated[:, -1] > 0]
    place = (cumulated[:, -1] - 1) * share
    below = np.floor(place)
    low = values[np.argmax(cumulated > below[:, None], axis=1)]
    last = np.minimum(below + 1, cumulated[:, -1] - 1)
    high = values[np.argmax(cumulated > last[:, None], axis=1)]
    between = place - below
    with np.errstate(invalid="ignore"):
        rise = high - low
        nearer_low = (between < 0.5) | np.isinf(high)  # as NumPy rounds it
        risen = np.where(nearer_low, low + rise * between, high - rise * (1 - between))
    found: Values = np.where((low == high) | (between == 0), low, risen)
    return found
