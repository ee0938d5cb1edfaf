"""Criterion: a bound holds under every setting."""

from __future__ import annotations

from skyweave.report.criteria import grades
from skyweave.report.criteria.finding import Finding, amount, with_interval
from skyweave.report.criteria.kinds import of_variants
from skyweave.report.criteria.paired import open_settings
from skyweave.report.numbers.variants import Variant, cells_or_default
from skyweave.results.quantities import words
from skyweave.study.language.criteria import Every


@of_variants(Every)
def every(criterion: Every, found: list[Variant]) -> Finding:
    """Grade whether a bound holds under every setting."""
    several = open_settings(found, "")
    each = {}
    for variant in found:
        for cell in cells_or_default(variant.panel, criterion.cells):
            estimate = variant.panel.estimate(criterion.quantity, cell, criterion.statistic)
            parts: list[str] = [cell] if len(criterion.cells) > 1 else []
            parts += [f"{key} {variant.settings[key]}" for key in several]
            each[", ".join(parts) or cell] = estimate
    percent = words(criterion.quantity).is_share
    grade = grades.worst(
        grades.grade_bound(e, criterion.relation, criterion.limit) for e in each.values()
    )
    band = f"{criterion.relation} {amount(criterion.limit, percent)}"
    ours = ", ".join(f"{name}: {with_interval(e, percent)}" for name, e in each.items())
    return Finding(grade, ours, criterion.published or band, band, each)
