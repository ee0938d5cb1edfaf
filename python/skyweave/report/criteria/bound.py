"""Criterion: a statistic of path sets is above or below a limit."""

from __future__ import annotations

import numpy as np

from skyweave.report.criteria import grades
from skyweave.report.criteria.finding import Finding, amount, with_interval
from skyweave.report.criteria.kinds import of_panel
from skyweave.report.numbers.panel import Panel
from skyweave.report.numbers.stats import Estimate
from skyweave.results.quantities import words
from skyweave.study.language.criteria import Bound


@of_panel(Bound)
def bound(criterion: Bound, panel: Panel) -> Finding:
    """Grade whether a statistic of path sets is above or below a limit."""
    limit, unit, note = criterion.limit, "", ""
    ceiling, share = criterion.capacity_at_most_mbps, criterion.otherwise_share_of_sum
    if ceiling is not None and share is not None:
        top = max(float(np.max(c)) for cell in criterion.cells for c in panel.samples("sum", cell))
        if top > ceiling:
            limit, unit = share, " of the mean Sum"
            note = f"Our Sum reaches {top:.0f} Mbit/s (> {ceiling:g}), so the share of Sum is used."
    found: dict[str, Estimate] = {
        c: panel.estimate(criterion.quantity, c, criterion.statistic) for c in criterion.cells
    }
    if unit:
        found = {c: found[c].over(panel.estimate("sum", c, "mean")) for c in criterion.cells}
    graded = {c: grades.grade_bound(e, criterion.relation, limit) for c, e in found.items()}
    silent = criterion.statistic == "zero_share" and criterion.quantity == "goodput"
    if silent and any(map(panel.opening_share, criterion.cells)):
        waited = [f"{c} {amount(panel.opening_share(c), True)}" for c in criterion.cells]
        note = f"Of it, before the first byte of a drive: {', '.join(waited)} of all samples."
    of_samples = criterion.statistic == "zero_share" or criterion.statistic.startswith("over_")
    percent = of_samples or unit != "" or words(criterion.quantity).is_share
    band = f"{criterion.relation} {amount(limit, percent)}{unit}"
    ours = ", ".join(f"{name} {with_interval(value, percent)}" for name, value in found.items())
    grade = grades.worst(graded.values())
    return Finding(grade, ours, criterion.published or band, band, found, note)
