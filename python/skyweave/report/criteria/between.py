"""Criterion: one value of a setting does better than others by as much as it should."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from skyweave.report.criteria import grades
from skyweave.report.criteria.finding import Finding, amount, with_interval
from skyweave.report.criteria.kinds import of_variants
from skyweave.report.criteria.paired import grouped, need, open_settings, together
from skyweave.report.numbers.metrics import Values
from skyweave.report.numbers.stats import Estimate
from skyweave.report.numbers.variants import Variant, cells_or_default
from skyweave.results.quantities import words
from skyweave.study.language.criteria import Between


@of_variants(Between)
def between(criterion: Between, found: list[Variant]) -> Finding:
    """Grade whether one value of a setting does better than others by as much as it should."""
    compared: dict[str, Estimate] = {}
    several = open_settings(found, criterion.by)
    for key, group in grouped(criterion, found, criterion.by).items():
        where = _where(found, criterion, key, several)
        for other in criterion.second:
            if criterion.first in group and other in group:
                pair = [group[criterion.first], group[other]]
                compared[f"{_name(criterion, other)}{where}"] = together(
                    _ratio if criterion.measure == "ratio" else _difference, pair
                )
    need(criterion, criterion.by, list(compared))
    percent = criterion.measure == "difference" and words(criterion.quantity).is_share
    graded = [grades.grade_bound(e, criterion.relation, criterion.limit) for e in compared.values()]
    grade = grades.worst(graded)
    band = f"{criterion.relation} {amount(criterion.limit, percent)}"
    if criterion.band is not None:
        low, high = criterion.band
        meets = all(e.low <= high and e.high >= low for e in compared.values())
        grade = grades.DIRECTION if grade == grades.REPRODUCED and not meets else grade
        band = f"{band}, {amount(low, percent)} to {amount(high, percent)}"
    ours = ", ".join(f"{name}: {with_interval(e, percent)}" for name, e in compared.items())
    return Finding(grade, ours, criterion.published or band, band, compared)


def _name(criterion: Between, other: Any) -> str:
    sign = "÷" if criterion.measure == "ratio" else "\N{MINUS SIGN}"
    return f"{criterion.first} {sign} {other}"


def _ratio(values: Values) -> Values:
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio: Values = values[0] / values[1]
    return ratio


def _difference(values: Values) -> Values:
    difference: Values = values[0] - values[1]
    return difference


def _where(
    found: Sequence[Variant], criterion: Between, key: tuple[str, ...], several: list[str]
) -> str:
    """Return in words which path set and settings a group has, as far as they vary."""
    cell, *others = key
    one = next(v for v in found if v.others(criterion.by) == tuple(others))
    cells = {c for v in found for c in cells_or_default(v.panel, criterion.cells)}
    parts: list[str] = [cell] if len(cells) > 1 else []
    parts += [f"{name} {one.settings[name]}" for name in several]
    return f" ({', '.join(parts)})" if parts else ""
