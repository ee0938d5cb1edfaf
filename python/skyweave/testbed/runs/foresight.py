"""What the calendar would say to a plan: nothing is reserved by asking."""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import Connection

from skyweave.testbed.calendar import occurrences
from skyweave.testbed.calendar.schedule import FOREVER
from skyweave.testbed.runs import booking
from skyweave.testbed.runs.plan import OnTrigger, Plan, Soon


class Foreseen(NamedTuple):
    """When a plan's first run would begin; else when it is in the way, and when it would not be."""

    fits: bool
    begins: float | None = None
    taken: int | None = None
    nearest: int | None = None


def foresee(connection: Connection, plan: Plan, now: float) -> Foreseen:
    """Return what would become of a plan that was submitted now."""
    if isinstance(plan.when, OnTrigger):
        return Foreseen(True)
    if isinstance(plan.when, Soon):
        start = booking.nearest(connection, plan, now, plan.when.before)
        return Foreseen(start is not None, start)
    found = booking.clash(connection, plan, now)
    if found is not None:
        nearest = booking.proposal(connection, plan, now, found)
        return Foreseen(False, None, found.start, nearest)
    claimed = plan.claimed()
    assert claimed is not None
    first = next(occurrences(claimed, int(now) - plan.tolerance_s, FOREVER), None)
    return Foreseen(first is not None, float(first.start) if first else None)
