"""A recurrent network: an LSTM over the last five values says the change from the last one.

Keras fits it, on JAX; what was learned is plain arrays, and NumPy says what follows from them
(Hochreiter & Schmidhuber 1997, with the forget gate of Gers et al. 2000, as Keras has it).
"""

from __future__ import annotations

import os
import warnings
from typing import Any

import numpy as np
import numpy.typing as npt

from skyweave.errors import ConfigError
from skyweave.forecast.predictors.history import LAGS, LAGS_AT
from skyweave.forecast.predictors.point import Model, Predictor, Walk, table
from skyweave.forecast.predictors.target import Target
from skyweave.model.drive import Values

UNITS = 32
STEPS = 1 + len(LAGS)
INPUTS = 3
"""A value less the last one, and where in the slot the forecast is made: sine and cosine."""
ROUNDS, BATCH = 20, 64
_SEED = 1
Table = npt.NDArray[np.float64]


class Recurrent:
    """Weights of an LSTM and of the layer behind it; ``scale`` is a usual level of the series."""

    def __init__(self, scale: float, period_s: int, weights: tuple[Table, ...]) -> None:
        self.scale = scale
        self.period_s = period_s
        self.weights = weights

    def predict(self, features: Values, phase_s: int) -> float:
        """Return the last value and the change; neither rates nor round trips are negative."""
        rows = _inputs(features[None, :], np.array([phase_s]), self.scale, self.period_s)
        return float(self._from(rows, features[None, :1])[0])

    def predict_all(self, rows: Walk) -> Values:
        """Return the same for each row."""
        inputs = _inputs(rows.features, rows.phases_s, self.scale, self.period_s)
        return self._from(inputs, rows.features[:, :1])

    def _from(self, inputs: Table, last: Table) -> Values:
        kernel, recurrent, bias, out, out_bias = self.weights
        state = memory = np.zeros((len(inputs), UNITS))
        for step in range(STEPS):
            gates = inputs[:, step] @ kernel + state @ recurrent + bias
            come, keep, new, show = np.split(gates, 4, axis=1)
            memory = _sigmoid(keep) * memory + _sigmoid(come) * np.tanh(new)
            state = _sigmoid(show) * np.tanh(memory)
        change = (state @ out + out_bias)[:, 0] * self.scale
        found: Values = np.maximum(last[:, 0] + change, 0.0)
        return found

    def state(self) -> dict[str, Any]:
        """Return the weights as lists."""
        named = zip(_SHAPES, self.weights, strict=True)
        return {"scale": [self.scale]} | {name: one.tolist() for name, one in named}


_SHAPES: dict[str, tuple[int, ...]] = {
    "kernel": (INPUTS, 4 * UNITS),
    "recurrent": (UNITS, 4 * UNITS),
    "bias": (4 * UNITS,),
    "out": (UNITS, 1),
    "out_bias": (1,),
}


def _sigmoid(values: Table) -> Table:
    return np.asarray(0.5 * (1.0 + np.tanh(0.5 * values)))


def _inputs(features: Table, phases_s: npt.NDArray[Any], scale: float, period_s: int) -> Table:
    """Return the last values, the oldest first, and the phase beside each."""
    lags = features[:, LAGS_AT : LAGS_AT + len(LAGS)]
    values = np.column_stack([lags[:, ::-1], features[:, 0]])
    away = (values - features[:, :1]) / scale
    turn = 2 * np.pi * phases_s / period_s
    beside = [np.repeat(one[:, None], STEPS, axis=1) for one in (np.sin(turn), np.cos(turn))]
    return np.stack([away, *beside], axis=2)


def _fit(rows: Walk, _target: Target, came: Values) -> Model:
    os.environ.setdefault("KERAS_BACKEND", "jax")
    try:
        import keras
    except ImportError:
        raise ConfigError(
            "'recurrent' needs Keras and JAX; install them with: "
            "pip install 'skyweave[predict-recurrent]'"
        ) from None
    keras.utils.set_random_seed(_SEED)
    scale = float(np.abs(rows.features[:, 0]).mean()) or 1.0
    net = keras.Sequential(
        [keras.Input((STEPS, INPUTS)), keras.layers.LSTM(UNITS), keras.layers.Dense(1)]
    )
    net.compile(optimizer="adam", loss="mae")
    change = (came - rows.features[:, 0]) / scale
    inputs = _inputs(rows.features, rows.phases_s, scale, rows.period_s)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Keras speaks to NumPy as NumPy 1 wished
        net.fit(inputs, change, batch_size=BATCH, epochs=ROUNDS, verbose=0)
        weights = tuple(np.asarray(one, np.float64) for one in net.get_weights())
    return Recurrent(scale, rows.period_s, weights)


def _read(state: dict[str, Any], period_s: int) -> Model:
    (scale,) = table(state, "scale", 1)
    if scale <= 0:
        raise ValueError("scale: give a number above 0")
    weights = tuple(table(state, name, *shape) for name, shape in _SHAPES.items())
    return Recurrent(float(scale), period_s, weights)


RECURRENT = Predictor("recurrent", "an LSTM over the last five values (Keras)", _fit, _read)
