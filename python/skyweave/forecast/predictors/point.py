"""What a predictor is: it learns from the past of a series, and then says what comes next."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from skyweave.forecast.predictors.history import EDGE_S, PERIOD_S, History
from skyweave.forecast.predictors.seconds import Seconds, Whole
from skyweave.forecast.predictors.target import Target
from skyweave.model.drive import Values


@dataclass(frozen=True)
class Walk:
    """A series as it was seen second by second; a row never knows of what comes after it."""

    series: Seconds
    features: Values
    """A row of :data:`~skyweave.forecast.predictors.history.FEATURES` a second."""
    phases_s: Whole
    """Seconds since the slot began."""
    period_s: int

    def part(self, rows: slice | np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Walk:
        """Return some of the rows."""
        return Walk(self.series.part(rows), self.features[rows], self.phases_s[rows], self.period_s)


def walk(series: Seconds, period_s: int = PERIOD_S, edge_s: int = EDGE_S) -> Walk:
    """Return what a predictor sees at each second of a series."""
    history = History(period_s, edge_s)
    rows, phases = [], []
    for second, value in zip(series.seconds.tolist(), series.values.tolist(), strict=True):
        history.update(second, value)
        rows.append(history.features())
        phases.append(history.phase_s)
    return Walk(series, np.array(rows), np.array(phases, np.int64), period_s)


def table(state: dict[str, Any], name: str, *shape: int) -> npt.NDArray[np.float64]:
    """Return an array of a state; ``ValueError`` if it is not finite numbers in this shape."""
    found = np.array(state.get(name), np.float64)
    if found.shape != shape or not np.isfinite(found).all():
        raise ValueError(f"{name}: give {' times '.join(map(str, shape))} finite numbers")
    return found


class Model(Protocol):
    """A predictor that has learned one target of one series."""

    def predict(self, features: Values, phase_s: int) -> float:
        """Return what is expected, in the unit of the series."""

    def predict_all(self, rows: Walk) -> Values:
        """Return the same for many rows at once."""

    def state(self) -> dict[str, Any]:
        """Return what it has learned, for JSON."""


Learner = Callable[[Walk, Target, Values], Model]
"""Learns a target from rows and from what came true at each of them; none is missing."""


@dataclass(frozen=True)
class Predictor:
    """A way to predict: how it learns, and how it is read back from JSON."""

    name: str
    words: str
    fit: Learner
    read: Callable[[dict[str, Any], int], Model]
    """From :meth:`Model.state` and the seconds of a slot; whatever else comes: ``ValueError``."""
