"""Criterion: path sets stand in an order."""

from __future__ import annotations

from skyweave.report.criteria import grades
from skyweave.report.criteria.finding import Finding, with_interval
from skyweave.report.criteria.kinds import of_panel
from skyweave.report.numbers.panel import Panel
from skyweave.report.numbers.stats import Estimate
from skyweave.study.language.criteria import Ordering


@of_panel(Ordering)
def ordering(criterion: Ordering, panel: Panel) -> Finding:
    """Grade whether path sets stand in an order."""
    found: dict[str, Estimate] = {
        c: panel.estimate(criterion.quantity, c, criterion.statistic) for c in criterion.cells
    }
    steps = zip(criterion.cells, criterion.relations, criterion.cells[1:], strict=False)
    graded = [grades.grade_order(found[a] - found[b], sign) for a, sign, b in steps]
    signs = [*criterion.relations, ""]
    order = " ".join(f"{c} {s}".strip() for c, s in zip(criterion.cells, signs, strict=True))
    published = ", ".join(
        f"{c} {v:g}" for c, v in zip(criterion.cells, criterion.published, strict=False)
    )
    ours = ", ".join(f"{name} {with_interval(value)}" for name, value in found.items())
    return Finding(grades.worst(graded), ours, published or order, order, found)
