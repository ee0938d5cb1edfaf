"""Criterion: published values lie within our runs."""

from __future__ import annotations

import numpy as np

from skyweave.report.criteria import grades
from skyweave.report.criteria.finding import Finding, amount
from skyweave.report.criteria.kinds import Found, found_on, missing, of_results, variants_of
from skyweave.report.criteria.paired import need
from skyweave.report.numbers.panel import Results
from skyweave.report.numbers.stats import Estimate
from skyweave.study.language.criteria import Covers


@of_results(Covers)
def covers(criterion: Covers, results: Results) -> Found | str:
    """Count the published values that lie within 90 % of our runs."""
    why = missing(results, criterion.drives)
    if why is not None:
        return why
    found = variants_of(results, criterion)
    inside: list[str] = []
    outside: list[str] = []
    for value in results.published:
        if value.figure != criterion.figure or value.of is None:
            continue
        wanted = {criterion.by: value.of, **value.where}
        for variant in found:
            if any(variant.settings.get(key) != of for key, of in wanted.items()):
                continue
            low, high = (
                variant.panel.estimate(value.quantity, value.cell, name).value
                for name in ("p5", "p95")
            )
            where = ", ".join(str(of) for of in wanted.values())
            name = f"{where}: {value.value:g} not in [{amount(low, False)}, {amount(high, False)}]"
            (inside if low <= value.value <= high else outside).append(name)
    need(criterion, criterion.by, [*inside, *outside])
    share = len(inside) / (len(inside) + len(outside))
    finding = Finding(
        grades.REPRODUCED if share >= criterion.share else grades.NOT_REPRODUCED,
        f"{len(inside)} of {len(inside) + len(outside)} within p5 to p95 of our runs",
        criterion.published,
        f">= {criterion.share:.0%} of them",
        {"share inside": Estimate(share, np.empty(0))},
        f"Outside: {'; '.join(outside)}." if outside else "",
    )
    return found_on(found[0].panel, finding)
