"""Criterion: the best parameter under a limit on round-trip times lies where it was published."""

from __future__ import annotations

from skyweave.report.criteria import grades
from skyweave.report.criteria.finding import Finding, amount, with_interval
from skyweave.report.criteria.kinds import of_variants
from skyweave.report.criteria.reference import against_reference, best_under
from skyweave.report.numbers.variants import Variant
from skyweave.study.language.criteria import BestUnder


@of_variants(BestUnder)
def best(criterion: BestUnder, found: list[Variant]) -> Finding:
    """Grade whether the best parameter under a limit on RTTs lies where it was published."""
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
