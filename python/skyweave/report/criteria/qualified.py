"""From what the values say to the grade: what stands behind the values decides with them.

* A criterion that cannot fail is an *input or identity* where it holds.
* With fewer than 30 runs, or one recorded drive, it is *preliminary*, held or not.
* What holds on rates that nobody published or measured, or not on all values of what is
  assumed, is an *assumption*.

A criterion that fails stays *not reproduced*, unless there are too few runs to say that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from skyweave.report.criteria.grades import (
    ASSUMPTION,
    DIRECTION,
    INPUT,
    NOT_REPRODUCED,
    PRELIMINARY,
    REPRODUCED,
    Grade,
)
from skyweave.report.criteria.kinds import KINDS, Found
from skyweave.report.criteria.put_in import assumed_paths, decided, direction_put_in, inputs
from skyweave.report.numbers.panel import Results

ENOUGH = 30
"""Runs of each cell that a grade needs: seeds, or pieces of recorded drives."""
_HOLDS = (REPRODUCED, DIRECTION)


@dataclass(frozen=True)
class Qualified:
    """A grade, and what was put in."""

    grade: Grade
    put_in: str


def qualified(criterion: Any, results: Results, found: Found) -> Qualified:
    """Grade a criterion by its values and by what stands behind them."""
    said = found.finding.grade
    words = [inputs(criterion, results)]
    if said in _HOLDS and (why := decided(criterion, results)):
        return Qualified(INPUT, f"{words[0]}; {why}")
    if why := direction_put_in(criterion, results):
        said = NOT_REPRODUCED if said == DIRECTION else said
        words.append(why)
    why = _assumption(criterion, results, said)
    words += [why] if why else []
    if found.drives < ENOUGH or found.one_drive:
        return Qualified(PRELIMINARY, "; ".join(words))
    grade = ASSUMPTION if why and said in _HOLDS else said
    return Qualified(grade, "; ".join(words))


def _assumption(criterion: Any, results: Results, said: Grade) -> str:
    """Return what is assumed, and decides; empty if nothing is."""
    if paths := assumed_paths(criterion, results):
        return f"rates of {', '.join(paths)} are assumed"
    elsewhere = [name for name in criterion.assumed if name in results.groups]
    differing = []
    for name in elsewhere:
        other = criterion.model_copy(update={"drives": name, "assumed": ()})
        found = KINDS[type(criterion)](other, results)
        if isinstance(found, Found) and found.finding.grade != said:
            differing.append(f"'{name}' ({found.finding.grade})")
    return f"otherwise on drives {', '.join(differing)}" if differing else ""
