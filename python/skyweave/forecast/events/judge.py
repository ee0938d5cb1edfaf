"""How good probabilities of events were: Brier scores and reliability, beside climatology."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from skyweave.forecast.events.kinds import Edges, Event
from skyweave.forecast.events.logistic import fit
from skyweave.forecast.split import Split, folds
from skyweave.model.drive import Values

BLOCK_EDGES = 20
"""Neighbouring edges are alike: whole blocks of five minutes are drawn."""
DRAWS = 2000
_SEED = 1
LEAST_EDGES = 50
"""With fewer nothing can be said."""
BINS = (0.0, 0.1, 0.2, 0.4, 0.6, 0.8, 0.9, 1.0)


@dataclass(frozen=True)
class Calibration:
    """Edges whose probability lay in a bin: how likely the event was said to be, and was."""

    low: float
    high: float
    edges: int
    said: float
    came: float


@dataclass(frozen=True)
class EventScore:
    """Brier scores are mean squared errors of probabilities (Brier 1950).

    ``skill`` is 1 - the Brier score ÷ that of climatology (the share in what was learned from),
    with a 95 % interval; above 0 beyond doubt if ``skill_low`` is.
    """

    event: Event
    edges: int
    share: float
    brier: float
    brier_climatology: float
    skill: float
    skill_low: float
    skill_high: float
    reliability: tuple[Calibration, ...]

    def facts(self) -> dict[str, Any]:
        """Return its numbers for JSON."""
        return asdict(self)


@dataclass(frozen=True)
class Judged:
    """Probabilities for edges that were not learned from, and what came."""

    said: Values
    usual: Values
    came: npt.NDArray[np.bool_]


def judge(edges: Edges, split: Split = "time") -> EventScore | None:
    """Learn from a part of the edges, judge by the rest.

    None if there are fewer than :data:`LEAST_EDGES`, or the event never comes in a part, or always.

    ``time``: the first four fifths are learned from. ``drives``: whole stretches are left out, at
    most ten groups of them in turn; :class:`ConfigError` on a series without a gap.
    """
    if len(edges.came) < LEAST_EDGES:
        return None
    parts = []
    for learned, judged in folds(edges.begin_unix_s, split, "the series"):
        came = edges.came[learned]
        if not judged.any() or not came.any() or came.all():
            continue
        said = fit(edges.features[learned], came).probability(edges.features[judged])
        parts.append(Judged(said, np.full(len(said), came.mean()), edges.came[judged]))
    if not parts:
        return None
    return _score(
        edges.event,
        Judged(
            np.concatenate([part.said for part in parts]),
            np.concatenate([part.usual for part in parts]),
            np.concatenate([part.came for part in parts]),
        ),
    )


def _score(event: Event, found: Judged) -> EventScore:
    errors, base = (found.said - found.came) ** 2, (found.usual - found.came) ** 2
    low, high = _interval(errors, base)
    return EventScore(
        event=event,
        edges=len(errors),
        share=float(found.came.mean()),
        brier=float(errors.mean()),
        brier_climatology=float(base.mean()),
        skill=1.0 - float(errors.sum() / base.sum()),
        skill_low=low,
        skill_high=high,
        reliability=tuple(_reliability(found)),
    )


def _interval(errors: Values, base: Values) -> tuple[float, float]:
    block = np.arange(len(errors)) // BLOCK_EDGES
    sums = np.bincount(block, errors), np.bincount(block, base)
    drawn = np.random.default_rng(_SEED).integers(len(sums[0]), size=(DRAWS, len(sums[0])))
    skills = 1.0 - sums[0][drawn].sum(axis=1) / sums[1][drawn].sum(axis=1)
    low, high = np.quantile(skills, (0.025, 0.975))
    return float(low), float(high)


def _reliability(found: Judged) -> Iterator[Calibration]:
    place = np.clip(np.searchsorted(BINS, found.said, side="right") - 1, 0, len(BINS) - 2)
    for number in range(len(BINS) - 1):
        here = place == number
        if here.any():
            said, came = float(found.said[here].mean()), float(found.came[here].mean())
            yield Calibration(BINS[number], BINS[number + 1], int(here.sum()), said, came)
