"""Criterion: a statistic is larger on one group of drives than on another."""

from __future__ import annotations

import numpy as np

from skyweave.report.criteria import grades
from skyweave.report.criteria.finding import Finding, with_interval
from skyweave.report.criteria.kinds import Found, found_on, missing, of_results
from skyweave.report.numbers.panel import Results
from skyweave.study.language.criteria import Contrast


@of_results(Contrast)
def contrast(criterion: Contrast, results: Results) -> Found | str:
    """Compare a statistic over all pairs on two groups of drives that were drawn independently.

    Pairs whose paths were run alone, too; all of them, or the paths, where there are none.
    """
    why = missing(results, criterion.drives, criterion.than)
    if why is not None:
        return why
    panel = results.panel(criterion)
    other = results.panel(criterion.model_copy(update={"drives": criterion.than}))
    found = {}
    there = criterion.than_quantity or criterion.quantity
    for one, quantity in ((panel, criterion.quantity), (other, there)):
        cells = [
            one.samples(quantity, cell) for cell in one.comparable or one.bonded or one.singles
        ]
        each = [np.concatenate(parts) for parts in zip(*cells, strict=True)]
        found[one.drives] = one.draws.estimate(each, criterion.statistic)
    difference = found[panel.drives] - found[other.drives]
    ours = ", ".join(f"{name} {with_interval(value)}" for name, value in found.items())
    band = f"{panel.drives} > {other.drives}"
    grade = grades.grade_order(difference, ">")
    fewer = min(panel, other, key=lambda one: len(one.names))
    return found_on(fewer, Finding(grade, ours, criterion.published or band, band, found))
