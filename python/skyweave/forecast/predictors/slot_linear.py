"""A linear model for each second of the slot: what changes from the last value.

Least absolute deviations by iteratively reweighted least squares (Schlossmacher
1973), with a small ridge.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from skyweave.forecast.predictors.history import LEVELS
from skyweave.forecast.predictors.point import Model, Predictor, Walk, table
from skyweave.forecast.predictors.target import Target
from skyweave.model.drive import Values

ROUNDS = 8
RIDGE = 1e-3
LEAST_ROWS = 30
"""A phase with fewer takes the model of all phases."""
_LEVELS = len(LEVELS)


class SlotLinear:
    """Coefficients of :data:`LEVELS` for each phase; levels are those of the series."""

    def __init__(self, coefficients: Values) -> None:
        self.coefficients = coefficients

    def predict(self, features: Values, phase_s: int) -> float:
        """Return the last value and the change; neither rates nor round trips are negative."""
        levels = features[:_LEVELS]
        return max(float(levels[0] + levels @ self.coefficients[phase_s]), 0.0)

    def predict_all(self, rows: Walk) -> Values:
        """Return the same for each row."""
        levels = rows.features[:, :_LEVELS]
        change = (levels * self.coefficients[rows.phases_s]).sum(axis=1)
        found: Values = np.maximum(levels[:, 0] + change, 0.0)
        return found

    def state(self) -> dict[str, Any]:
        """Return the coefficients."""
        return {"coefficients": self.coefficients.tolist()}


def _fit(rows: Walk, _target: Target, came: Values) -> Model:
    levels = rows.features[:, :_LEVELS]
    change = came - levels[:, 0]
    everywhere = least_deviations(levels, change)
    found = np.tile(everywhere, (rows.period_s, 1))
    for phase in range(rows.period_s):
        here = rows.phases_s == phase
        if here.sum() >= LEAST_ROWS:
            found[phase] = least_deviations(levels[here], change[here])
    return SlotLinear(found)


def least_deviations(levels: Values, change: Values, ridge: float = RIDGE) -> Values:
    """Return the coefficients; ``ridge`` is relative to the mean level, the constant is free."""
    scale = float(np.abs(levels[:, 0]).mean()) or 1.0  # the ridge means the same in every unit
    known, wanted = levels.copy(), change / scale
    known[:, :-1] /= scale
    brake = ridge * len(known) * np.eye(_LEVELS)
    brake[-1, -1] = 1e-9
    weights: Values = np.ones_like(change)
    found: Values = np.zeros(_LEVELS)
    for _ in range(ROUNDS):
        weighted = known * weights[:, None]
        found = np.asarray(np.linalg.solve(weighted.T @ known + brake, weighted.T @ wanted))
        weights = np.asarray(1.0 / np.maximum(np.abs(wanted - known @ found), 1e-3))
        weights /= weights.mean()
    found[-1] *= scale
    return found


def _read(state: dict[str, Any], period_s: int) -> Model:
    return SlotLinear(table(state, "coefficients", period_s, _LEVELS))


SLOT_LINEAR = Predictor("slot-linear", "a linear model for each second of the slot", _fit, _read)
