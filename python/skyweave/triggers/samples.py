"""Recent samples, and what conditions ask of them. The present sample is in no window."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping
from itertools import takewhile
from typing import TypeGuard

import numpy as np

Value = float | str | None
"""A number, a text, or nothing: a lost probe, a field that was not there."""
MOST_SAMPLES = 100_000
MOST_S = 3600.0
"""The longest window, and how long samples are kept."""
STALE_PERIODS = 3.0
"""A series whose last sample is older than this many of its periods is not known."""
SLOT_S = 15.0
SLOT_OFFSET_S = 12.0


class Unknown(Exception):
    """What a condition asked for is not known: too few samples, too old, lost."""


class Samples:
    """The samples of all series up to now, by event time."""

    def __init__(self) -> None:
        self.now_s = -math.inf
        self._series: dict[str, deque[tuple[float, Value]]] = {}

    def add(self, time_s: float, row: Mapping[str, Value]) -> None:
        """Take the samples of one moment; times never fall."""
        self.now_s = max(self.now_s, time_s)
        for name, value in row.items():
            there = self._series.setdefault(name, deque(maxlen=MOST_SAMPLES))
            there.append((time_s, value))
            while there[0][0] < time_s - MOST_S:
                there.popleft()

    def present(self, name: str) -> float | str:
        """Return the last sample; :class:`Unknown` if it was lost or is stale."""
        there = self._known(name)
        if self.age_s(name) > STALE_PERIODS * self._period_s(there):
            raise Unknown(f"{name} is stale")
        value = there[-1][1]
        if value is None or (isinstance(value, float) and not math.isfinite(value)):
            raise Unknown(f"the last {name} was lost")
        return value

    def last(self, name: str, count: int) -> list[float]:
        """Return the numbers of the last ``count`` samples before the present one.

        Lost ones are left out; :class:`Unknown` if there are fewer samples, or all are lost.
        """
        there = self._known(name)
        if not 1 <= count < len(there):
            raise Unknown(f"fewer than {count} samples of {name}")
        return self._numbers(name, [there[place][1] for place in range(-1 - count, -1)])

    def within(self, name: str, span_s: float) -> list[float]:
        """Return the numbers of the samples of the last ``span_s`` before the present one.

        :class:`Unknown` if the series has not lasted that long, or all are lost.
        """
        return self._numbers(name, self._recent(name, span_s))

    def count(self, name: str, span_s: float) -> int:
        """Return how many numbers there are in that span; fewer than usual: it has holes."""
        return sum(_is_number(one) for one in self._recent(name, span_s))

    def _recent(self, name: str, span_s: float) -> list[Value]:
        there = self._known(name)
        if not 0 < span_s <= MOST_S or there[0][0] > there[-1][0] - span_s:
            raise Unknown(f"less than {span_s:g} s of {name}")
        begin, past = there[-1][0] - span_s, reversed(there)
        next(past)
        recent = takewhile(lambda one: one[0] >= begin, past)  # an hour may lie before them
        return [value for _, value in recent]

    def age_s(self, name: str) -> float:
        """Return how old the last sample is."""
        return self.now_s - self._known(name)[-1][0]

    def slot_phase(self) -> float:
        """Return the seconds since the slot began."""
        return (self.now_s - SLOT_OFFSET_S) % SLOT_S

    def window(self, begin_s: float, end_s: float) -> list[tuple[float, str, Value]]:
        """Return all samples in a span, by time: the context of a firing."""
        found = [
            (when, name, value)
            for name, there in self._series.items()
            for when, value in there
            if begin_s <= when <= end_s
        ]
        return sorted(found, key=lambda one: one[:2])

    def _known(self, name: str) -> deque[tuple[float, Value]]:
        there = self._series.get(name)
        if not there:
            raise Unknown(f"no {name} yet")
        return there

    def _period_s(self, there: deque[tuple[float, Value]]) -> float:
        """Return the median spacing of the last ten samples; infinite for a single one."""
        times = [there[place][0] for place in range(-min(11, len(there)), 0)]
        return float(np.median(np.diff(times))) if len(times) > 1 else math.inf

    def _numbers(self, name: str, values: list[Value]) -> list[float]:
        found = [one for one in values if _is_number(one)]
        if not found:
            raise Unknown(f"no {name} in the window")
        return found


def _is_number(value: Value) -> TypeGuard[float]:
    return isinstance(value, float) and math.isfinite(value)
