"""Criterion: a statistic is close to a published value."""

from __future__ import annotations

from skyweave.report.criteria import grades
from skyweave.report.criteria.finding import Finding, with_interval
from skyweave.report.criteria.kinds import of_panel
from skyweave.report.numbers.panel import Panel
from skyweave.results.quantities import words
from skyweave.study.language.criteria import CloseTo


@of_panel(CloseTo)
def value(criterion: CloseTo, panel: Panel) -> Finding:
    """Grade whether a statistic is close to a published value."""
    found = panel.estimate(criterion.quantity, criterion.cell, criterion.statistic)
    cell: str = criterion.cell
    if criterion.minus is not None:
        found = panel.estimate(criterion.quantity, criterion.minus, criterion.statistic) - found
        cell = f"{criterion.minus} \N{MINUS SIGN} {cell}"
    name = " ".join(filter(None, (cell, words(criterion.quantity).short, criterion.statistic)))
    return Finding(
        grades.grade_value(found, criterion.published, criterion.tolerance),
        f"{name} {with_interval(found)}",
        f"{criterion.published:g}",
        f"± {criterion.tolerance:.0%}",
        {name: found},
    )
