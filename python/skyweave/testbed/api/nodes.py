"""Nodes and servers, as their owners and everybody else see them."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from sqlalchemy import Connection, Row, select

from skyweave.testbed.access import make_code, note
from skyweave.testbed.api.guards import Asker, Body, accepts, asks, office_of, parsed
from skyweave.testbed.api.views import (
    InvitationView,
    InvitationWish,
    NodeChange,
    NodeView,
    node_view,
)
from skyweave.testbed.errors import MissingError, RefusedError, TestbedError
from skyweave.testbed.runs import asking
from skyweave.testbed.store.tables import nodes
from skyweave.testbed.wire import Invitation
from skyweave.testbed.wire.joining import CODE_S
from skyweave.testbed.wire.names import Name

router = APIRouter(tags=["nodes"])


@router.post("/invitations", openapi_extra=accepts(InvitationWish))
def invite(
    request: Request, body: bytes = Body, asker: Asker = asks("nodes.invite")
) -> InvitationView:
    """Invite a node, or a server, which will be the asker's; good for 15 minutes."""
    office, wish = office_of(request), parsed(InvitationWish, body)
    if wish.kind not in ("node", "server"):
        raise TestbedError("invite a 'node' or a 'server'")
    now = office.now()
    office.wishes.use(asker.name, now)
    with office.database.write() as connection:
        code = make_code(connection, wish.kind, asker.name, now)
        note(connection, now, asker.name, "node.invite", wish.kind)
    made = Invitation(url=office.url, code=code, pin=office.pin)
    return InvitationView(invitation=str(made), expires_unix_s=now + CODE_S)


@router.get("/nodes", dependencies=[asks("nodes.see")])
def all_nodes(request: Request) -> list[NodeView]:
    """List nodes and servers."""
    with office_of(request).database.read() as connection:
        rows = connection.execute(select(nodes).order_by(nodes.c.name)).all()
    return [node_view(row) for row in rows]


@router.get("/nodes/{name}", dependencies=[asks("nodes.see")])
def one_node(request: Request, name: Name) -> NodeView:
    """Show a node, or a server."""
    with office_of(request).database.read() as connection:
        return node_view(_row(connection, name))


@router.patch("/nodes/{name}", openapi_extra=accepts(NodeChange))
def change_node(
    request: Request, name: Name, body: bytes = Body, asker: Asker = asks("nodes.pause")
) -> NodeView:
    """Pause a node: nothing new begins there; or let it go on."""
    office, wish = office_of(request), parsed(NodeChange, body)
    with office.database.write() as connection:
        _theirs(asker, _row(connection, name))
        connection.execute(nodes.update().where(nodes.c.name == name).values(paused=wish.paused))
        note(connection, office.now(), asker.name, "node.pause", name, str(wish.paused))
        return node_view(_row(connection, name))


@router.delete("/nodes/{name}")
def revoke_node(request: Request, name: Name, asker: Asker = asks("nodes.revoke")) -> None:
    """Revoke a node or a server permanently; its runs end."""
    office = office_of(request)
    with office.keeper.turn(office.now()) as turn:
        _theirs(asker, _row(turn.connection, name))
        revoked = nodes.update().where(nodes.c.name == name, nodes.c.revoked.is_(None))
        turn.connection.execute(revoked.values(revoked=office.now()))
        asking.revoke(turn, name)
        note(turn.connection, office.now(), asker.name, "node.revoke", name)


def _row(connection: Connection, name: str) -> Row[Any]:
    row = connection.execute(select(nodes).where(nodes.c.name == name)).first()
    if row is None:
        raise MissingError(f"there is no node '{name}'")
    return row


def _theirs(asker: Asker, row: Row[Any]) -> None:
    if not asker.reaches(row.owner):
        raise RefusedError(f"'{row.name}' is not your node")
