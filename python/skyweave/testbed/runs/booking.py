"""Places in the calendar: looked for, and taken, in one transaction with what takes them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from sqlalchemy import Connection, select

from skyweave.testbed.access.secrets import new_id
from skyweave.testbed.calendar import (
    Book,
    Claim,
    Cron,
    Every,
    Interval,
    Once,
    Reservation,
    first_clash,
    first_hit,
    occurrences,
)
from skyweave.testbed.calendar.schedule import FOREVER
from skyweave.testbed.errors import ConflictError
from skyweave.testbed.runs import machine
from skyweave.testbed.runs.plan import Plan
from skyweave.testbed.store.database import counted
from skyweave.testbed.store.tables import experiments, nodes, reservations, runs, transitions
from skyweave.testbed.wire.run import Priority

FAR_S = 2 * 86_400
"""How far ahead a gap is looked for."""
SHIFTS = 200
"""How many places a proposal for periodic runs tries."""


@dataclass(frozen=True)
class Place:
    """A run that is to be: when, and why."""

    start: float
    trigger: str | None = None
    context: str | None = None
    again_of: str = ""


def book(
    connection: Connection, resources: frozenset[str], since: int, until: int,
    *, background_counts: bool = False, promises: bool = True,
) -> Book:  # fmt: skip
    """Return what is reserved, or promised, of some resources in a time."""
    rows = connection.execute(
        select(reservations, runs.c.priority)
        .join(runs, runs.c.id == reservations.c.run)
        .where(
            reservations.c.resource.in_(resources), reservations.c.until > since,
            reservations.c.start < until,
        )
    )  # fmt: skip

    def priority(said: Priority) -> Priority:
        return "exclusive" if background_counts and said == "background" else said

    there = [
        Reservation(row.resource, Interval(row.start, row.until), priority(row.priority))
        for row in rows
    ]
    for plan, schedule in _promises(connection, resources) if promises else ():
        for when in occurrences(schedule, since, until):
            there += [Reservation(one, when, plan.priority) for one in plan.resources]
    return Book(there)


def interval(plan: Plan, start: float) -> Interval:
    """Return the whole seconds that a run takes which is to begin at ``start``."""
    return Interval(math.floor(start), math.ceil(start + plan.reserved_s))


def add_run(
    connection: Connection, experiment: str, owner: str, plan: Plan, place: Place, now: float
) -> str:
    """Write a run with its reservations; the database refuses what is taken."""
    fence, run = counted(connection, "fence"), new_id()
    step = machine.reserved(place.start)
    connection.execute(
        runs.insert().values(
            id=run, experiment=experiment, owner=owner, node=plan.node, server=plan.server,
            priority=plan.priority, start=place.start, latest=place.start + plan.tolerance_s,
            seconds=float(plan.when.seconds), state=step.state, fence=fence, due=step.due,
            trigger=place.trigger, context=place.context, again_of=place.again_of, created=now,
        )
    )  # fmt: skip
    note_state(connection, run, step, now)
    share = {"exclusive": fence, "normal": 0, "background": None}[plan.priority]
    when = interval(plan, place.start)
    for resource in sorted(plan.resources):
        connection.execute(
            reservations.insert().values(
                run=run, resource=resource, start=when.start, until=when.end, share=share
            )
        )
    return run


def add_skipped(
    connection: Connection, experiment: str, owner: str, plan: Plan, place: Place, why: str,
    now: float,
) -> str:  # fmt: skip
    """Write a run that found no place: it is over before it began, and is there to be seen."""
    run, step = new_id(), machine.Step("skipped", why=why)
    connection.execute(
        runs.insert().values(
            id=run, experiment=experiment, owner=owner, node=plan.node, server=plan.server,
            priority=plan.priority, start=place.start, latest=place.start + plan.tolerance_s,
            seconds=float(plan.when.seconds), state="skipped", why=why, due=None, ended=now,
            fence=counted(connection, "fence"), trigger=place.trigger, context=place.context,
            again_of=place.again_of, created=now,
        )
    )  # fmt: skip
    note_state(connection, run, step, now)
    return run


def note_state(connection: Connection, run: str, step: machine.Step, now: float) -> None:
    """Add a line to the history of a run; the database takes one final state alone."""
    count = select(transitions.c.number).where(transitions.c.run == run)
    number = 1 + max(connection.execute(count).scalars(), default=0)
    connection.execute(
        transitions.insert().values(
            run=run, number=number, state=step.state, at=now, why=step.why[:500],
            final=step.is_final,
        )
    )  # fmt: skip


def check_free(connection: Connection, plan: Plan, now: float) -> None:
    """Raise :class:`ConflictError` with a proposal if a plan's times are taken."""
    found = clash(connection, plan, now)
    if found is None:
        return
    said = f"{plan.node} is taken at {found.start}" if not plan.server else (
        f"{plan.node} or {plan.server} is taken at {found.start}"
    )  # fmt: skip
    free = proposal(connection, plan, now, found)
    hint = f"the nearest free start is {free}" if free is not None else "no gap is near"
    raise ConflictError(f"{said} (Unix seconds); {hint}")


