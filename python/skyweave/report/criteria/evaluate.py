"""Evaluates the criteria of ``published.toml`` on panels; nothing here is about one study."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import singledispatch
from typing import Any

import numpy as np

from skyweave.plotting.words import seeds_text
from skyweave.report.criteria import grades
from skyweave.report.criteria.across import find_across
from skyweave.report.criteria.agreement import NO_PAIRS, find_agreement, members_of
from skyweave.report.criteria.finding import Finding, amount, numbers, with_interval
from skyweave.report.criteria.grades import NOT_TESTED, Grade
from skyweave.report.criteria.window import find_window
from skyweave.report.numbers import metrics
from skyweave.report.numbers.panel import Panel, Results
from skyweave.report.numbers.stats import Estimate
from skyweave.results.pathset import PathSet
from skyweave.results.quantities import words
from skyweave.study.language.criteria import (
    Across,
    Agreement,
    Bound,
    CloseTo,
    Contrast,
    Criterion,
    Identity,
    Ordering,
    RankCorrelation,
    RatioBand,
    Window,
)


@dataclass(frozen=True)
class Outcome:
    """A graded criterion, in words and numbers."""

    id: str
    figure: str
    text: str
    grade: Grade
    ours: str
    published: str
    band: str
    drives: int
    samples: int
    seeds: str
    study_class: str
    data: str
    source: str
    note: str
    values: dict[str, list[float | None]] = field(default_factory=dict)
    """Ours for programs: name to [value, low, high]; null where there is no interval."""


def evaluate(criteria: Sequence[Criterion], results: Results) -> list[Outcome]:
    """Grade each criterion; those whose drives were not run are "not tested"."""
    outcomes = []
    for criterion in criteria:
        if isinstance(criterion, Agreement):
            outcomes.append(_agreement(criterion, results))
            continue
        needed = [criterion.drives]
        needed += [criterion.than] if isinstance(criterion, Contrast) else []
        absent = [name for name in needed if name not in results.groups]
        if absent:
            why = f"Not tested: drives '{absent[0]}' were not there (see the notes on data)."
            outcomes.append(_untested(criterion, why))
        else:
            outcomes.append(_graded(criterion, results))
    return outcomes


def _agreement(criterion: Agreement, results: Results) -> Outcome:
    """Evaluate a comparison of engines; its samples are pairs of runs."""
    cases, finding = find_agreement(criterion, results)
    if finding is None:
        return _untested(criterion, NO_PAIRS)
    members = members_of(cases)
    groups = dict.fromkeys(f"'{case.drives}'" for case in cases)
    return Outcome(
        **_shared(criterion),
        **_told(criterion, finding),
        drives=len({drive for drive, _ in members}),
        samples=sum(len(case.members) for case in cases),
        seeds=seeds_text([seed for _, seed in members]),
        data=f"simulated and live runs on drives {', '.join(groups)}",
    )


def _graded(criterion: Criterion, results: Results) -> Outcome:
    """Evaluate one criterion on its panel."""
    if isinstance(criterion, Across):
        panel, finding = find_across(criterion, results)
    else:
        panel = results.panel(criterion)
        if isinstance(criterion, Contrast):
            finding = _contrast(criterion, panel, results)
        elif isinstance(criterion, Window):
            finding = find_window(criterion, panel, results)
        else:
            finding = _find(criterion, panel)
    return Outcome(
        **_shared(criterion),
        **_told(criterion, finding),
        drives=len(panel.names),
        samples=panel.samples_each,
        seeds=seeds_text(panel.seeds),
        data=data_text(panel),
    )


def _told(criterion: Criterion, finding: Finding) -> dict[str, Any]:
    """Return what a finding says of a criterion."""
    return {
        "grade": finding.grade,
        "ours": finding.ours,
        "published": _typeset(finding.published),
        "band": _typeset(finding.band),
        "note": " ".join(part for part in (criterion.note, finding.note) if part),
        "values": {name: numbers(estimate) for name, estimate in finding.values.items()},
    }


def _untested(criterion: Criterion, note: str) -> Outcome:
    return Outcome(
        **_shared(criterion),
        grade=NOT_TESTED,
        ours="\N{EN DASH}",
        published=_typeset(str(getattr(criterion, "published", ""))),
        band="",
        drives=0,
        samples=0,
        seeds="\N{EN DASH}",
        data="none",
        note=f"{criterion.note} {note}".strip(),
    )


def _typeset(text: str) -> str:
    """Return a relation as it is printed."""
    signs = {">=": "\N{GREATER-THAN OR EQUAL TO}", "<=": "\N{LESS-THAN OR EQUAL TO}"}
    for plain, sign in signs.items():
        text = text.replace(plain, sign)
    return text


def _shared(criterion: Criterion) -> dict[str, Any]:
    keys = ("id", "figure", "text", "study_class", "source")
    return {key: getattr(criterion, key) for key in keys}


def data_text(panel: Panel) -> str:
    """Return where a panel's drives come from, in a few words."""
    return f"{'synthetic' if panel.synthetic else 'measured'} drives '{panel.drives}'"


