"""Criterion: the ratio of two path sets lies in a band."""

from __future__ import annotations

from skyweave.report.criteria import grades
from skyweave.report.criteria.finding import Finding, with_interval
from skyweave.report.criteria.kinds import of_panel
from skyweave.report.numbers.panel import Panel
from skyweave.study.language.criteria import RatioBand


@of_panel(RatioBand)
def ratio(criterion: RatioBand, panel: Panel) -> Finding:
    """Grade whether the ratio of two path sets lies in a band."""
    top = panel.estimate(criterion.quantity, criterion.numerator, criterion.statistic)
    below = panel.estimate(criterion.quantity, criterion.denominator, criterion.statistic)
    ratio = top.over(below)
    if criterion.published == 1:
        grade = grades.grade_equal(ratio, criterion.band)
    else:
        grade = grades.grade_ratio(ratio, criterion.band, criterion.published)
    name = f"{criterion.numerator} ÷ {criterion.denominator} ({criterion.statistic})"
    return Finding(
        grade,
        f"{name} {with_interval(ratio)}",
        f"{criterion.published:g}",
        f"{criterion.band[0]:g} to {criterion.band[1]:g}",
        {name: ratio},
    )
