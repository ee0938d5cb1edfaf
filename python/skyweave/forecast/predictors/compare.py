"""Predictors side by side on one series: each learns from a part, and is judged by the rest.

A row is a forecast as it would have been served: bands that learn while it runs, and the last
value where the predictor was worse than it lately.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from skyweave.errors import DataError
from skyweave.forecast.predictors.history import LENGTH_S
from skyweave.forecast.predictors.online import Forecaster, Foreseen
from skyweave.forecast.predictors.point import Predictor, Walk
from skyweave.forecast.predictors.scores import Outcome, Score, score, skill_interval
from skyweave.forecast.predictors.target import Target
from skyweave.forecast.predictors.train import train
from skyweave.forecast.split import Rows, Split, folds
from skyweave.model.drive import Values


@dataclass(frozen=True)
class Verdict:
    """What can be said of a target: no winner whose interval includes 0."""

    best: str | None
    """The predictor with the most skill, if that is above 0 beyond doubt."""
    ties: tuple[str, ...]
    """Others that the best one is not better than beyond doubt."""


@dataclass(frozen=True)
class Comparison:
    """The scores of each target and predictor, and verdicts."""

    split: Split
    folds: int
    scores: dict[Target, dict[str, Score]]
    verdicts: dict[Target, Verdict]


def compare(
    rows: Walk,
    predictors: Sequence[Predictor],
    targets: Sequence[Target],
    split: Split = "time",
    progress: Callable[[Sequence[Predictor]], Iterator[Predictor]] = iter,
) -> Comparison:
    """Judge predictors on a series.

    ``time``: the first four fifths are learned from. ``drives``: whole stretches are left out, at
    most ten groups of them in turn. Raises :class:`ConfigError` for ``drives`` on a series without
    a gap, :class:`DataError` for one that is too short.
    """
    parts_of = list(folds(rows.series.seconds, split, rows.series.name))
    found: dict[Target, dict[str, Outcome]] = {target: {} for target in targets}
    for predictor in progress(predictors):
        parts = [_one_fold(rows, predictor, targets, *fold) for fold in parts_of]
        for target in targets:
            found[target][predictor.name] = _joined([part[target] for part in parts])
    return Comparison(
        split,
        len(parts_of),
        {t: {name: score(one) for name, one in by.items()} for t, by in found.items()},
        {target: _verdict(outcomes) for target, outcomes in found.items()},
    )


def _one_fold(
    rows: Walk, predictor: Predictor, targets: Sequence[Target], learned: Rows, judged: Rows
) -> dict[Target, Outcome]:
    came = {target: target.values(rows.series) for target in targets}
    trained = []
    for target in targets:
        known = np.where(learned & _ends_before(rows, target, judged), came[target], np.nan)
        trained.append(train(predictor, rows, target, known))
    forecaster = Forecaster(trained, rows.period_s, _edge(rows))
    said: dict[Target, list[tuple[int, Foreseen]]] = {target: [] for target in targets}
    place = np.flatnonzero(_with_run_up(rows, judged))
    for row, second, value in zip(
        place.tolist(),
        rows.series.seconds[place].tolist(),
        rows.series.values[place].tolist(),
        strict=True,
    ):
        forecaster.update(second, value)
        for one in forecaster.predict():
            if judged[row] and np.isfinite(came[one.target][row]):
                said[one.target].append((row, one))
    return {target: _outcome(rows, came[target], said[target]) for target in targets}


def _ends_before(rows: Walk, target: Target, judged: Rows) -> Rows:
    """Whether what a row learns from ends before the next row that is judged."""
    seconds = rows.series.seconds
    first_judged = np.append(seconds[judged], np.iinfo(np.int64).max)
    following = first_judged[np.searchsorted(seconds[judged], seconds)]
    return seconds + target.ahead_s < following


def _with_run_up(rows: Walk, judged: Rows) -> Rows:
    """Return the rows that are judged, and the five minutes before: a forecaster knows them."""
    seconds = rows.series.seconds
    following = np.append(seconds[judged], np.iinfo(np.int64).max)
    ahead = following[np.searchsorted(seconds[judged], seconds)] - seconds
    return judged | (ahead <= LENGTH_S)


def _edge(rows: Walk) -> int:
    """Return the first second of a slot."""
    return int((rows.series.seconds[0] - rows.phases_s[0]) % rows.period_s)


def _outcome(rows: Walk, came: Values, said: list[tuple[int, Foreseen]]) -> Outcome:
    if not said:
        raise DataError(f"{rows.series.name}: nothing that was forecast came true; give more of it")
    place = np.array([row for row, _ in said])
    return Outcome(
        rows.series.seconds[place],
        came[place],
        rows.features[place, 0],
        np.array([one.expected for _, one in said]),
        np.array([(one.low, one.middle, one.high) for _, one in said]),
        np.array([one.gave_way for _, one in said]),
        np.array([one.by_predictor for _, one in said]),
    )


def _joined(parts: Sequence[Outcome]) -> Outcome:
    return Outcome(
        *(
            np.concatenate([getattr(part, name) for part in parts])
            for name in ("seconds", "came", "last", "expected", "bands", "gave_way", "by_predictor")
        )
    )


def _verdict(outcomes: dict[str, Outcome]) -> Verdict:
    scores = {name: score(one) for name, one in outcomes.items()}
    best = max(scores, key=lambda name: scores[name].skill)
    if scores[best].skill_low <= 0:
        return Verdict(None, ())
    ours = outcomes[best]
    ties = [
        name
        for name, other in outcomes.items()
        if name != best and skill_interval(ours.seconds, ours.errors, other.errors)[0] <= 0
    ]
    return Verdict(best, tuple(ties))
