"""What nodes and servers tell: kept once, and followed if it is theirs to tell."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Row, select

from skyweave.testbed.access import note
from skyweave.testbed.errors import MissingError
from skyweave.testbed.runs import asking, files, machine
from skyweave.testbed.runs.turn import Turn, situation
from skyweave.testbed.store.tables import events, runs
from skyweave.testbed.wire import (
    Accepted,
    Event,
    Events,
    FarEnd,
    Finished,
    Fired,
    Frozen,
    Ready,
    Refused,
    Started,
)

LATEST_CLOCK_S = 60.0
"""A node's times are believed up to so far in the future."""


def hear(turn: Turn, node: str, told: Events) -> int:
    """Keep events and follow them; return the number up to which all are kept."""
    for event in told.events:
        if _keep(turn, node, told.outbox, event):
            _try_to_follow(turn, node, event)
    return max(event.sequence for event in told.events)


def _keep(turn: Turn, node: str, outbox: str, event: Event) -> bool:
    """Write an event; False if it is there already."""
    key = (
        (events.c.node == node) & (events.c.outbox == outbox)
        & (events.c.sequence == event.sequence)
    )  # fmt: skip
    if turn.connection.execute(select(events.c.kind).where(key)).first():
        return False
    body = event.body
    turn.connection.execute(
        events.insert().values(
            node=node, outbox=outbox, sequence=event.sequence, kind=body.kind,
            run=None if isinstance(body, Fired) else body.run, time=event.time_unix_s,
            received=turn.now, body=body.model_dump_json(),
        )
    )  # fmt: skip
    return True


def _try_to_follow(turn: Turn, node: str, event: Event) -> None:
    """Follow an event; one that cannot be followed must not keep later ones in the outbox."""
    with turn.apart("event.failed", event.body.kind, who=node):
        _follow(turn, node, event)


def _follow(turn: Turn, node: str, event: Event) -> None:
    body = event.body
    if isinstance(body, Fired):
        asking.fire(turn, body.experiment, node, body.trigger, body.start_unix_s, body.context_json)
        return
    try:
        row = turn.run(body.run)
    except MissingError:
        row = None
    by_server = isinstance(body, Ready) or (row is not None and row.server == node)
    if row is None or row.fence != body.fence or node != (row.server if by_server else row.node):
        note(turn.connection, turn.now, node, "event.ignored", body.run, body.kind)
        return
    if by_server:
        _of_server(turn, row, body)
    else:
        _of_node(turn, row, body, min(event.time_unix_s, turn.now + LATEST_CLOCK_S))


def _of_server(turn: Turn, row: Row[Any], body: Any) -> None:
    if isinstance(body, Refused):
        turn.take(row, machine.on_refused(situation(row), body.why, by_server=True))
    elif isinstance(body, Ready):
        step = machine.on_ready(situation(row))
        if step is not None:
            far_end = FarEnd(
                name=row.server, address=body.address, ports=body.ports, token=row.token
            )
            values = {"far_end": far_end.model_dump_json()}
            turn.connection.execute(runs.update().where(runs.c.id == row.id).values(**values))
            turn.take(row, step)


def _of_node(turn: Turn, row: Row[Any], body: Any, time: float) -> None:
    run = situation(row)
    if isinstance(body, Accepted):
        turn.take(row, machine.on_accepted(run))
    elif isinstance(body, Refused):
        why = f"{body.reason}: {body.why}"
        late = body.reason == "late"
        turn.take(row, machine.on_refused(run, why, by_server=False, late=late))
    elif isinstance(body, Started):
        if row.started is None:
            values = {"started": time}
            turn.connection.execute(runs.update().where(runs.c.id == row.id).values(**values))
        turn.take(row, machine.on_started(run))
    elif isinstance(body, Finished):
        _finished(turn, row, body)
    else:
        assert isinstance(body, Frozen)  # kept, and nothing follows


def _finished(turn: Turn, row: Row[Any], body: Finished) -> None:
    if row.state not in machine.ON_NODE:
        return
    values: dict[str, Any] = {"report": body.model_dump_json()}
    if row.started is None:
        values["started"] = body.started_unix_s
    turn.connection.execute(runs.update().where(runs.c.id == row.id).values(**values))
    expected, why = files.expect(turn, row, body.artefacts)
    said = "; ".join(one for one in (body.why, why) if one)
    turn.take(row, machine.on_finished(situation(row), body.outcome, expected, said))
