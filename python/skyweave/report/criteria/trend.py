"""Criterion: a statistic rises or falls along a setting."""

from __future__ import annotations

import numpy as np

from skyweave.report.criteria import grades
from skyweave.report.criteria.finding import Finding, with_interval
from skyweave.report.criteria.kinds import of_variants
from skyweave.report.criteria.paired import together
from skyweave.report.numbers import metrics
from skyweave.report.numbers.metrics import Values
from skyweave.report.numbers.stats import Estimate
from skyweave.report.numbers.variants import Variant, cells_or_default
from skyweave.study.language.criteria import Trend


@of_variants(Trend)
def trend(criterion: Trend, found: list[Variant]) -> Finding:
    """Grade whether a statistic rises or falls along a setting."""
    places, estimates, groups = [], [], []
    numbers: dict[tuple[str, ...], int] = {}
    for variant in found:
        at = variant.number(criterion.along)
        if at is None:
            continue
        for cell in cells_or_default(variant.panel, criterion.cells):
            key = (cell, *variant.others(criterion.along))
            places.append(at)
            groups.append(numbers.setdefault(key, len(numbers)))
            estimates.append(variant.panel.estimate(criterion.quantity, cell, criterion.statistic))
    x, rows = np.array(places), np.array(groups)

    def tau(values: Values) -> Values:
        return np.array([metrics.kendall(x, column, rows) for column in values.T])

    found_tau = together(tau, estimates)
    rises = criterion.direction_of_trend == "rises"
    signed = found_tau if rises else Estimate(-found_tau.value, -found_tau.draws)
    name = f"Kendall \N{GREEK SMALL LETTER TAU} along {criterion.along}"
    band = f"\N{GREEK SMALL LETTER TAU} {'>' if rises else '<'} 0"
    return Finding(
        grades.grade_order(signed, ">"),
        f"{name} {with_interval(found_tau)} over {len(estimates)} cells",
        criterion.published or band,
        band,
        {name: found_tau},
    )
