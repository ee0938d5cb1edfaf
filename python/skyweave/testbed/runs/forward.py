"""Runs that take any gap move forward when an earlier one opens.

A gap opens when a run ends before its time, is stopped or not done. Only what is reserved and not
yet ordered moves, by its own plan alone: whoever gave a time keeps it.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from sqlalchemy import Row, or_, select

from skyweave.testbed.calendar import Interval
from skyweave.testbed.runs import booking, machine
from skyweave.testbed.runs.orders import plan_of
from skyweave.testbed.runs.plan import Plan, Soon
from skyweave.testbed.store.tables import reservations, runs

if TYPE_CHECKING:
    from skyweave.testbed.runs.turn import Turn

LEAST_S = 10.0
"""Less is not worth the move."""
MOST_MOVED = 20
"""Runs that are looked at when a gap opens, the next ones first."""


def move_up(turn: Turn, resources: Collection[str]) -> None:
    """Give reserved runs of these nodes and servers an earlier place, in the order they have."""
    soon = (
        select(runs)
        .where(
            runs.c.state == "reserved", runs.c.start > turn.now + LEAST_S,
            or_(runs.c.node.in_(resources), runs.c.server.in_(resources)),
        )
        .order_by(runs.c.start)
        .limit(MOST_MOVED)
    )  # fmt: skip
    for row in turn.connection.execute(soon).all():
        plan = plan_of(turn.connection, row.experiment)
        if isinstance(plan.when, Soon) and not turn.is_paused(row.node):
            _move(turn, row, plan)


def _move(turn: Turn, row: Row[Any], plan: Plan) -> None:
    """Move one run, or leave it where it is; its own place is no obstacle."""
    connection, own = turn.connection, reservations.c.run == row.id
    held = [dict(one._mapping) for one in connection.execute(select(reservations).where(own))]
    connection.execute(reservations.delete().where(own))
    assert isinstance(plan.when, Soon)
    start = booking.nearest(connection, plan, turn.now, plan.when.before)
    moves = start is not None and start <= row.start - LEAST_S
    if start is not None and moves:
        when: Interval = booking.interval(plan, start)
        held = [one | {"start": when.start, "until": when.end} for one in held]
        step = machine.reserved(start)
        values = {"start": start, "latest": start + plan.tolerance_s, "due": step.due}
        connection.execute(runs.update().where(runs.c.id == row.id).values(**values))
        why = f"a gap opened {row.start - start:.0f} s before its place"
        booking.note_state(connection, row.id, machine.Step("reserved", why=why), turn.now)
    for one in held:
        connection.execute(reservations.insert().values(**one))
