"""Criterion: over several paths no run is worse than over the best of them alone."""

from __future__ import annotations

import numpy as np

from skyweave.report.criteria import grades
from skyweave.report.criteria.finding import Finding, with_interval
from skyweave.report.criteria.grades import Grade
from skyweave.report.criteria.kinds import of_variants
from skyweave.report.criteria.paired import need, open_settings
from skyweave.report.numbers.metrics import Values
from skyweave.report.numbers.panel import Panel
from skyweave.report.numbers.stats import Estimate
from skyweave.report.numbers.variants import Variant
from skyweave.results.pathset import PathSet
from skyweave.results.quantities import words
from skyweave.study.language.criteria import NeverWorse


@of_variants(NeverWorse)
def never_worse(criterion: NeverWorse, found: list[Variant]) -> Finding:
    """Grade whether no run is worse, drive by drive; the worst setting decides."""
    several = open_settings(found, "")
    values: dict[str, Estimate] = {}
    said: list[str] = []
    graded: list[Grade] = []
    for variant in found:
        for cell in _cells(criterion, variant.panel):
            gains = _gains(criterion, variant.panel, cell)
            told = gains[~np.isnan(gains)]
            if not len(told):
                continue
            finite = [gain[np.isfinite(gain)] for gain in gains.reshape(-1, 1)]
            estimate = variant.panel.draws.estimate(finite, "mean")
            worse = int(np.sum(told < -criterion.margin))
            name = ", ".join([cell, *(f"{key} {variant.settings[key]}" for key in several)])
            values[name] = estimate
            mean = with_interval(estimate, words(criterion.quantity).is_share)
            said.append(f"{name}: worse in {worse} of {len(told)}, mean {mean}")
            graded.append(_grade(worse, estimate))
    need(criterion, "their paths (together, and each alone)", said)
    band = "never worse than the best path alone"
    ours = "; ".join(said)
    return Finding(grades.worst(graded), ours, criterion.published or band, band, values)


def _cells(criterion: NeverWorse, panel: Panel) -> list[PathSet]:
    """Return the path sets that are meant, of those whose paths were all run alone."""
    return [cell for cell in panel.comparable if not criterion.cells or cell in criterion.cells]


def _grade(worse: int, gain: Estimate) -> Grade:
    if not worse:
        return grades.REPRODUCED
    return grades.DIRECTION if gain.low > 0 else grades.NOT_REPRODUCED


def _gains(criterion: NeverWorse, panel: Panel, cell: PathSet) -> Values:
    """Return by how much the set is better than the best of its paths, for each drive.

    It is infinite where a film began on no path alone, or not on all together; NaN where a run has
    no such quantity.
    """
    together = _worths(criterion, panel, cell)
    alone = np.max([_worths(criterion, panel, name) for name in cell.alone], axis=0)
    with np.errstate(invalid="ignore"):
        gains: Values = np.where(together == alone, 0.0, together - alone)
    return gains


def _worths(criterion: NeverWorse, panel: Panel, cell: PathSet) -> Values:
    """Return the quantity for each drive, the larger the better; a film that never began: -inf."""
    sign = -1.0 if criterion.least else 1.0
    means = [
        sign * values.mean() if len(values) else np.nan
        for values in panel.samples(criterion.quantity, cell)
    ]
    started = panel.others.get("startup_s", {}).get(cell, [])
    never = np.array([bool(len(s)) and not np.isfinite(s).all() for s in started], dtype=bool)
    return np.where(never, -np.inf, means) if len(never) else np.array(means)
