"""What people and triggers ask for: experiments, their end, a run at once."""

from __future__ import annotations

import math

from sqlalchemy import Connection, func, or_, select

from skyweave.testbed.access import new_id, note
from skyweave.testbed.calendar import Once
from skyweave.testbed.calendar.schedule import FOREVER
from skyweave.testbed.errors import ConflictError, MissingError, TestbedError
from skyweave.testbed.runs import booking, machine
from skyweave.testbed.runs.booking import Place
from skyweave.testbed.runs.orders import plan_of
from skyweave.testbed.runs.passing import make_some
from skyweave.testbed.runs.plan import OnTrigger, Plan, Soon
from skyweave.testbed.runs.turn import Turn, situation
from skyweave.testbed.store.tables import experiments, runs

DAY_S = 86_400.0
MOST_GOING = 1000
"""Experiments of one person that are not over."""
MOST_LATER_S = 3600.0
"""How long after a firing its run may be wanted."""


def submit(turn: Turn, plan: Plan, owner: str, name: str | None = None) -> str:
    """Take an experiment, or say what is in its way; return its id. See :class:`Keeper`."""
    if name is not None and _is_there(turn, plan, owner, name):
        return name
    check_possible(turn.connection, plan, turn.now)
    mine = select(func.count()).where(experiments.c.owner == owner, experiments.c.ended.is_(None))
    if turn.connection.execute(mine).scalar_one() >= MOST_GOING:
        raise ConflictError(f"{owner} has {MOST_GOING} experiments going; end some")
    booking.check_free(turn.connection, plan, turn.now)
    experiment = name or new_id()
    turn.connection.execute(
        experiments.insert().values(
            id=experiment, owner=owner, title=plan.title, plan=plan.model_dump_json(),
            created=turn.now,
            materialised=FOREVER if isinstance(plan.when, OnTrigger) else math.floor(turn.now),
        )
    )  # fmt: skip
    note(turn.connection, turn.now, owner, "experiment.submit", experiment, plan.title)
    if isinstance(plan.when, Soon):
        start = booking.nearest(turn.connection, plan, turn.now, plan.when.before)
        if start is None:
            raise ConflictError("there is no gap for it within two days, or before its end")
        turn.add(experiment, owner, plan, Place(start))
        turn.close(experiment)
    elif not isinstance(plan.when, OnTrigger):
        make_some(turn, experiment, owner, plan, math.floor(turn.now) - plan.tolerance_s)
    return experiment


def _is_there(turn: Turn, plan: Plan, owner: str, name: str) -> bool:
    found = select(experiments.c.owner, experiments.c.plan).where(experiments.c.id == name)
    row = turn.connection.execute(found).first()
    if row is not None and (row.owner, row.plan) != (owner, plan.model_dump_json()):
        raise ConflictError("another experiment has that id; choose one at random")
    return row is not None


def check_possible(connection: Connection, plan: Plan, now: float) -> None:
    """Refuse a plan whose node or server is not there, or whose time is past."""
    if not booking.known(connection, plan.node, "node"):
        raise MissingError(f"there is no node '{plan.node}'; 'skyweave testbed nodes' lists all")
    if plan.server and not booking.known(connection, plan.server, "server"):
        raise MissingError(f"there is no server '{plan.server}'")
    if isinstance(plan.when, Once) and plan.when.start + plan.tolerance_s < now:
        raise TestbedError(f"its start, {plan.when.start}, is past; give a later one")


def end(turn: Turn, experiment: str, who: str) -> None:
    """End an experiment: what is reserved is given back, what runs is stopped."""
    found = select(experiments.c.ended).where(experiments.c.id == experiment)
    row = turn.connection.execute(found).first()
    if row is None:
        raise MissingError(f"there is no experiment {experiment}")
    if row.ended is None:
        turn.close(experiment)
    for run in turn.going(runs.c.experiment == experiment):
        turn.take(run, machine.on_stop(situation(run), "cancelled", f"ended by {who}"))
    note(turn.connection, turn.now, who, "experiment.end", experiment)


def revoke(turn: Turn, node: str) -> None:
    """End all runs of a node, or server, that does not belong to the testbed any more."""
    for run in turn.going(or_(runs.c.node == node, runs.c.server == node)):
        if run.node == node:
            turn.take(run, machine.on_revoked(situation(run)))
        else:
            turn.take(run, machine.on_stop(situation(run), "cancelled", "its server was revoked"))
    going = select(experiments.c.id).where(experiments.c.ended.is_(None))
    for experiment in turn.connection.execute(going).scalars().all():
        if node in plan_of(turn.connection, experiment).resources:
            turn.close(experiment)


def fire(
    turn: Turn, experiment: str, node: str | None, trigger: str, start: float | None, context: str
) -> str | None:
    """Start a run of an experiment that waits for a trigger; return its id, None if not.

    ``node`` is where it fired: no other node's experiment is started by it.
    """
    found = select(experiments).where(experiments.c.id == experiment, experiments.c.ended.is_(None))
    row = turn.connection.execute(found).first()
    plan = Plan.model_validate_json(row.plan) if row else None
    if row is None or plan is None or node not in (None, plan.node):
        return None
    if not isinstance(plan.when, OnTrigger) or turn.is_paused(plan.node):
        return None
    begin = min(max(turn.now, start or 0.0), turn.now + MOST_LATER_S)
    place = Place(begin, trigger, context)
    why = _too_many(turn, experiment, plan.when) or _in_the_way(turn, plan, begin)
    if why is None:
        return turn.add(experiment, row.owner, plan, place)
    if plan.when.policy == "wait" and "taken" in why:
        last = begin + plan.when.wait_s + plan.reserved_s + 1
        later = booking.nearest(turn.connection, plan, begin, last, background_counts=True)
        if later is not None:
            return turn.add(experiment, row.owner, plan, Place(later, trigger, context))
    return booking.add_skipped(turn.connection, experiment, row.owner, plan, place, why, turn.now)


def _too_many(turn: Turn, experiment: str, when: OnTrigger) -> str | None:
    today = select(func.count()).where(
        runs.c.experiment == experiment, runs.c.created > turn.now - DAY_S,
        runs.c.state != "skipped",
    )  # fmt: skip
    if turn.connection.execute(today).scalar_one() >= when.runs_per_day:
        return f"it ran {when.runs_per_day} times in a day already"
    return None


def _in_the_way(turn: Turn, plan: Plan, start: float) -> str | None:
    assert isinstance(plan.when, OnTrigger)
    when = booking.interval(plan, start)
    there = booking.book(
        turn.connection, plan.resources, when.start, when.end,
        background_counts=plan.when.policy != "pre-empt",
    )  # fmt: skip
    hit = there.hit(plan.resources, when, plan.priority)
    return f"its node or server was taken until {hit.end}" if hit else None