@singledispatch
def _find(criterion: Any, panel: Panel) -> Finding:
    """Evaluate a criterion on a panel; each kind registers its own below."""
    raise NotImplementedError(type(criterion).__name__)


@_find.register
def _ordering(criterion: Ordering, panel: Panel) -> Finding:
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


@_find.register
def _ratio(criterion: RatioBand, panel: Panel) -> Finding:
    top = panel.estimate(criterion.quantity, criterion.numerator, criterion.statistic)
    below = panel.estimate(criterion.quantity, criterion.denominator, criterion.statistic)
    ratio = top.over(below)
    if criterion.published == 1:
        grade = grades.grade_equal(ratio, criterion.band)
    else:
        grade = grades.grade_ratio(ratio, criterion.band, criterion.published)
    name = f"{criterion.numerator} ÷ {criterion.denominator} ({criterion.statistic})"
    return Finding(
        grade,
        f"{name} {with_interval(ratio)}",
        f"{criterion.published:g}",
        f"{criterion.band[0]:g} to {criterion.band[1]:g}",
        {name: ratio},
    )


@_find.register
def _bound(criterion: Bound, panel: Panel) -> Finding:
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


@_find.register
def _value(criterion: CloseTo, panel: Panel) -> Finding:
    found = panel.estimate(criterion.quantity, criterion.cell, criterion.statistic)
    cell: str = criterion.cell
    if criterion.minus is not None:
        found = panel.estimate(criterion.quantity, criterion.minus, criterion.statistic) - found
        cell = f"{criterion.minus} \N{MINUS SIGN} {cell}"
    name = " ".join(filter(None, (cell, words(criterion.quantity).short, criterion.statistic)))
    return Finding(
        grades.grade_value(found, criterion.published, criterion.tolerance),
        f"{name} {with_interval(found)}",
        f"{criterion.published:g}",
        f"± {criterion.tolerance:.0%}",
        {name: found},
    )


@_find.register
def _correlation(criterion: RankCorrelation, panel: Panel) -> Finding:
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


@_find.register
def _identity(criterion: Identity, panel: Panel) -> Finding:
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


def _contrast(criterion: Contrast, panel: Panel, results: Results) -> Finding:
    """Compare a statistic over all pairs on two groups of drives that were drawn independently."""
    other = results.panel(criterion.model_copy(update={"drives": criterion.than}))
    found = {}
    there = criterion.than_quantity or criterion.quantity
    for one, quantity in ((panel, criterion.quantity), (other, there)):
        cells = [one.samples(quantity, cell) for cell in one.comparable]
        each = [np.concatenate(parts) for parts in zip(*cells, strict=True)]
        found[one.drives] = one.draws.estimate(each, criterion.statistic)
    difference = found[panel.drives] - found[other.drives]
    ours = ", ".join(f"{name} {with_interval(value)}" for name, value in found.items())
    band = f"{panel.drives} > {other.drives}"
    grade = grades.grade_order(difference, ">")
    return Finding(grade, ours, criterion.published or band, band, found)
