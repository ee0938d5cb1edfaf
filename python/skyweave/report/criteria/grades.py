"""The grades (docs/studies.md), as plain logic on estimates.

*reproduced*: the ordering holds with an interval that excludes a tie, and the interval overlaps the
published band. *direction only*: the ordering holds, the rest does not. *not reproduced*: else.
An interval that does not exist (fewer than two drives) excludes nothing.

These three are what the values say. What stands behind the values can take the place of them
(``qualified.py``): *preliminary*, *assumption*, *input or identity*. *not attempted*: no runs.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from skyweave.report.numbers.stats import Estimate

Grade = Literal[
    "reproduced",
    "direction only",
    "not reproduced",
    "preliminary",
    "assumption",
    "input or identity",
    "not attempted",
]
REPRODUCED: Grade = "reproduced"
DIRECTION: Grade = "direction only"
NOT_REPRODUCED: Grade = "not reproduced"
PRELIMINARY: Grade = "preliminary"
ASSUMPTION: Grade = "assumption"
INPUT: Grade = "input or identity"
NOT_ATTEMPTED: Grade = "not attempted"
ORDER: tuple[Grade, ...] = (
    REPRODUCED,
    DIRECTION,
    NOT_REPRODUCED,
    PRELIMINARY,
    ASSUMPTION,
    INPUT,
    NOT_ATTEMPTED,
)
"""As they are counted and listed."""
WEAKER: tuple[Grade, ...] = (
    NOT_ATTEMPTED,
    INPUT,
    REPRODUCED,
    DIRECTION,
    ASSUMPTION,
    PRELIMINARY,
    NOT_REPRODUCED,
)
"""From what says nothing, by what says most, to what fails: the last one there is decides."""


def worst(grades: Iterable[Grade]) -> Grade:
    """Return the weakest of some grades.

    What was not attempted and what is put in count only where there is nothing else.
    """
    return max(grades, key=WEAKER.index)


def grade_order(difference: Estimate, relation: Literal[">", ">="]) -> Grade:
    """Grade "A > B" or "A >= B" by the paired difference A - B.

    ``>``: reproduced if the interval lies above 0. ``>=``: reproduced if A is not below B;
    a B that leads within its interval is a tie, and direction only.
    """
    if relation == ">":
        if difference.low > 0:
            return REPRODUCED
        return DIRECTION if difference.value > 0 else NOT_REPRODUCED
    if difference.value >= 0:
        return REPRODUCED
    return DIRECTION if difference.high >= 0 else NOT_REPRODUCED


def grade_ratio(ratio: Estimate, band: tuple[float, float], published: float) -> Grade:
    """Grade a ratio: on the published side of 1 beyond a tie, and the interval meets the band."""
    above = published >= 1
    if not (ratio.value > 1 if above else ratio.value < 1):
        return NOT_REPRODUCED
    excludes_tie = ratio.low > 1 if above else ratio.high < 1
    meets = ratio.low <= band[1] and ratio.high >= band[0]
    return REPRODUCED if excludes_tie and meets else DIRECTION


def grade_equal(ratio: Estimate, band: tuple[float, float]) -> Grade:
    """Grade "about equal" (published ratio 1): in the band, or an interval that reaches it."""
    if band[0] <= ratio.value <= band[1]:
        return REPRODUCED
    return DIRECTION if ratio.low <= band[1] and ratio.high >= band[0] else NOT_REPRODUCED


def grade_bound(estimate: Estimate, relation: Literal["<", "<=", ">", ">="], limit: float) -> Grade:
    """Grade a bound: the whole interval within it, the value within it, or not."""
    inner = estimate.high if relation.startswith("<") else estimate.low
    if not _holds(estimate.value, relation, limit):
        return NOT_REPRODUCED
    return REPRODUCED if _holds(inner, relation, limit) else DIRECTION


def grade_overlap(first: Estimate, second: Estimate) -> Grade:
    """Grade "the same": each value in the other's interval, or intervals that meet."""
    if second.low <= first.value <= second.high and first.low <= second.value <= first.high:
        return REPRODUCED
    meets = first.low <= second.high and second.low <= first.high
    return DIRECTION if meets else NOT_REPRODUCED


def grade_value(estimate: Estimate, published: float, tolerance: float) -> Grade:
    """Grade a value: within the relative tolerance, an interval that reaches it, or not."""
    low, high = sorted((published * (1 - tolerance), published * (1 + tolerance)))
    if low <= estimate.value <= high:
        return REPRODUCED
    reaches = estimate.low <= high and estimate.high >= low
    return DIRECTION if reaches else NOT_REPRODUCED


def _holds(value: float, relation: str, limit: float) -> bool:
    if relation == "<":
        return value < limit
    if relation == "<=":
        return value <= limit
    return value > limit if relation == ">" else value >= limit
