"""Forecasts of a series while it is measured, and of the slots that it lives in."""

from __future__ import annotations

import math
from collections.abc import Iterator
from statistics import fmean, median

from skyweave.errors import ConfigError
from skyweave.forecast import ForecastFile
from skyweave.forecast.predictors.file import PredictorFile
from skyweave.forecast.predictors.serve import FIELDS, Field, ahead
from skyweave.model.forecast import Forecast, ForecastBoundary

HOLDS_S = 16.0
"""A forecast is over then, if no other has replaced it: the next edge of Starlink's slots is in."""
EDGE_UNCERTAINTY_S = 0.3
"""How exactly edges are known: the interval of measured phases (docs/forecasts.md)."""


class Foresight:
    """A predictor that is fed samples, and says what it expects when a second is over."""

    def __init__(self, known: PredictorFile, of: Field | None = None) -> None:
        """Raises :class:`ConfigError` for a predictor that says no value ahead."""
        wanted = tuple(one for one in known.targets if one.target.startswith("at "))
        if not wanted:
            raise ConfigError("the predictor says no value ahead; train it with 'at 5' or the like")
        self._forecaster = known.model_copy(update={"targets": wanted}).forecaster()
        self._known, self._of = known, of or FIELDS[known.quantity][0]
        self._second: int | None = None
        self._values: list[float] = []

    def take(self, unix_s: float, value: float | None) -> Iterator[ForecastFile]:
        """Take a sample; yield a forecast when it is the first of another second."""
        second = math.floor(unix_s)
        if self._second is not None and second > self._second and self._values:
            middle = fmean if self._known.quantity == "throughput" else median
            self._forecaster.update(self._second, middle(self._values))
            self._values = []
            yield self._forecast(self._second + 1)
        self._second = second
        if value is not None and math.isfinite(value):
            self._values.append(value)

    def _forecast(self, issued_s: int) -> ForecastFile:
        series = ahead(self._forecaster.predict(), 0)
        return ForecastFile(
            source=f"'{self._known.predictor}' of {self._known.learned.name}",
            method="live",
            start_unix_s=float(issued_s),
            end_unix_s=issued_s + HOLDS_S,
            forecast=Forecast.model_validate(
                {"boundaries": self._edges(issued_s), self._of: series}
            ),
        )

    def _edges(self, issued_s: int) -> tuple[ForecastBoundary, ...]:
        """Return the edges of the predictor's slots while the forecast holds."""
        period = self._known.period_s
        first = (self._known.edge_s - issued_s) % period
        return tuple(
            ForecastBoundary(at_s=float(one), uncertainty_s=EDGE_UNCERTAINTY_S)
            for one in range(first, int(HOLDS_S), period)
        )
