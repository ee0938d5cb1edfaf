"""A results folder, how its runs are chosen, and what can be measured of them."""

from skyweave.results.pathset import PathSet
from skyweave.results.selection import Selection

__all__ = ["PathSet", "Selection"]
