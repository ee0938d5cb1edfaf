"""Logistic regression with a ridge, by iteratively reweighted least squares.

Hastie et al. 2009, section 4.4.1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from skyweave.model.drive import Values

ROUNDS = 25
RIDGE = 1.0
"""The weight of one edge against each coefficient but the constant; features are standardised."""
Table = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Logistic:
    """Coefficients for features less ``centres``, divided by ``scales``; the first is constant."""

    centres: Values
    scales: Values
    coefficients: Values

    def probability(self, features: Table) -> Values:
        """Return the probability of each row, 0 to 1."""
        found: Values = _logistic((features - self.centres) / self.scales @ self.coefficients)
        return found


def fit(features: Table, came: npt.NDArray[np.bool_]) -> Logistic:
    """Learn from rows, whose first feature is 1, and what came at each."""
    centres, scales = features.mean(axis=0), features.std(axis=0)
    centres[0], scales[scales == 0] = 0.0, 1.0
    rows = (features - centres) / scales
    ridge = RIDGE * np.eye(features.shape[1])
    ridge[0, 0] = 1e-6
    found: Values = np.zeros(features.shape[1])
    for _ in range(ROUNDS):
        expected = _logistic(rows @ found)
        weights = np.maximum(expected * (1 - expected), 1e-6)
        slope = rows.T @ (came - expected) - ridge @ found
        step = np.linalg.solve(rows.T @ (rows * weights[:, None]) + ridge, slope)
        found = found + np.clip(step, -2.0, 2.0)
        if np.abs(step).max() < 1e-8:
            break
    return Logistic(centres, scales, found)


def _logistic(values: Values) -> Values:
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(values, -30.0, 30.0))))
