"""Who may be beside whom, and when two schedules clash first.

The classes are those of pScheduler: ``exclusive`` has its nodes and servers for itself, ``normal``
shares them with other normal runs, ``background`` fills what is left and makes room for all.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import gcd

import numpy as np

from skyweave.testbed.calendar.interval import Interval, Timeline
from skyweave.testbed.calendar.schedule import FOREVER, HORIZON_S, Cron, Every, Once, occurrences
from skyweave.testbed.wire.run import Priority

Schedule = Once | Every | Cron


def blocks(there: Priority, wanted: Priority) -> bool:
    """Tell whether a run of class ``there`` keeps one of class ``wanted`` from its place."""
    if there == "background":
        return False
    return there == "exclusive" or wanted == "exclusive"


@dataclass(frozen=True)
class Claim:
    """A schedule with what it needs: names of nodes and of servers."""

    schedule: Schedule
    resources: frozenset[str]
    priority: Priority = "exclusive"


def first_clash(there: Claim, wanted: Claim, now: int, horizon: int = HORIZON_S) -> Interval | None:
    """Return the first time from ``now`` on that both claim, None if there is none.

    Exact without a horizon between periodic and single runs. With cron, exact to
    ``now + horizon``: what is farther is a promise.
    """
    if not blocks(there.priority, wanted.priority) or not there.resources & wanted.resources:
        return None
    a, b = there.schedule, wanted.schedule
    if not isinstance(a, Cron) and not isinstance(b, Cron):
        return _periodic(_as_every(a), _as_every(b), now)
    until = now + horizon
    return _sweep(occurrences(a, now, until), occurrences(b, now, until), now)


def first_hit(
    taken: Timeline, schedule: Schedule, now: int, horizon: int = HORIZON_S
) -> Interval | None:
    """Return the first time from ``now`` on at which a schedule needs what is taken.

    As exact as :func:`first_clash`, and in one pass over what is taken.
    """
    if isinstance(schedule, Cron):
        wanted = occurrences(schedule, now, now + horizon)
        return _sweep(taken.taken, wanted, now)
    for one in taken.taken:
        for wanted_one in occurrences(schedule, max(one.start, now), one.end):
            start, end = max(one.start, wanted_one.start, now), min(one.end, wanted_one.end)
            if start < end:
                return Interval(start, end)
    return None


def _as_every(one: Once | Every) -> Every:
    """Return a single run as a periodic one that ends after its first."""
    if isinstance(one, Every):
        return one
    period = max(2, one.seconds)
    return Every(start=one.start, period=period, seconds=one.seconds, until=one.start + 1)


def _periodic(a: Every, b: Every, now: int) -> Interval | None:
    """Return the first clash of periodic runs, by the Chinese remainder theorem.

    A run of ``a`` at s and one of ``b`` at s + d clash if and only if -b.seconds < d < a.seconds,
    and d is b.start - a.start modulo g = gcd of the periods. Each such d has one s modulo their
    least common multiple.
    """
    g = gcd(a.period, b.period)
    r = (b.start - a.start) % g
    if r >= a.seconds and g - r >= b.seconds:
        return None
    common = a.period // g * b.period
    reduced = b.period // g
    inverse = pow(a.period // g, -1, reduced) if reduced > 1 else 0
    lowest = r - (r + b.seconds - 1) // g * g  # the least d above -b.seconds
    d = np.arange(lowest, a.seconds, g, dtype=np.int64)
    steps = (b.start - d - a.start) // g % reduced * inverse % reduced
    s = a.start + steps * a.period
    shorter = np.minimum(a.seconds, d + b.seconds)  # from s to the end of the clash
    least = np.maximum(np.maximum(a.start, b.start - d), now - shorter + 1)
    s += np.maximum(0, -((s - least) // common)) * common
    possible = s <= np.minimum(a.last, b.last - d)
    if not possible.any():
        return None
    begins = np.where(possible, np.maximum(np.maximum(s, s + d), now), FOREVER)
    first = int(np.argmin(begins))
    return Interval(int(begins[first]), int(s[first] + shorter[first]))


def _sweep(a: Iterable[Interval], b: Iterable[Interval], now: int) -> Interval | None:
    """Return the first overlap of two sorted sequences without overlaps within each."""
    left, right = iter(a), iter(b)
    one, other = next(left, None), next(right, None)
    while one is not None and other is not None:
        start, end = max(one.start, other.start, now), min(one.end, other.end)
        if start < end:
            return Interval(start, end)
        if one.end <= other.end:
            one = next(left, None)
        else:
            other = next(right, None)
    return None
