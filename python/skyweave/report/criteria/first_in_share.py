"""Criterion: one value of a setting leads in a share of the cells."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from skyweave.report.criteria import grades
from skyweave.report.criteria.finding import Finding, with_interval
from skyweave.report.criteria.kinds import of_variants
from skyweave.report.criteria.paired import grouped, need, together
from skyweave.report.numbers.metrics import Values
from skyweave.report.numbers.variants import Variant
from skyweave.study.language.criteria import FirstInShare


@of_variants(FirstInShare)
def first(criterion: FirstInShare, found: list[Variant]) -> Finding:
    """Grade whether one value of a setting leads all others, ties apart, in a share of cells."""
    groups = [g for g in grouped(criterion, found, criterion.by).values() if criterion.winner in g]
    need(criterion, criterion.by, groups)
    leads = []
    for group in groups:
        winner = group[criterion.winner]
        others = [e for value, e in group.items() if value != criterion.winner]
        leads.append(together(_leads(-1.0 if criterion.least else 1.0), [winner, *others]))
    share = together(lambda v: np.mean(v, axis=0), leads)
    name = f"{criterion.winner} first in"
    return Finding(
        grades.grade_bound(share, ">=", criterion.share),
        f"{name} {with_interval(share, True)} of {len(groups)} cells",
        criterion.published or f"in >= {criterion.share:.0%} of cells",
        f">= {criterion.share:.0%}",
        {name: share},
    )


def _leads(sign: float) -> Callable[[Values], Any]:
    """Return whether the first of several values leads (``sign`` -1: is least); no tie leads."""
    return lambda v: np.all(sign * v[0] > sign * v[1:], axis=0)
