"""Predictors: what the next seconds of a measured series bring. One file each.

All learn the same way (:mod:`.point`), see the same past (:mod:`.history`), and are served with
bands that learn while they run (:mod:`.online`).
"""

from __future__ import annotations

from skyweave.errors import ConfigError, suggest
from skyweave.forecast.predictors.arima import ARIMA_PREDICTOR
from skyweave.forecast.predictors.climatology import CLIMATOLOGY
from skyweave.forecast.predictors.column import EWMA, LAST, MEAN_5, MEAN_300
from skyweave.forecast.predictors.gradient import GRADIENT
from skyweave.forecast.predictors.point import Model, Predictor, Walk, walk
from skyweave.forecast.predictors.recipe import RECIPE
from skyweave.forecast.predictors.recurrent import RECURRENT
from skyweave.forecast.predictors.seconds import Seconds, in_seconds
from skyweave.forecast.predictors.slot_linear import SLOT_LINEAR
from skyweave.forecast.predictors.target import Target

PLAIN = (LAST, MEAN_5, MEAN_300, EWMA, CLIMATOLOGY, SLOT_LINEAR)
"""Those that need nothing but NumPy."""
PREDICTORS: dict[str, Predictor] = {
    known.name: known for known in (*PLAIN, GRADIENT, RECIPE, ARIMA_PREDICTOR, RECURRENT)
}


def predictor(name: str) -> Predictor:
    """Return a predictor by its name; :class:`ConfigError` if there is none."""
    if name not in PREDICTORS:
        raise ConfigError(f"there is no predictor '{name}'; {suggest(name, list(PREDICTORS))}")
    return PREDICTORS[name]


__all__ = [
    "PLAIN",
    "PREDICTORS",
    "Model",
    "Predictor",
    "Seconds",
    "Target",
    "Walk",
    "in_seconds",
    "predictor",
    "walk",
]
