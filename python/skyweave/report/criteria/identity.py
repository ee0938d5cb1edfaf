"""Criterion: what has to hold holds for every sample."""

from __future__ import annotations

from typing import Any

import numpy as np

from skyweave.report.criteria import grades
from skyweave.report.criteria.finding import Finding
from skyweave.report.criteria.kinds import of_panel
from skyweave.report.numbers import metrics
from skyweave.report.numbers.panel import Panel
from skyweave.results.pathset import PathSet
from skyweave.study.language.criteria import Identity


@of_panel(Identity)
def identity(criterion: Identity, panel: Panel) -> Finding:
    """Grade whether what has to hold holds for every sample."""
    checked = broken = 0
    for cell in panel.comparable:
        ok = _identity_holds(criterion.identity, panel, cell)
        checked, broken = checked + len(ok), broken + int(np.sum(~ok))
    grade = grades.REPRODUCED if checked and not broken else grades.NOT_REPRODUCED
    ours = f"{broken} of {checked} samples break it"
    return Finding(grade, ours, criterion.published, "0 samples", {})


def _identity_holds(identity: str, panel: Panel, cell: PathSet) -> Any:
    """Tell for each sample (or drive) whether an identity holds."""
    if identity == "max<=sum":
        top, total = panel.pooled("max", cell), panel.pooled("sum", cell)
        return top <= total + 1e-9 * (1 + total)
    paths = [panel.capacity[name] for name in cell.names]
    if identity == "oracle<=sum":
        oracle = [metrics.best_single(p) for p in zip(*paths, strict=True)]
        total = np.concatenate([metrics.total_of(p) for p in zip(*paths, strict=True)])
        return np.concatenate(oracle) <= total + 1e-9 * (1 + total)
    return np.array(
        [
            metrics.concurrent_outage_share(a, b)
            <= min(metrics.outage_share(a), metrics.outage_share(b))
            for a, b in zip(*paths[:2], strict=True)
        ]
    )
