"""Criterion: one setting matters less than another."""

from __future__ import annotations

import numpy as np

from skyweave.report.criteria import grades
from skyweave.report.criteria.finding import Finding, with_interval
from skyweave.report.criteria.kinds import of_variants
from skyweave.report.criteria.paired import grouped, need, together
from skyweave.report.numbers.metrics import Values
from skyweave.report.numbers.variants import Variant
from skyweave.study.language.criteria import Spread


@of_variants(Spread)
def spread(criterion: Spread, found: list[Variant]) -> Finding:
    """Grade whether one setting matters less than another."""
    spreads = {}
    for key in (criterion.by, criterion.than):
        groups = [g for g in grouped(criterion, found, key).values() if len(g) > 1]
        need(criterion, key, groups)
        each = [together(_relative_range, list(group.values())) for group in groups]
        spreads[key] = together(lambda v: np.nanmean(v, axis=0), each)
    narrow, wide = spreads[criterion.by], spreads[criterion.than]
    ours = ", ".join(f"over {key} {with_interval(e, True)}" for key, e in spreads.items())
    band = f"over {criterion.by} < over {criterion.than}"
    grade = grades.grade_order(wide - narrow, ">")
    return Finding(grade, ours, criterion.published or band, band, spreads)


def _relative_range(values: Values) -> Values:
    """Return (largest - smallest) / mean along axis 0; 0 where all are 0."""
    mean = np.mean(values, axis=0)
    width = np.max(values, axis=0) - np.min(values, axis=0)
    relative: Values = np.divide(width, mean, out=np.zeros_like(width), where=mean > 0)
    return relative
