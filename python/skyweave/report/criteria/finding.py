"""What an evaluation of a criterion found, and its numbers in words."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skyweave.report.criteria.grades import Grade
from skyweave.report.numbers.stats import Estimate


@dataclass(frozen=True)
class Finding:
    """What an evaluation found, before it is put beside its criterion."""

    grade: Grade
    ours: str
    published: str
    band: str
    values: dict[str, Estimate]
    note: str = ""


def with_interval(estimate: Estimate, percent: bool = False) -> str:
    """Return a value with its 95 % interval in brackets, where there is one."""
    value = amount(estimate.value, percent)
    if np.isnan(estimate.low):
        return value
    return f"{value} [{amount(estimate.low, percent)}, {amount(estimate.high, percent)}]"


def amount(value: float, percent: bool) -> str:
    """Return a number with as many digits as it deserves."""
    if np.isnan(value) or np.isinf(value):
        return "\N{INFINITY}" if value > 0 else "\N{EN DASH}"
    if percent:
        return f"{100 * value:.2g} %" if abs(value) < 0.1 else f"{100 * value:.1f} %"
    digits = 0 if abs(value) >= 100 or value == round(value) else 1 if abs(value) >= 10 else 2
    return f"{value:.{digits}f}".replace("-", "\N{MINUS SIGN}")


def numbers(estimate: Estimate) -> list[float | None]:
    """Return value, low and high as JSON can hold them."""
    found = (estimate.value, estimate.low, estimate.high)
    return [float(number) if np.isfinite(number) else None for number in found]
