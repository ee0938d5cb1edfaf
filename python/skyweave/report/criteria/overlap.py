"""Criterion: what two values of a setting give lies within each other's intervals."""

from __future__ import annotations

from skyweave.report.criteria import grades
from skyweave.report.criteria.finding import Finding, with_interval
from skyweave.report.criteria.kinds import of_variants
from skyweave.report.criteria.paired import grouped, need, open_settings
from skyweave.report.numbers.stats import Estimate
from skyweave.report.numbers.variants import Variant
from skyweave.results.quantities import words
from skyweave.study.language.criteria import Overlap


@of_variants(Overlap)
def overlap(criterion: Overlap, found: list[Variant]) -> Finding:
    """Grade whether each value lies in the other's interval; the worst combination decides."""
    compared: list[tuple[Estimate, Estimate]] = []
    several = open_settings(found, criterion.by)
    names = {v.others(criterion.by): [str(v.settings[key]) for key in several] for v in found}
    shown: dict[str, Estimate] = {}
    for (cell, *others), group in grouped(criterion, found, criterion.by).items():
        if criterion.first not in group or criterion.second not in group:
            continue
        compared.append((group[criterion.first], group[criterion.second]))
        where = ", ".join([cell, *names[tuple(others)]])
        for name in (criterion.first, criterion.second):
            shown[f"{name} ({where})"] = group[name]
    need(criterion, criterion.by, compared)
    percent = words(criterion.quantity).is_share
    ours = ", ".join(f"{name}: {with_interval(e, percent)}" for name, e in shown.items())
    grade = grades.worst(grades.grade_overlap(first, second) for first, second in compared)
    band = "each in the other's interval"
    return Finding(grade, ours, criterion.published or band, band, shown)
