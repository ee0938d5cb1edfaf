"""Criteria put together: one line for each figure, table or claim of a publication."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from skyweave.report.criteria.evaluate import Outcome
from skyweave.report.criteria.grades import INPUT, NOT_ATTEMPTED, ORDER, REPRODUCED, Grade, worst
from skyweave.study.language.artefacts import Artefact

_MOST_WORDS = 4


@dataclass(frozen=True)
class Graded:
    """An artefact with its grade: that of its weakest criterion."""

    id: str
    text: str
    grade: Grade
    said: str
    """What the values say, where the grade does not tell."""
    counts: dict[str, int]
    """How many of its criteria have which grade."""
    put_in: str
    runs: int
    """Of the criterion with the fewest."""
    criteria: tuple[str, ...]


def graded(
    artefacts: Sequence[Artefact], outcomes: Sequence[Outcome], figures: Mapping[str, str]
) -> list[Graded]:
    """Return each artefact once; a study that names none has one for each of its figures.

    ``figures``: the title of each figure, by its id.
    """
    if artefacts:
        return [
            _graded(one.id, one.text, [o for o in outcomes if one.has(o.id)]) for one in artefacts
        ]
    ids = dict.fromkeys(outcome.figure for outcome in outcomes)
    return [
        _graded(one, figures.get(one, one), [o for o in outcomes if o.figure == one]) for one in ids
    ]


def tally(artefacts: Sequence[Graded]) -> dict[Grade, int]:
    """Return how many artefacts have each grade."""
    return {grade: sum(one.grade == grade for one in artefacts) for grade in ORDER}


def tally_words(counts: Mapping[Any, int]) -> str:
    """Return how many artefacts have each grade, in words; grades that none has are left out.

    >>> tally_words({"reproduced": 2, "direction only": 0, "assumption": 1})
    '2 reproduced, 1 assumption'
    """
    return ", ".join(f"{counts[grade]} {grade}" for grade in ORDER if counts.get(grade))


def facts(artefacts: Sequence[Graded]) -> list[dict[str, Any]]:
    """Return what ``summary.json`` says of artefacts."""
    return [{**asdict(one), "criteria": list(one.criteria)} for one in artefacts]


def _graded(name: str, text: str, outcomes: Sequence[Outcome]) -> Graded:
    grade = worst(outcome.grade for outcome in outcomes)
    tested = [outcome for outcome in outcomes if outcome.grade != NOT_ATTEMPTED]
    weighed = [outcome for outcome in tested if outcome.grade != INPUT] or tested
    said = worst(outcome.said for outcome in weighed) if weighed else NOT_ATTEMPTED
    hidden = said not in (grade, NOT_ATTEMPTED) and not (grade == INPUT and said == REPRODUCED)
    return Graded(
        id=name,
        text=text,
        grade=grade,
        said=said if hidden else "",
        counts={one: n for one in ORDER if (n := sum(o.grade == one for o in outcomes))},
        put_in=_put_in(tested),
        runs=min((outcome.drives for outcome in tested), default=0),
        criteria=tuple(outcome.id for outcome in outcomes),
    )


def _put_in(outcomes: Sequence[Outcome]) -> str:
    """Return what was put in for any of the criteria, each thing once."""
    words = dict.fromkeys(part for o in outcomes for part in o.put_in.split("; ") if part)
    more = len(words) - _MOST_WORDS
    return "; ".join([*list(words)[:_MOST_WORDS], *([f"and {more} more"] if more > 0 else [])])
