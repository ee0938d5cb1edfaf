"""Evaluates criteria that compare runs under different settings, paired by drive."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import singledispatch
from typing import Any

import numpy as np

from skyweave.errors import ResultsError
from skyweave.report.criteria import grades
from skyweave.report.criteria.finding import Finding, amount, with_interval
from skyweave.report.numbers import metrics
from skyweave.report.numbers.metrics import Values
from skyweave.report.numbers.panel import Panel, Results
from skyweave.report.numbers.stats import Estimate
from skyweave.report.numbers.variants import Variant, cells_or_default, variants
from skyweave.results.pathset import PathSet
from skyweave.results.quantities import words
from skyweave.study.language.criteria import (
    Across,
    BestUnder,
    Between,
    Covers,
    Every,
    FirstInShare,
    Spread,
    Trend,
)
from skyweave.study.language.figures import PublishedValue
from skyweave.study.language.labels import with_linked

Groups = dict[tuple[str, ...], dict[Any, Estimate]]


def find_across(criterion: Across, results: Results) -> tuple[Panel, Finding]:
    """Evaluate a criterion over all variants of its selection."""
    found = variants(results, criterion, getattr(criterion, "where_any", None))
    if isinstance(criterion, Covers):
        return found[0].panel, _covered(criterion, found, results.published)
    return found[0].panel, _find(criterion, found)


@singledispatch
def _find(criterion: Any, found: list[Variant]) -> Finding:
    """Evaluate one kind of criterion; each kind registers its own below."""
    raise NotImplementedError(type(criterion).__name__)


def together(formula: Callable[[Values], Any], parts: Sequence[Estimate]) -> Estimate:
    """Return a formula of several paired estimates; it reduces axis 0 of their values."""
    value = formula(np.array([[part.value] for part in parts]))
    draws = formula(np.array([part.draws for part in parts]))
    draws = np.asarray(draws, dtype=float)
    return Estimate(float(np.asarray(value)[0]), draws[~np.isnan(draws)])


def grouped(criterion: Across, found: Sequence[Variant], key: str) -> Groups:
    """Return, for each path set under each combination of other settings, a value of each key."""
    groups: Groups = defaultdict(dict)
    for variant in found:
        for cell in cells_or_default(variant.panel, criterion.cells):
            estimate = variant.panel.estimate(criterion.quantity, cell, criterion.statistic)
            groups[(cell, *variant.others(key))][variant.settings[key]] = estimate
    return groups


def _need(criterion: Across, key: str, groups: Sequence[Any]) -> None:
    """Refuse a criterion for which no two runs differ in the setting alone."""
    if not groups:
        raise ResultsError(
            f"criterion '{criterion.id}': no two of its runs differ in {key} alone; correct it and "
            "give the same command again: nothing is run anew"
        )


@_find.register
def _first(criterion: FirstInShare, found: list[Variant]) -> Finding:
    groups = [g for g in grouped(criterion, found, criterion.by).values() if criterion.winner in g]
    _need(criterion, criterion.by, groups)
    leads = []
    for group in groups:
        winner = group[criterion.winner]
        others = [e for value, e in group.items() if value != criterion.winner]
        leads.append(together(_leads(-1.0 if criterion.least else 1.0), [winner, *others]))
    share = together(lambda v: np.mean(v, axis=0), leads)
    name = f"{criterion.winner} first in"
    return Finding(
        grades.grade_bound(share, ">=", criterion.share),
        f"{name} {with_interval(share, True)} of {len(groups)} cells",
        criterion.published or f"in >= {criterion.share:.0%} of cells",
        f">= {criterion.share:.0%}",
        {name: share},
    )


def _leads(sign: float) -> Callable[[Values], Any]:
    """Return whether the first of several values is the largest (``sign`` -1: the smallest)."""
    return lambda v: np.all(sign * v[0] >= sign * v[1:], axis=0)


@_find.register
def _every(criterion: Every, found: list[Variant]) -> Finding:
    several = _open_settings(found, "")
    each = {}
    for variant in found:
        for cell in cells_or_default(variant.panel, criterion.cells):
            estimate = variant.panel.estimate(criterion.quantity, cell, criterion.statistic)
            parts: list[str] = [cell] if len(criterion.cells) > 1 else []
            parts += [f"{key} {variant.settings[key]}" for key in several]
            each[", ".join(parts) or cell] = estimate
    percent = words(criterion.quantity).is_share
    grade = grades.worst(
        grades.grade_bound(e, criterion.relation, criterion.limit) for e in each.values()
    )
    band = f"{criterion.relation} {amount(criterion.limit, percent)}"
    ours = ", ".join(f"{name}: {with_interval(e, percent)}" for name, e in each.items())
    return Finding(grade, ours, criterion.published or band, band, each)


def _covered(
    criterion: Covers, found: list[Variant], published: Sequence[PublishedValue]
) -> Finding:
    """Count the published values that lie within 90 % of our runs."""
    inside: list[str] = []
    outside: list[str] = []
    for value in published:
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
    _need(criterion, criterion.by, [*inside, *outside])
    share = len(inside) / (len(inside) + len(outside))
    return Finding(
        grades.REPRODUCED if share >= criterion.share else grades.NOT_REPRODUCED,
        f"{len(inside)} of {len(inside) + len(outside)} within p5 to p95 of our runs",
        criterion.published,
        f">= {criterion.share:.0%} of them",
        {"share inside": Estimate(share, np.empty(0))},
        f"Outside: {'; '.join(outside)}." if outside else "",
    )


@_find.register
def _spread(criterion: Spread, found: list[Variant]) -> Finding:
    spreads = {}
    for key in (criterion.by, criterion.than):
        groups = [g for g in grouped(criterion, found, key).values() if len(g) > 1]
        _need(criterion, key, groups)
        each = [together(_relative_range, list(group.values())) for group in groups]
        spreads[key] = together(lambda v: np.nanmean(v, axis=0), each)
    narrow, wide = spreads[criterion.by], spreads[criterion.than]
    ours = ", ".join(f"over {key} {with_interval(e, True)}" for key, e in spreads.items())
    band = f"over {criterion.by} < over {criterion.than}"
    grade = grades.grade_order(wide - narrow, ">")
    return Finding(grade, ours, criterion.published or band, band, spreads)


def _relative_range(values: Values) -> Values:
    """Return (largest - smallest) / mean along axis 0; 0 where all are 0."""
    mean = np.mean(values, axis=0)
    width = np.max(values, axis=0) - np.min(values, axis=0)
    relative: Values = np.divide(width, mean, out=np.zeros_like(width), where=mean > 0)
    return relative


@_find.register
def _trend(criterion: Trend, found: list[Variant]) -> Finding:
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


@_find.register
def _best(criterion: BestUnder, found: list[Variant]) -> Finding:
    found = [
        v
        for v in found
        if v.number(criterion.parameter) is not None
        or v.settings["congestion"] == criterion.reference
    ]
    gains, rises = against_reference(found, criterion.reference, criterion.cells)
    best = best_under(gains, rises, criterion.rtt_rise_below)
    if best is None:
        ours = f"no cell keeps p95 RTT below +{criterion.rtt_rise_below:.0%}"
        return Finding(grades.NOT_REPRODUCED, ours, criterion.published, _wanted(criterion), {})
    variant = next(v for v in found if v.settings["congestion"] == best)
    gain, rise = gains[best], rises[best]
    at = variant.number(criterion.parameter)
    in_place = at is not None and at >= criterion.at_least
    grade = grades.NOT_REPRODUCED
    if in_place and gain.value > 0:
        meets = gain.low <= criterion.band[1] and gain.high >= criterion.band[0]
        grade = grades.REPRODUCED if gain.low > 0 and meets else grades.DIRECTION
    return Finding(
        grade,
        f"best is {best}: throughput {with_interval(gain, True)}, p95 RTT "
        f"{with_interval(rise, True)}",
        criterion.published,
        _wanted(criterion),
        {"gain": gain, "rtt rise": rise},
        "The interval is of the chosen cell; choosing the best of many flatters its gain a little.",
    )


def _wanted(criterion: BestUnder) -> str:
    low, high = (amount(edge, True) for edge in criterion.band)
    return (
        f"{criterion.parameter} >= {criterion.at_least:g}, gain {low} to {high}, "
        f"RTT < +{criterion.rtt_rise_below:.0%}"
    )


def against_reference(
    found: Sequence[Variant], reference: str, cells: Sequence[PathSet]
) -> tuple[dict[str, Estimate], dict[str, Estimate]]:
    """Return for each congestion control the change of mean goodput and of p95 srtt, as shares."""
    changes: list[dict[str, Estimate]] = []
    for quantity, statistic in (("goodput", "mean"), ("srtt_ms", "p95")):
        each = {}
        for variant in found:
            cell = cells_or_default(variant.panel, cells)[0]
            each[variant.settings["congestion"]] = variant.panel.estimate(quantity, cell, statistic)
        changes.append(
            {
                name: together(lambda v: v[0] / v[1] - 1, [value, each[reference]])
                for name, value in each.items()
            }
        )
    return changes[0], changes[1]


def best_under(gains: dict[str, Estimate], rises: dict[str, Estimate], limit: float) -> str | None:
    """Return the name with the largest gain among those whose RTT rises by less than ``limit``."""
    allowed = [name for name in gains if rises[name].value < limit]
    return max(allowed, key=lambda name: gains[name].value) if allowed else None


@_find.register
def _between(criterion: Between, found: list[Variant]) -> Finding:
    compared: dict[str, Estimate] = {}
    several = _open_settings(found, criterion.by)
    for key, group in grouped(criterion, found, criterion.by).items():
        where = _where(found, criterion, key, several)
        for other in criterion.second:
            if criterion.first in group and other in group:
                pair = [group[criterion.first], group[other]]
                compared[f"{_name(criterion, other)}{where}"] = together(
                    _ratio if criterion.measure == "ratio" else _difference, pair
                )
    _need(criterion, criterion.by, list(compared))
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


def _open_settings(found: Sequence[Variant], by: str) -> list[str]:
    """Return the settings besides ``by`` that differ among variants."""
    keys = [key for key in found[0].settings if key not in with_linked([by])]
    return [key for key in keys if len({str(v.settings[key]) for v in found}) > 1]


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
