"""ARIMA: the order with the least AIC, fitted by statsmodels, served as the weights that it gives.

What an ARIMA process says of its future is linear in its past. Given its last five values the best
weights follow from its autocovariances (Brockwell & Davis 1991, section
5.1): no state has to be kept between forecasts.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from skyweave.errors import ConfigError
from skyweave.forecast.predictors.history import LAGS, LAGS_AT
from skyweave.forecast.predictors.point import Model, Predictor, Walk, table
from skyweave.forecast.predictors.seconds import Seconds
from skyweave.forecast.predictors.target import Target
from skyweave.model.drive import Values

ORDERS = ((2, 0, 1), (1, 1, 1))
MOST_SECONDS = 4000
"""The last ones are fitted: what is older costs minutes."""
_VALUES = 1 + len(LAGS)


class Arima:
    """Weights of the last five values, the newest first, and a constant."""

    def __init__(self, weights: Values, constant: float) -> None:
        self.weights = weights
        self.constant = constant

    def predict(self, features: Values, _phase_s: int) -> float:
        """Return what the process says."""
        known = np.append(features[0], features[LAGS_AT : LAGS_AT + len(LAGS)])
        return max(float(known @ self.weights) + self.constant, 0.0)

    def predict_all(self, rows: Walk) -> Values:
        """Return the same for each row."""
        known = np.column_stack(
            [rows.features[:, 0], rows.features[:, LAGS_AT : LAGS_AT + len(LAGS)]]
        )
        found: Values = np.maximum(known @ self.weights + self.constant, 0.0)
        return found

    def state(self) -> dict[str, Any]:
        """Return the weights and the constant."""
        return {"weights": self.weights.tolist(), "constant": [self.constant]}


def _fit(rows: Walk, target: Target, _came: Values) -> Model:
    try:
        from statsmodels.tsa.arima_process import ArmaProcess
    except ImportError:
        raise ConfigError(
            "'arima' needs statsmodels; install it with: pip install 'skyweave[predict]'"
        ) from None
    found = _process(_regular(rows.series).tobytes())
    differs, mean = found.differs, found.mean
    process = ArmaProcess(np.r_[1, -found.autoregressive], np.r_[1, found.moving_average])
    covariances = process.acovf(_VALUES + target.ahead_s + 1)
    steps = [_ahead(covariances, ahead_s, differs) for ahead_s in range(1, target.ahead_s + 1)]
    weights = steps[-1] if target.of == "at" else np.mean(steps, axis=0)
    return Arima(np.asarray(weights), mean * (1.0 - float(np.sum(weights))))


@dataclass(frozen=True)
class _Process:
    autoregressive: Values
    moving_average: Values
    mean: float
    differs: bool
    """It is the process of the differences."""


@lru_cache(maxsize=1)
def _process(values: bytes) -> _Process:
    """Return the order that fits best: once for all targets of a series, for it takes seconds."""
    from statsmodels.tsa.arima.model import ARIMA

    series = np.frombuffer(values)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # starting values that are not stationary
        fitted = [ARIMA(series, order=order).fit() for order in ORDERS]
    best = min(fitted, key=lambda one: float(one.aic))
    differs = bool(best.model.order[1])
    mean = 0.0 if differs else float(best.params[0])
    return _Process(np.array(best.arparams), np.array(best.maparams), mean, differs)


def _ahead(covariances: Values, ahead_s: int, differs: bool) -> Values:
    """Return the weights of the last five values for the one ``ahead_s`` seconds on."""
    count = _VALUES - 1 if differs else _VALUES
    lags = np.arange(count)
    known = covariances[np.abs(lags[:, None] - lags)]
    if not differs:
        return np.asarray(np.linalg.solve(known, covariances[ahead_s + lags]))
    # differences ahead add up; each is foreseen from the last four
    wanted = sum(covariances[step + lags] for step in range(1, ahead_s + 1))
    of_differences = np.linalg.solve(known, np.asarray(wanted))
    weights: Values = np.zeros(_VALUES)
    weights[0] = 1.0
    weights[:-1] += of_differences
    weights[1:] -= of_differences
    return weights


def _regular(series: Seconds) -> Values:
    """Return the last seconds one after the other; NaN where one is missing."""
    last = series.part(slice(-MOST_SECONDS, None))
    begin = max(int(last.seconds[0]), int(last.seconds[-1]) - MOST_SECONDS + 1)
    last = last.part(last.seconds >= begin)
    found: Values = np.full(int(last.seconds[-1]) - begin + 1, np.nan)
    found[last.seconds - begin] = last.values
    return found


def _read(state: dict[str, Any], _period_s: int) -> Model:
    return Arima(table(state, "weights", _VALUES), float(table(state, "constant", 1)[0]))


ARIMA_PREDICTOR = Predictor("arima", "ARIMA (2,0,1) or (1,1,1), the better by AIC", _fit, _read)
