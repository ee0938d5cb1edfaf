"""The last value, and means of the past, as they are: what every other predictor has to beat."""

from __future__ import annotations

from typing import Any

import numpy as np

from skyweave.forecast.predictors.history import EWMA_AT, FACTORS, FEATURES, LEVELS
from skyweave.forecast.predictors.point import Model, Predictor, Walk
from skyweave.forecast.predictors.target import Target
from skyweave.model.drive import Values


class Column:
    """One feature as it is."""

    def __init__(self, column: int) -> None:
        if not 0 <= column < len(FEATURES):
            raise ValueError(f"there is no column {column}")
        self.column = column

    def predict(self, features: Values, _phase_s: int) -> float:
        """Return the feature."""
        return float(features[self.column])

    def predict_all(self, rows: Walk) -> Values:
        """Return the feature of each row."""
        return rows.features[:, self.column]

    def state(self) -> dict[str, Any]:
        """Return which column it is."""
        return {"column": self.column}


def _read(state: dict[str, Any], _period_s: int) -> Model:
    return Column(int(state["column"]))


def _always(name: str, words: str, feature: str) -> Predictor:
    column = LEVELS.index(feature)

    def fit(_rows: Walk, _target: Target, _came: Values) -> Model:
        return Column(column)

    return Predictor(name, words, fit, _read)


def _fit_ewma(rows: Walk, _target: Target, came: Values) -> Model:
    """Choose the factor with the least absolute error."""
    moving = rows.features[:, EWMA_AT : EWMA_AT + len(FACTORS)]
    errors = np.abs(moving - came[:, None]).mean(axis=0)
    return Column(EWMA_AT + int(errors.argmin()))


LAST = _always("last", "the last value", "last")
MEAN_5 = _always("mean-5", "the mean of the last 5 s", "mean 5")
MEAN_300 = _always("mean-300", "the mean of the last 300 s", "mean 300")
EWMA = Predictor("ewma", "a moving average, its factor fitted", _fit_ewma, _read)
