"""Evaluates the criteria of ``published.toml``; nothing here is about one study."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from skyweave.report.criteria.finding import Finding, numbers
from skyweave.report.criteria.grades import NOT_ATTEMPTED, Grade
from skyweave.report.criteria.kinds import KINDS, Found
from skyweave.report.criteria.qualified import qualified
from skyweave.report.numbers.panel import Results
from skyweave.study.language.criteria import Criterion


@dataclass(frozen=True)
class Outcome:
    """A graded criterion, in words and numbers."""

    id: str
    figure: str
    text: str
    grade: Grade
    said: Grade
    """What the values say, before inputs, assumptions and the number of runs are looked at."""
    put_in: str
    ours: str
    published: str
    band: str
    drives: int
    samples: int
    seeds: str
    study_class: str
    data: str
    source: str
    note: str
    values: dict[str, list[float | None]] = field(default_factory=dict)
    """Ours for programs: name to [value, low, high]; null where there is no interval."""


def evaluate(criteria: Sequence[Criterion], results: Results) -> list[Outcome]:
    """Grade each criterion; those whose drives were not run are "not attempted"."""
    return [_outcome(one, results, KINDS[type(one)](one, results)) for one in criteria]


def _outcome(criterion: Criterion, results: Results, found: Found | str) -> Outcome:
    """Put what was found beside its criterion."""
    if isinstance(found, str):
        return _untested(criterion, found)
    by = qualified(criterion, results, found)
    return Outcome(
        **_shared(criterion),
        **_told(criterion, found.finding),
        grade=by.grade,
        put_in=by.put_in,
        drives=found.drives,
        samples=found.samples,
        seeds=found.seeds,
        data=found.data,
    )


def _told(criterion: Criterion, finding: Finding) -> dict[str, Any]:
    """Return what a finding says of a criterion."""
    return {
        "said": finding.grade,
        "ours": finding.ours,
        "published": _typeset(finding.published),
        "band": _typeset(finding.band),
        "note": " ".join(part for part in (criterion.note, finding.note) if part),
        "values": {name: numbers(estimate) for name, estimate in finding.values.items()},
    }


def _untested(criterion: Criterion, note: str) -> Outcome:
    return Outcome(
        **_shared(criterion),
        grade=NOT_ATTEMPTED,
        said=NOT_ATTEMPTED,
        put_in="",
        ours="\N{EN DASH}",
        published=_typeset(str(getattr(criterion, "published", ""))),
        band="",
        drives=0,
        samples=0,
        seeds="\N{EN DASH}",
        data="none",
        note=f"{criterion.note} {note}".strip(),
    )


def _typeset(text: str) -> str:
    """Return a relation as it is printed."""
    signs = {">=": "\N{GREATER-THAN OR EQUAL TO}", "<=": "\N{LESS-THAN OR EQUAL TO}"}
    for plain, sign in signs.items():
        text = text.replace(plain, sign)
    return text


def _shared(criterion: Criterion) -> dict[str, Any]:
    keys = ("id", "figure", "text", "study_class", "source")
    return {key: getattr(criterion, key) for key in keys}
