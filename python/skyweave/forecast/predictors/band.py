"""Quantiles around an expected value, corrected while forecasts come true.

The residuals of the last forecasts, in units of the usual error of their second of the slot, are
the distribution. A margin at each of its two ends grows with what comes true outside of it and
shrinks with what does not: online conformal prediction by tracking a quantile (Angelopoulos et
al. 2023, section 2.2).
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import deque
from dataclasses import dataclass

import numpy as np

from skyweave.forecast.predictors.seconds import Whole
from skyweave.model.drive import Values

QUANTILES = (0.1, 0.5, 0.9)
KEPT = 600
"""Residuals that count."""
STEP = 0.02
"""How far a margin moves for a forecast that came true, in units of the usual error."""


@dataclass(frozen=True)
class Spread:
    """What residuals were like in training: all that a band has to know at its begin."""

    scales: Values
    """The usual error of each second of the slot, above 0."""
    residuals: tuple[float, ...]
    """The last of them, in units of their scale."""


def spread(errors: Values, phases_s: Whole, period_s: int) -> Spread:
    """Return the spread of errors (what came true less what was expected)."""
    usual = float(np.median(np.abs(errors))) or 1e-9
    scales = np.full(period_s, usual)
    for phase in range(period_s):
        here = np.abs(errors[phases_s == phase])
        if len(here) and (middle := float(np.median(here))) > 0:
            scales[phase] = max(middle, usual / 10)
    kept = (errors / scales[phases_s])[-KEPT:]
    return Spread(scales, tuple(kept.tolist()))


class Band:
    """Quantiles of what comes, and their correction."""

    def __init__(self, known: Spread) -> None:
        self._scales = known.scales.tolist()
        self._order = deque(known.residuals[-KEPT:])
        self._sorted = sorted(self._order)
        self._below, self._above = 0.0, 0.0

    def around(self, expected: float, phase_s: int) -> tuple[float, float, float]:
        """Return :data:`QUANTILES` of what comes; they do not fall, and none is below 0."""
        scale = self._scales[phase_s]
        low, middle, high = self._ends()
        return (
            max(expected + scale * min(low, middle), 0.0),
            max(expected + scale * middle, 0.0),
            max(expected + scale * max(high, middle), 0.0),
        )

    def came(self, came: float, expected: float, phase_s: int) -> None:
        """Learn from a forecast that has come true."""
        residual = (came - expected) / self._scales[phase_s]
        low, _, high = self._ends()
        self._below += STEP * (float(residual < low) - QUANTILES[0])
        self._above += STEP * (float(residual > high) - (1.0 - QUANTILES[-1]))
        if len(self._order) == KEPT:
            gone = self._order.popleft()
            del self._sorted[bisect_left(self._sorted, gone)]
        self._order.append(residual)
        insort(self._sorted, residual)

    def _ends(self) -> tuple[float, float, float]:
        """Return the quantiles of the residuals, margins included."""
        low, middle, high = (self._quantile(level) for level in QUANTILES)
        return low - self._below, middle, high + self._above

    def _quantile(self, level: float) -> float:
        """Return a quantile of the residuals that count (linear between two of them)."""
        if not self._sorted:
            return 0.0
        place = level * (len(self._sorted) - 1)
        low = int(place)
        high = min(low + 1, len(self._sorted) - 1)
        return self._sorted[low] + (place - low) * (self._sorted[high] - self._sorted[low])
