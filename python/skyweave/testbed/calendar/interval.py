"""Half-open intervals of whole seconds, and sorted lists of them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import NamedTuple


class Interval(NamedTuple):
    """From ``start`` to just before ``end``, in seconds since 1970 (UTC)."""

    start: int
    end: int

    def overlaps(self, other: Interval) -> bool:
        """Tell whether both hold a common second; neighbours do not."""
        return self.start < other.end and other.start < self.end


def merged(intervals: Iterable[Interval]) -> list[Interval]:
    """Return the union as sorted intervals with gaps between them.

    >>> merged([Interval(10, 20), Interval(0, 10), Interval(30, 40)])
    [Interval(start=0, end=20), Interval(start=30, end=40)]
    """
    found: list[Interval] = []
    start = end = None
    for one in sorted(intervals):
        if one.start >= one.end:
            continue
        if end is None or one.start > end:
            if start is not None and end is not None:
                found.append(Interval(start, end))
            start, end = one
        elif one.end > end:
            end = one.end
    if start is not None and end is not None:
        found.append(Interval(start, end))
    return found


class Timeline:
    """When something is taken; asked by bisection."""

    def __init__(self, intervals: Iterable[Interval] = ()) -> None:
        self.taken: Sequence[Interval] = merged(intervals)
        self._starts = [one.start for one in self.taken]

    def hit(self, wanted: Interval) -> Interval | None:
        """Return what is taken of ``wanted``, the last such interval; None if it is free."""
        if wanted.start >= wanted.end:
            return None
        place = bisect_right(self._starts, wanted.end - 1) - 1
        if place >= 0 and self.taken[place].end > wanted.start:
            return self.taken[place]
        return None

    def gap(self, seconds: int, after: int, before: int) -> int | None:
        """Return the earliest free start at or after ``after`` that ends by ``before``."""
        start = after
        place = max(0, bisect_right(self._starts, after) - 1)
        for one in self.taken[place:]:
            if one.end <= start:
                continue
            if one.start >= start + seconds:
                break
            start = one.end
            if start + seconds > before:
                return None
        return start if start + seconds <= before else None