def clash(connection: Connection, plan: Plan, now: float) -> Interval | None:
    """Return the first time at which a plan cannot have its place; promises of others count."""
    schedule = plan.claimed()
    if schedule is None:
        return None
    second = math.floor(now)
    wanted = Claim(schedule, plan.resources, plan.priority)
    there = book(connection, plan.resources, second, FOREVER, promises=False)
    found = [first_hit(there.timeline(plan.resources, plan.priority), schedule, second)]
    for other, promise in _promises(connection, plan.resources):
        claim = Claim(promise, other.resources, other.priority)
        found.append(first_clash(claim, wanted, second))
    return min((one for one in found if one is not None), default=None)


def _promises(
    connection: Connection, resources: frozenset[str]
) -> Iterator[tuple[Plan, Once | Every | Cron]]:
    """Yield the plans whose runs are not all made yet, from where they are made to."""
    going = select(experiments.c.plan, experiments.c.materialised).where(
        experiments.c.ended.is_(None)
    )
    for row in connection.execute(going):
        plan = Plan.model_validate_json(row.plan)
        schedule = plan.claimed()
        if schedule is None or not plan.resources & resources:
            continue
        if isinstance(schedule, Every) and row.materialised > schedule.start:
            steps = -(-(row.materialised - schedule.start) // schedule.period)
            start = schedule.start + steps * schedule.period
            if start >= schedule.until:
                continue
            schedule = schedule.model_copy(update={"start": start})
        elif isinstance(schedule, Cron) and row.materialised > schedule.start:
            schedule = schedule.model_copy(update={"start": row.materialised})
        yield plan, schedule


def proposal(connection: Connection, plan: Plan, now: float, found: Interval) -> int | None:
    """Return a start near the wanted one at which a plan would fit; None if none is found."""
    when = plan.when
    if not isinstance(when, Once | Every):
        return None
    moved = plan
    for _ in range(SHIFTS):
        begun = moved.when
        assert isinstance(begun, Once | Every)
        start = begun.start + max(1, found.end - max(found.start, begun.start))
        if isinstance(when, Every) and start >= when.start + when.period:
            return None
        changed = begun.model_copy(update={"start": start})
        moved = moved.model_copy(update={"when": changed})
        again = clash(connection, moved, now)
        if again is None:
            return start
        found = again
    return None


def nearest(
    connection: Connection, plan: Plan, after: float, before: float | None = None,
    *, background_counts: bool = False,
) -> float | None:  # fmt: skip
    """Return when a single run of a plan can begin, among runs and promises; None if never."""
    since = math.floor(after)
    until = min(since + FAR_S, math.floor(before)) if before is not None else since + FAR_S
    taken = book(connection, plan.resources, since, until, background_counts=background_counts)
    seconds = plan.reserved_s + 1  # a start within a second takes a part of the next
    start = taken.nearest(plan.resources, seconds, plan.priority, since, until)
    return None if start is None else max(float(start), after)


def known(connection: Connection, name: str, kind: str) -> bool:
    """Tell whether a node, or a server, belongs to the testbed."""
    row = connection.execute(
        select(nodes.c.name).where(
            nodes.c.name == name, nodes.c.kind == kind, nodes.c.revoked.is_(None)
        )
    ).first()
    return row is not None
