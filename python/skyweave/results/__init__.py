"""A results folder, how its runs are labelled and chosen, and what can be measured of them."""

from skyweave.results.selection import Selection

__all__ = [
    "Selection",
]
