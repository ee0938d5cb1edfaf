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
NEAR = 1e-2
"""Residuals below this share of the mean change count alike."""
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
    """Return the coefficients; the constant is free.

    What is fitted are distances from the last value, each in its own spread, so that ``ridge``
    brakes alike what wanders and what is smooth, in every unit and on every level.
    """
    away = levels - levels[:, :1]
    away[:, 0], away[:, -1] = levels[:, 0] - levels[:, 0].mean(), 1.0
    spread = np.sqrt((away**2).mean(axis=0))
    spread[spread == 0] = 1.0
    scale = float(np.abs(change).mean()) or 1.0
    known, wanted = away / spread, change / scale
    brake = ridge * len(known) * np.eye(_LEVELS)
    brake[-1, -1] = 1e-9
    weights: Values = np.ones_like(change)
    found: Values = np.zeros(_LEVELS)
    for _ in range(ROUNDS):
        weighted = known * weights[:, None]
        found = np.asarray(np.linalg.solve(weighted.T @ known + brake, weighted.T @ wanted))
        weights = np.asarray(1.0 / np.maximum(np.abs(wanted - known @ found), NEAR))
        weights /= weights.mean()
    return _of_levels(found * scale / spread, float(levels[:, 0].mean()))


def _of_levels(found: Values, middle: float) -> Values:
    """Return what coefficients of distances are as coefficients of the levels themselves."""
    levels = found.copy()
    levels[0] -= found[1:-1].sum()
    levels[-1] -= found[0] * middle
    return levels


def _read(state: dict[str, Any], period_s: int) -> Model:
    return SlotLinear(table(state, "coefficients", period_s, _LEVELS))


SLOT_LINEAR = Predictor("slot-linear", "a linear model for each second of the slot", _fit, _read)
