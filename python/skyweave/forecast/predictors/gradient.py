"""Gradient boosting: the change from the last value, by trees over the past and the slot."""

from __future__ import annotations

from typing import Any

import numpy as np

from skyweave.forecast.predictors.history import FEATURES
from skyweave.forecast.predictors.point import Model, Predictor, Walk
from skyweave.forecast.predictors.target import Target
from skyweave.forecast.predictors.trees import Trees, grow, read_trees
from skyweave.model.drive import Values

_COLUMNS = len(FEATURES) + 1


class Gradient:
    """Trees of all features and the second of the slot."""

    def __init__(self, trees: Trees) -> None:
        self.trees = trees

    def predict(self, features: Values, phase_s: int) -> float:
        """Return the last value and the change; neither rates nor round trips are negative."""
        change = self.trees.sum_of(np.append(features - _level(features), phase_s))
        return max(float(features[0]) + change, 0.0)

    def predict_all(self, rows: Walk) -> Values:
        """Return the same for each row."""
        found: Values = np.maximum(rows.features[:, 0] + self.trees.sums_of(_table(rows)), 0.0)
        return found

    def state(self) -> dict[str, Any]:
        """Return the trees."""
        return self.trees.state()


def _level(features: Values) -> Values:
    """Return what is taken off each feature: no tree knows a level that it never saw."""
    return features[..., :1]


def _table(rows: Walk) -> Values:
    return np.column_stack([rows.features - _level(rows.features), rows.phases_s])


def _fit(rows: Walk, _target: Target, came: Values) -> Model:
    change = came - rows.features[:, 0]
    return Gradient(grow(_table(rows), change, "reg:absoluteerror"))


def _read(state: dict[str, Any], _period_s: int) -> Model:
    return Gradient(read_trees(state, _COLUMNS))


GRADIENT = Predictor("gradient", "boosted trees of the past and the slot (XGBoost)", _fit, _read)
