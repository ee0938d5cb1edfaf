"""Criterion: what pairs gain rises with how unequal their paths are."""

from __future__ import annotations

import numpy as np

from skyweave.report.criteria import grades
from skyweave.report.criteria.finding import Finding, with_interval
from skyweave.report.criteria.kinds import of_panel
from skyweave.report.numbers import metrics
from skyweave.report.numbers.panel import Panel
from skyweave.report.numbers.stats import Estimate
from skyweave.study.language.criteria import RankCorrelation


@of_panel(RankCorrelation)
def correlation(criterion: RankCorrelation, panel: Panel) -> Finding:
    """Grade whether what pairs gain rises with how unequal their paths are."""
    pairs = [cell for cell in panel.comparable if cell.is_pair]
    means = {name: panel.estimate("goodput", name, "mean") for name in panel.singles}
    left = [means[cell.alone[0]] for cell in pairs]
    right = [means[cell.alone[1]] for cell in pairs]
    amounts = [panel.estimate(criterion.quantity, cell, criterion.statistic) for cell in pairs]

    def rank(draw: int | None) -> float:
        a, b, y = (
            np.array([e.value if draw is None else e.draws[draw] for e in side])
            for side in (left, right, amounts)
        )
        return metrics.spearman(np.abs(np.log(np.maximum(a, 1e-6) / np.maximum(b, 1e-6))), y)

    draws = [rank(draw) for draw in range(len(panel.draws.counts))]
    found = Estimate(rank(None), np.array(draws))
    name = f"Spearman over {len(pairs)} pairs"
    grade = grades.grade_order(found, ">")
    return Finding(
        grade, f"{name} {with_interval(found)}", criterion.published or "rises", "> 0",
        {name: found},
    )  # fmt: skip
