"""T3P's recipe, as far as a series alone allows: XGBoost of the level, by squared error.

Two of its five features: the last five values, and the time. Place, satellites in view and the
attitude of the dish are not in a series.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from skyweave.forecast.predictors.history import LAGS, LAGS_AT
from skyweave.forecast.predictors.point import Model, Predictor, Walk
from skyweave.forecast.predictors.target import Target
from skyweave.forecast.predictors.trees import Trees, grow, read_trees
from skyweave.model.drive import Values

_COLUMNS = 1 + len(LAGS) + 1
_LAGS = slice(LAGS_AT, LAGS_AT + len(LAGS))


class Recipe:
    """Trees of the last values and the second of the slot."""

    def __init__(self, trees: Trees) -> None:
        self.trees = trees

    def predict(self, features: Values, phase_s: int) -> float:
        """Return the level."""
        return max(self.trees.sum_of(np.array([features[0], *features[_LAGS], phase_s])), 0.0)

    def predict_all(self, rows: Walk) -> Values:
        """Return the level for each row."""
        found: Values = np.maximum(self.trees.sums_of(_table(rows)), 0.0)
        return found

    def state(self) -> dict[str, Any]:
        """Return the trees."""
        return self.trees.state()


def _table(rows: Walk) -> Values:
    return np.column_stack([rows.features[:, 0], rows.features[:, _LAGS], rows.phases_s])


def _fit(rows: Walk, _target: Target, came: Values) -> Model:
    return Recipe(grow(_table(rows), came, "reg:squarederror"))


def _read(state: dict[str, Any], _period_s: int) -> Model:
    return Recipe(read_trees(state, _COLUMNS))


RECIPE = Predictor("t3p", "T3P's recipe: trees of the last 5 values and the time", _fit, _read)
