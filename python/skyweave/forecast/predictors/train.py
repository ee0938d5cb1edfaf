"""Training: from a series to models of its targets."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from skyweave.errors import DataError
from skyweave.forecast.predictors.band import spread
from skyweave.forecast.predictors.online import JUDGED, Trained
from skyweave.forecast.predictors.point import Predictor, Walk
from skyweave.forecast.predictors.target import Target
from skyweave.model.drive import Values

LEAST_ROWS = 60
"""With fewer that came true nothing is learned."""
MOST_ROWS = 20_000
"""The last ones are learned from: what was long ago says little of now, and costs as much."""


def train(predictor: Predictor, rows: Walk, target: Target, came: Values) -> Trained:
    """Return the model of a target.

    ``came`` is what came true at each row, NaN where that is not known: those rows are left out.
    Raises :class:`DataError` if fewer than :data:`LEAST_ROWS` are left.
    """
    known = np.isfinite(came)
    rows, came = rows.part(known), came[known]
    if len(came) < LEAST_ROWS:
        raise DataError(
            f"{rows.series.name}: '{target}' came true {len(came)} times; it takes {LEAST_ROWS} to "
            "learn from"
        )
    if len(came) > MOST_ROWS:
        rows, came = rows.part(slice(-MOST_ROWS, None)), came[-MOST_ROWS:]
    model = predictor.fit(rows, target, came)
    errors, of_last, rows = _errors(predictor, rows, target, came)
    judged = np.abs(np.stack([errors, of_last], axis=1)[-JUDGED:])
    return Trained(
        target,
        model,
        spread(errors, rows.phases_s, rows.period_s),
        spread(of_last, rows.phases_s, rows.period_s),
        tuple((float(ours), float(theirs)) for ours, theirs in judged),
    )


def _errors(
    predictor: Predictor, rows: Walk, target: Target, came: Values
) -> tuple[Values, Values, Walk]:
    """Return errors of the predictor and of the last value, and the rows that they belong to.

    They are those of the last fifth, which the predictor does not see for this: errors of what was
    learned by heart are too small.
    """
    begin = int(len(came) * 0.8)
    if len(came) - begin < LEAST_ROWS:
        begin = 0
    known = slice(0, begin or None)
    model = predictor.fit(rows.part(known), target, came[known])
    rest = rows.part(slice(begin, None))
    return came[begin:] - model.predict_all(rest), came[begin:] - rest.features[:, 0], rest


def train_all(predictor: Predictor, rows: Walk, targets: Sequence[Target]) -> list[Trained]:
    """Return the models of several targets of a whole series."""
    return [train(predictor, rows, target, target.values(rows.series)) for target in targets]
