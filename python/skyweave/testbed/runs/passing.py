"""What time brings: promises become runs, runs are ordered, what stays away is given up."""

from __future__ import annotations

import math
from itertools import islice

from sqlalchemy import select

from skyweave.testbed.access import note
from skyweave.testbed.calendar import Cron, Every, Once
from skyweave.testbed.runs import booking, machine
from skyweave.testbed.runs.booking import Place
from skyweave.testbed.runs.plan import Plan
from skyweave.testbed.runs.turn import Turn
from skyweave.testbed.store.tables import codes, experiments, orders, runs
from skyweave.testbed.wire.names import LONGEST_RUN_S

AHEAD_S = 3600
"""Runs of promises are made that far ahead,"""
REFILL_S = 1800
"""and again when there are fewer than these."""
DAY_S = 86_400.0
AT_ONCE = 50
"""Runs that one transaction makes, or looks at: others wait meanwhile."""
MOST_MISSED = 100_000
LATER_S = 60.0
"""When what could not be done is tried again."""


def make_runs(turn: Turn) -> bool:
    """Make runs of promises up to the horizon; return whether there are more."""
    due = (
        select(experiments)
        .where(
            experiments.c.ended.is_(None),
            experiments.c.materialised < math.floor(turn.now) + REFILL_S,
        )
        .order_by(experiments.c.materialised)
        .limit(1)
    )
    row = turn.connection.execute(due).first()
    if row is None:
        return False
    with turn.apart("runs.failed", row.id) as went:
        make_some(turn, row.id, row.owner, Plan.model_validate_json(row.plan), row.materialised)
    if not went.well:
        later = math.floor(turn.now) + REFILL_S + LATER_S
        which = experiments.update().where(experiments.c.id == row.id)
        turn.connection.execute(which.values(materialised=int(later)))
    return True


def make_some(turn: Turn, experiment: str, owner: str, plan: Plan, since: int) -> None:
    """Make up to :data:`AT_ONCE` runs that begin at ``since`` or later, and note how far."""
    upto = math.floor(turn.now) + AHEAD_S
    if isinstance(plan.when, Once | Every | Cron):
        first = max(since, math.floor(turn.now) - plan.tolerance_s)
        if missed := sum(1 for _ in islice(plan.when.starts(since, first), MOST_MISSED)):
            why = f"{missed} starts passed while the orchestrator was away"
            note(turn.connection, turn.now, "orchestrator", "runs.missed", experiment, why)
        for made, start in enumerate(plan.when.starts(first, upto), 1):
            _make_one(turn, experiment, owner, plan, Place(float(start)))
            if made == AT_ONCE:
                upto = start + 1
                break
        last = plan.when.start + 1 if isinstance(plan.when, Once) else plan.when.until
        if upto >= last:
            turn.close(experiment)
    turn.connection.execute(
        experiments.update().where(experiments.c.id == experiment).values(materialised=upto)
    )


def _make_one(turn: Turn, experiment: str, owner: str, plan: Plan, place: Place) -> None:
    when = booking.interval(plan, place.start)
    there = booking.book(turn.connection, plan.resources, when.start, when.end, promises=False)
    if there.hit(plan.resources, when, plan.priority):
        why = "its place was taken when its day came"
        booking.add_skipped(turn.connection, experiment, owner, plan, place, why, turn.now)
    else:
        turn.add(experiment, owner, plan, place)


def look_at_due(turn: Turn) -> bool:
    """Take the steps that the time brings; return whether there may be more."""
    due = select(runs).where(runs.c.due <= turn.now).order_by(runs.c.due).limit(AT_ONCE)
    rows = turn.connection.execute(due).all()
    for one in rows:
        row = turn.run(one.id)  # an earlier step may have been about this run
        if row.due is None or row.due > turn.now:
            continue
        with turn.apart("run.failed", row.id) as went:
            done = turn.on_time(row)
        if not went.well or not done:  # never at once again
            wait = LATER_S if not went.well else 1.0
            later = runs.update().where(runs.c.id == row.id).values(due=turn.now + wait)
            turn.connection.execute(later)
    return len(rows) == AT_ONCE


def forget(turn: Turn) -> None:
    """Remove orders that no node can follow any more, and codes that nobody can use."""
    old = turn.now - machine.AWAY_S - LONGEST_RUN_S - DAY_S
    turn.connection.execute(orders.delete().where(orders.c.issued < old))
    turn.connection.execute(codes.delete().where(codes.c.expires < turn.now - DAY_S))
