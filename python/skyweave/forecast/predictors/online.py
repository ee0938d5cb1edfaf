"""Forecasts while a series comes in: every target of a trained predictor, with bands that learn.

A predictor that was worse than the last value lately gives way to the last value.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field

import numpy as np

from skyweave.forecast.predictors.band import Band, Spread
from skyweave.forecast.predictors.history import LENGTH_S, History
from skyweave.forecast.predictors.point import Model
from skyweave.forecast.predictors.target import Target
from skyweave.model.drive import Values

JUDGED = 300
"""Forecasts that have come true and count in the choice between predictor and last value."""
LEAST_JUDGED = 30
NEEDED_GAIN = 0.02
"""A predictor that is not better by this share gives way: what it gains may be chance."""


@dataclass(frozen=True)
class Trained:
    """A model of one target, and how far it is usually off."""

    target: Target
    model: Model
    spread: Spread
    spread_of_last: Spread
    """The same of the last value, for when the model gives way."""
    judged: tuple[tuple[float, float], ...] = ()
    """Absolute errors of the model and of the last value, the last :data:`JUDGED` of training."""


@dataclass(frozen=True)
class Foreseen:
    """What is expected of a target."""

    target: Target
    low: float
    middle: float
    high: float
    expected: float
    """By the predictor or, if that gave way, the last value."""
    gave_way: bool
    by_predictor: float
    """What the predictor expects, whether it gave way or not."""


@dataclass
class _Pending:
    due: int
    phase_s: int
    expected: float
    last: float


@dataclass
class _Judge:
    """Mean absolute errors of the model and of the last value, over the last forecasts."""

    errors: deque[tuple[float, float]] = field(default_factory=deque)
    of_model: float = 0.0
    of_last: float = 0.0

    def came(self, model: float, last: float) -> None:
        if len(self.errors) == JUDGED:
            old = self.errors.popleft()
            self.of_model -= old[0]
            self.of_last -= old[1]
        self.errors.append((model, last))
        self.of_model += model
        self.of_last += last

    @property
    def gives_way(self) -> bool:
        return len(self.errors) >= LEAST_JUDGED and self.of_model > (1 - NEEDED_GAIN) * self.of_last


class Tracked:
    """One target while the series comes in."""

    def __init__(self, trained: Trained) -> None:
        self.trained = trained
        self._band, self._band_of_last = Band(trained.spread), Band(trained.spread_of_last)
        self._judge = _Judge()
        for of_model, of_last in trained.judged[-JUDGED:]:
            self._judge.came(of_model, of_last)
        self._pending: deque[_Pending] = deque()

    def resolve(self, history: History) -> None:
        """Learn from the forecasts that have come true."""
        now, target = history.now, self.trained.target
        while now is not None and self._pending and self._pending[0].due <= now:
            one = self._pending.popleft()
            ago = now - one.due
            first = ago if target.of == "at" else ago + target.ahead_s - 1
            if first >= LENGTH_S:
                continue
            came = history.mean(first, ago)
            if math.isnan(came):
                continue
            self._judge.came(abs(came - one.expected), abs(came - one.last))
            self._band.came(came, one.expected, one.phase_s)
            self._band_of_last.came(came, one.last, one.phase_s)

    def predict(self, history: History, features: Values) -> Foreseen:
        """Return what is expected, as of the last second."""
        phase, target = history.phase_s, self.trained.target
        expected = self.trained.model.predict(features, phase)
        last = history.last
        gave_way = self._judge.gives_way
        assert history.now is not None
        due = history.now + target.ahead_s
        if not self._pending or self._pending[-1].due < due:  # asked twice, it learns once
            self._pending.append(_Pending(due, phase, expected, last))
        if gave_way:
            return Foreseen(target, *self._band_of_last.around(last, phase), last, True, expected)
        return Foreseen(target, *self._band.around(expected, phase), expected, False, expected)


class Forecaster:
    """All targets of a predictor while a series comes in."""

    def __init__(self, trained: list[Trained], period_s: int, edge_s: int) -> None:
        self.history = History(period_s, edge_s)
        self.tracked = [Tracked(one) for one in trained]

    def update(self, second: int, value: float) -> None:
        """Take the value of a second; those that do not come after the last one are left out."""
        now = self.history.now
        if not math.isfinite(value) or (now is not None and second <= now):
            return
        self.history.update(second, value)
        for one in self.tracked:
            one.resolve(self.history)

    def predict(self) -> list[Foreseen]:
        """Return what is expected of each target; nothing before the first second."""
        if self.history.now is None:
            return []
        features = np.array(self.history.features())
        return [one.predict(self.history, features) for one in self.tracked]
