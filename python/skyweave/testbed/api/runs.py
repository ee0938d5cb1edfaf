"""Runs and what they left."""

from __future__ import annotations

import json
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response, StreamingResponse
from sqlalchemy import Connection, Row, or_, select

from skyweave.testbed.api.guards import Asker, asks, office_of
from skyweave.testbed.api.ranges import part_of
from skyweave.testbed.api.sending import Sent
from skyweave.testbed.api.views import ArtefactView, Change, RunDetails, RunView, run_view
from skyweave.testbed.errors import MissingError
from skyweave.testbed.runs.files import path_of
from skyweave.testbed.store.tables import artefacts, nodes, runs, transitions
from skyweave.testbed.wire import Artefact
from skyweave.testbed.wire.names import FileName, Name, RunId

router = APIRouter(prefix="/runs", tags=["runs"])


@router.get("")
def all_runs(
    request: Request, node: Name | None = None, experiment: RunId | None = None,
    state: Annotated[str | None, Query(max_length=16)] = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
    asker: Asker = asks("runs.see"),
) -> list[RunView]:  # fmt: skip
    """List the newest runs of one's own and on one's own nodes, or all."""
    query = select(runs).order_by(runs.c.start.desc(), runs.c.created.desc()).limit(limit)
    for column, wanted in (
        (runs.c.node, node),
        (runs.c.experiment, experiment),
        (runs.c.state, state),
    ):
        if wanted is not None:
            query = query.where(column == wanted)
    if asker.reach == "own":
        brought = select(nodes.c.name).where(nodes.c.owner == asker.name)
        query = query.where(or_(runs.c.owner == asker.name, runs.c.node.in_(brought)))
    with office_of(request).database.read() as connection:
        return [run_view(row) for row in connection.execute(query)]


@router.get("/{run}")
def one_run(request: Request, run: RunId, asker: Asker = asks("runs.see")) -> RunDetails:
    """Show a run with its history."""
    with office_of(request).database.read() as connection:
        row = _row(connection, run, asker, on_own_nodes=True)
        history = connection.execute(
            select(transitions).where(transitions.c.run == run).order_by(transitions.c.number)
        ).all()
        left = connection.execute(
            select(artefacts).where(artefacts.c.run == run).order_by(artefacts.c.name)
        ).all()
    return RunDetails(
        run=run_view(row),
        history=tuple(Change(state=one.state, at_unix_s=one.at, why=one.why) for one in history),
        report=json.loads(row.report) if row.report else None,
        context=row.context,
        artefacts=tuple(_artefact(one) for one in left),
    )


@router.post("/{run}/stop")
def stop(request: Request, run: RunId, asker: Asker = asks("runs.stop")) -> RunView:
    """Stop a run, or let it not begin; an owner may stop whatever is on an own node."""
    office = office_of(request)
    with office.database.read() as connection:
        _row(connection, run, asker, on_own_nodes=True)
    office.keeper.stop(run, asker.name, office.now())
    with office.database.read() as connection:
        return run_view(_row(connection, run, asker, on_own_nodes=True))


@router.get("/{run}/artefacts")
def its_artefacts(
    request: Request, run: RunId, asker: Asker = asks("artefacts.read")
) -> list[ArtefactView]:
    """List the files that a run left."""
    with office_of(request).database.read() as connection:
        _row(connection, run, asker)
        rows = connection.execute(
            select(artefacts).where(artefacts.c.run == run).order_by(artefacts.c.name)
        ).all()
    return [_artefact(row) for row in rows]


@router.get("/{run}/artefacts/{name:path}", response_class=StreamingResponse)
def one_artefact(
    request: Request, run: RunId, name: FileName, asker: Asker = asks("artefacts.read")
) -> Response:
    """Send a file of a run, or a range of it, as bytes to be saved, never as a page to be shown."""
    row, file = stored(request, run, name, asker)
    tag = f'"{file.sha256}"'
    part = part_of(request.headers, file.bytes, tag)
    if part is None:
        return Response(status_code=416, headers={"Content-Range": f"bytes */{file.bytes}"})
    last = quote(name.rpartition("/")[2])
    headers = {
        "Content-Disposition": f"attachment; filename*=UTF-8''{last}",
        "Content-Length": str(part.end - part.begin), "X-Content-Type-Options": "nosniff",
        "Accept-Ranges": "bytes", "ETag": tag,
    }  # fmt: skip
    end = None
    if not part.is_whole:
        headers["Content-Range"] = f"bytes {part.begin}-{part.end - 1}/{file.bytes}"
        end = part.end
    return Sent(
        office_of(request).objects.read(path_of(row, name), part.begin, end),
        200 if part.is_whole else 206, headers, "application/octet-stream",
    )  # fmt: skip


def stored(request: Request, run: str, name: str, asker: Asker) -> tuple[Row[Any], Row[Any]]:
    """Return the rows of a run and of a file that it left; :class:`MissingError` if it is not."""
    office = office_of(request)
    with office.database.read() as connection:
        row = _row(connection, run, asker)
        file = connection.execute(
            select(artefacts).where(
                artefacts.c.run == run, artefacts.c.name == name, artefacts.c.stored.is_not(None)
            )
        ).first()
    if file is None:
        raise MissingError(f"run {run} has no such file, or it has not come yet")
    return row, file


def _row(connection: Connection, run: str, asker: Asker, *, on_own_nodes: bool = False) -> Row[Any]:
    row = connection.execute(select(runs).where(runs.c.id == run)).first()
    if row is not None and not asker.reaches(row.owner):
        owner = select(nodes.c.owner).where(nodes.c.name == row.node)
        if not on_own_nodes or connection.execute(owner).scalar_one() != asker.name:
            row = None
    if row is None:
        raise MissingError(f"there is no run {run} of yours")
    return row


def _artefact(row: Row[Any]) -> ArtefactView:
    artefact = Artefact(name=row.name, bytes=row.bytes, sha256=row.sha256)
    return ArtefactView(artefact=artefact, stored=row.stored is not None)
