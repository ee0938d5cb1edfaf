"""Criterion: one value of a setting brings at least a share of what the best one brings."""

from __future__ import annotations

import numpy as np

from skyweave.report.criteria import grades
from skyweave.report.criteria.finding import Finding, with_interval
from skyweave.report.criteria.kinds import of_variants
from skyweave.report.criteria.paired import grouped, need, together
from skyweave.report.numbers.metrics import Values
from skyweave.report.numbers.stats import Estimate
from skyweave.report.numbers.variants import Variant
from skyweave.study.language.criteria import GainShare


@of_variants(GainShare)
def gain_share(criterion: GainShare, found: list[Variant]) -> Finding:
    """Grade whether ``first`` gains the share over ``base`` that it should; the worst decides.

    What is graded is first - base - share * (best - base): unlike the share it is defined where
    the best one gains nothing.
    """
    shown: dict[str, Estimate] = {}
    graded = []
    names = [criterion.first, criterion.base, criterion.best]
    for (cell, *_), group in grouped(criterion, found, criterion.by).items():
        if any(name not in group for name in names):
            continue
        parts = [group[name] for name in names]
        shown[cell] = together(_share, parts)
        beyond = together(lambda v: v[0] - v[1] - criterion.share * (v[2] - v[1]), parts)
        graded.append(grades.grade_bound(beyond, ">=", 0.0))
    need(criterion, criterion.by, list(shown))
    ours = ", ".join(f"{name}: {with_interval(e, True)}" for name, e in shown.items())
    band = (
        f"\N{GREATER-THAN OR EQUAL TO} {100 * criterion.share:g} % of the gain of {criterion.best}"
    )
    return Finding(grades.worst(graded), ours, criterion.published or band, band, shown)


def _share(values: Values) -> Values:
    with np.errstate(divide="ignore", invalid="ignore"):
        share: Values = (values[0] - values[1]) / (values[2] - values[1])
    return share
