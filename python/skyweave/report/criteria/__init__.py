"""Criteria of a study against its runs: findings, and how they are graded.

A kind of criterion is a file that registers itself when it is imported: a line in this list.
"""

from skyweave.report.criteria import (
    agreement,
    best_under,
    between,
    bound,
    contrast,
    covers,
    every,
    first_in_share,
    gain_share,
    identity,
    never_worse,
    ordering,
    overlap,
    rank_correlation,
    ratio,
    spread,
    trend,
    value,
    window,
)

__all__ = [
    "agreement",
    "best_under",
    "between",
    "bound",
    "contrast",
    "covers",
    "every",
    "first_in_share",
    "gain_share",
    "identity",
    "never_worse",
    "ordering",
    "overlap",
    "rank_correlation",
    "ratio",
    "spread",
    "trend",
    "value",
    "window",
]
