"""Climatology: what a second of the slot usually has, whatever came before."""

from __future__ import annotations

from typing import Any

import numpy as np

from skyweave.forecast.predictors.point import Model, Predictor, Walk, table
from skyweave.forecast.predictors.target import Target
from skyweave.model.drive import Values


class Climatology:
    """The median of what came true, for each second of the slot."""

    def __init__(self, usual: Values) -> None:
        self.usual = usual

    def predict(self, _features: Values, phase_s: int) -> float:
        """Return the median of the phase."""
        return float(self.usual[phase_s])

    def predict_all(self, rows: Walk) -> Values:
        """Return the median of each row's phase."""
        return self.usual[rows.phases_s]

    def state(self) -> dict[str, Any]:
        """Return the medians."""
        return {"usual": self.usual.tolist()}


def _fit(rows: Walk, _target: Target, came: Values) -> Model:
    everything = float(np.median(came))
    parts = [came[rows.phases_s == phase] for phase in range(rows.period_s)]
    return Climatology(np.array([np.median(one) if len(one) else everything for one in parts]))


def _read(state: dict[str, Any], period_s: int) -> Model:
    return Climatology(table(state, "usual", period_s))


CLIMATOLOGY = Predictor("climatology", "the usual value of the second of the slot", _fit, _read)
