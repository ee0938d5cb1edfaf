"""From the correlation of values to the correlation of the Gaussian latent behind them.

If X = Q(Φ(Z)) and (Z, Z') are standard normal with correlation r, then X and X' correlate by
Σ aₙ·bₙ·rⁿ, with aₙ and bₙ the Hermite coefficients of X and X' as functions of Z, each scaled to
unit variance. Inverting that series gives the latent correlation that yields a measured one
(NORTA: Cario & Nelson, "Modeling and generating random vectors with arbitrary marginal
distributions and correlation matrix", 1997).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist

import numpy as np

from skyweave.model.drive import Values

ORDER = 40
_GRID = np.linspace(-6.5, 6.5, 2601)
_SHARES = np.array([NormalDist().cdf(z) for z in _GRID.tolist()])
_WEIGHT = np.exp(-(_GRID**2) / 2) / math.sqrt(2 * math.pi) * (_GRID[1] - _GRID[0])


def hermite_coefficients(quantile: Callable[[Values], Values]) -> Values:
    """Coefficients 1 … :data:`ORDER` of Q(Φ(z)), scaled so that their squares sum to about 1.

    The sum falls short of 1 by what higher orders carry; it is scaled up to exactly 1.
    """
    values = quantile(_SHARES)
    before, now = np.zeros_like(_GRID), np.ones_like(_GRID)
    found = np.empty(ORDER)
    for n in range(1, ORDER + 1):
        before, now = now, (_GRID * now - math.sqrt(n - 1) * before) / math.sqrt(n)
        found[n - 1] = float(np.sum(values * now * _WEIGHT))
    scale = math.sqrt(float((found**2).sum()))
    return found / scale if scale > 0 else found


def latent_correlation(wanted: Values, a: Values, b: Values) -> Values:
    """The latent correlation (0 to 1) for each wanted one; NaN stays NaN.

    ``a`` and ``b`` are :func:`hermite_coefficients`. Negative wishes give 0, impossible ones 1.
    """
    grid = np.linspace(0, 1, 1001)
    powers = grid[:, None] ** np.arange(1, ORDER + 1)
    reached = np.maximum.accumulate(powers @ (a * b))
    return np.where(np.isnan(wanted), np.nan, np.interp(np.nan_to_num(wanted), reached, grid))
