"""What nodes and servers ask: docs/testbed.md has the table."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import StreamingResponse
from sqlalchemy import select
from starlette.concurrency import run_in_threadpool

from skyweave.testbed import wire
from skyweave.testbed.access import note, use_code
from skyweave.testbed.api.attempts import address_of
from skyweave.testbed.api.beats import Beat
from skyweave.testbed.api.guards import (
    Body,
    Sender,
    UnknownError,
    accepts,
    check,
    office_of,
    parsed,
)
from skyweave.testbed.api.office import Office
from skyweave.testbed.api.sending import Sent
from skyweave.testbed.errors import ConflictError, MissingError, RefusedError, TestbedError
from skyweave.testbed.runs.orders import plan_of, waiting
from skyweave.testbed.store.tables import nodes, runs
from skyweave.testbed.wire.names import POLL_S, Digest, RunId

router = APIRouter(prefix="/agent", tags=["nodes and servers"])
Offset = Annotated[int, Query(ge=0, le=2**53)]
JOIN = "join"
"""The key id of a request that brings its key."""


@router.post("/join", openapi_extra=accepts(wire.Join))
def join(request: Request, body: bytes = Body) -> wire.Joined:
    """Enrol a node by the code of an invitation, and by the key that signs this request."""
    office, said = office_of(request), parsed(wire.Join, body)
    try:
        claim = wire.claim_of(request.headers)
        check(office, request, body, claim, lambda name: said.key if name == JOIN else None)
    except wire.WrongClockError:
        raise
    except RefusedError as error:
        raise UnknownError(str(error)) from None
    if said.kind == "server" and said.address is None:
        raise TestbedError("a server says at which address it answers; give one")
    now = office.now()
    with (
        office.attempts.of(address_of(request), now),
        office.database.write() as connection,
    ):
        owner = use_code(connection, said.kind, said.code, now)
        there = connection.execute(
            select(nodes.c.name).where((nodes.c.name == said.name) | (nodes.c.key == said.key))
        ).first()
        if there or said.name == JOIN:
            raise ConflictError(f"a node is called '{said.name}', or has that key; take another")
        connection.execute(
            nodes.insert().values(
                name=said.name, kind=said.kind, owner=owner, key=said.key, address=said.address,
                joined=now, seen=now,
            )
        )  # fmt: skip
        note(connection, now, said.name, f"{said.kind}.join", said.name, f"brought by {owner}")
    return wire.Joined(name=said.name, key=office.key.public, now_unix_s=now)


@router.get("/next")
async def next_orders(request: Request, after: Offset, node: str = Sender) -> wire.Orders:
    """Return the orders that follow number ``after``, as soon as there are any, or after 50 s."""
    office = office_of(request)
    until = asyncio.get_running_loop().time() + POLL_S
    bell = office.bells.wait(node)
    try:
        while True:
            bell.clear()
            found = await run_in_threadpool(_waiting, office, node, after)
            left = until - asyncio.get_running_loop().time()
            if found or left <= 0 or await request.is_disconnected():
                return wire.Orders(now_unix_s=office.now(), orders=found)
            try:
                await asyncio.wait_for(bell.wait(), left)
            except TimeoutError:
                continue
            if not office.bells.is_newest(node, bell):
                return wire.Orders(now_unix_s=office.now())
    finally:
        office.bells.leave(node, bell)


def _waiting(office: Office, node: str, after: int) -> tuple[wire.Signed, ...]:
    with office.database.read() as connection:
        return waiting(connection, node, after)


@router.post("/events", openapi_extra=accepts(wire.Events))
def events(request: Request, body: bytes = Body, node: str = Sender) -> wire.Stored:
    """Keep what happened; what is kept already is left as it is."""
    office, told = office_of(request), parsed(wire.Events, body)
    office.events.use(node, office.now(), len(told.events))
    return wire.Stored(upto=office.keeper.hear(node, told, office.now()))


@router.post("/heartbeat", openapi_extra=accepts(wire.Heartbeat))
def heartbeat(request: Request, body: bytes = Body, node: str = Sender) -> wire.HeartbeatAnswer:
    """Note how a node is."""
    office, said = office_of(request), parsed(wire.Heartbeat, body)
    now = office.now()
    with office.database.write() as connection:
        newest = connection.execute(
            nodes.update()
            .where(nodes.c.name == node)
            .values(seen=now, heartbeat=said.model_dump_json())
            .returning(nodes.c.newest_order)
        ).scalar_one()
    clock = said.clock
    office.beats.add(node, Beat(now, clock.offset_s, clock.error_s, said.dish, said.radio))
    return wire.HeartbeatAnswer(now_unix_s=now, newest_order=newest)


@router.get("/inputs/{sha256}", response_class=Response)
def an_input(request: Request, sha256: Digest, node: str = Sender) -> StreamingResponse:
    """Send the file tree of a run that this node was ordered to do."""
    office = office_of(request)
    with office.database.read() as connection:
        mine = select(runs.c.experiment).where(runs.c.node == node, runs.c.ended.is_(None))
        wanted = {plan_of(connection, one).input for one in connection.execute(mine).scalars()}
    if sha256 not in {one.sha256 for one in wanted if one}:
        raise MissingError("no run of this node needs such an input")
    pieces = office.objects.read(f"inputs/{sha256}")
    return Sent(pieces, media_type="application/octet-stream")


@router.post("/runs/{run}/artefacts", openapi_extra=accepts(wire.Declared))
def declare(request: Request, run: RunId, body: bytes = Body, node: str = Sender) -> wire.Held:
    """Say which file comes, and hear how much of it is here."""
    office, said = office_of(request), parsed(wire.Declared, body)
    with office.database.read() as connection:
        held = office.uploads.begin(connection, node, run, said.artefact)
    return _kept(office, held, said.artefact.bytes)


@router.put("/uploads/{upload}")
def part(
    request: Request, upload: RunId, offset: Offset, body: bytes = Body, node: str = Sender
) -> wire.Held:
    """Add a part of a file at ``offset``."""
    office = office_of(request)
    with office.database.read() as connection:
        held = office.uploads.receive(connection, node, upload, offset, body)
        size = office.uploads.size(connection, upload)
    return _kept(office, held, size)


def _kept(office: Office, held: wire.Held, size: int) -> wire.Held:
    """Keep a file that is all here, and say so; one that is not what was said begins anew."""
    if held.done or held.held < size:
        return held
    if office.uploads.keep(office.keeper.turn, held.upload, office.now()):
        return wire.Held(upload=held.upload, held=size, done=True)
    return wire.Held(upload=held.upload, held=0, done=False)
