"""Experiments, their inputs, and the calendar."""

from __future__ import annotations

import contextlib
import hashlib
import tempfile
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from sqlalchemy import Connection, Row, select

from skyweave.testbed.api.guards import Asker, Body, accepts, asks, office_of, parsed
from skyweave.testbed.api.views import (
    CalendarAnswer,
    ExperimentView,
    Firing,
    Submitted,
    Taken,
    experiment_view,
)
from skyweave.testbed.errors import ConflictError, MissingError, RefusedError, TestbedError
from skyweave.testbed.runs import Plan
from skyweave.testbed.runs.asking import check_possible
from skyweave.testbed.runs.foresight import foresee
from skyweave.testbed.store.tables import experiments, inputs, nodes, reservations, runs
from skyweave.testbed.wire.names import Digest, Name, RunId

router = APIRouter(tags=["experiments"])
MOST_ROWS = 500
MOST_TAKEN = 5000
MOST_KEPT_BYTES = 10 * 2**30
"""Inputs of one person."""


@router.put("/inputs/{sha256}")
def put_input(
    request: Request, sha256: Digest, body: bytes = Body,
    asker: Asker = asks("experiments.submit"),
) -> None:  # fmt: skip
    """Upload a file tree (tar) under its digest. The orchestrator never looks into it."""
    office = office_of(request)
    office.wishes.use(asker.name, office.now())
    if not body or hashlib.sha256(body).hexdigest() != sha256:
        raise TestbedError("the body is not what that SHA-256 is of")
    path = f"inputs/{sha256}"
    with office.database.read() as connection:
        held = connection.execute(
            select(inputs.c.bytes).where(inputs.c.owner == asker.name)
        ).scalars()
        if sum(held) + len(body) > MOST_KEPT_BYTES:
            raise ConflictError("your inputs fill 10 GiB; ask an admin")
    if office.objects.size(path) is None:
        with tempfile.NamedTemporaryFile(dir=office.folder) as spool:
            spool.write(body)
            spool.flush()
            with contextlib.suppress(ConflictError):  # of who was faster with the same bytes
                office.objects.put(path, Path(spool.name))
    with office.database.write() as connection:
        mine = (inputs.c.sha256 == sha256) & (inputs.c.owner == asker.name)
        if not connection.execute(select(inputs).where(mine)).first():
            connection.execute(
                inputs.insert().values(
                    sha256=sha256, owner=asker.name, bytes=len(body), created=office.now()
                )
            )


@router.post("/experiments", openapi_extra=accepts(Plan))
def submit(
    request: Request, body: bytes = Body, id: RunId | None = None,
    asker: Asker = asks("experiments.submit"),
) -> Submitted:  # fmt: skip
    """Submit an experiment; a conflict comes with the nearest start that is free.

    With an ``id`` of one's own, 24 random hexadecimal digits, the same may be asked again.
    """
    office, plan = office_of(request), parsed(Plan, body)
    office.wishes.use(asker.name, office.now())
    with office.database.read() as connection:
        _may_use(connection, asker, plan)
    experiment = office.keeper.submit(plan, asker.name, office.now(), id)
    with office.database.read() as connection:
        made = connection.execute(
            select(runs.c.id).where(runs.c.experiment == experiment).limit(MOST_ROWS)
        ).scalars()
        return Submitted(id=experiment, runs=tuple(made))


@router.post("/experiments/check", openapi_extra=accepts(Plan))
def check(
    request: Request, body: bytes = Body, asker: Asker = asks("experiments.submit")
) -> CalendarAnswer:
    """Say whether an experiment would fit, and where the nearest gap is; its input may lack."""
    office, plan = office_of(request), parsed(Plan, body)
    office.wishes.use(asker.name, office.now())
    with office.database.read() as connection:
        _may_use(connection, asker, plan.model_copy(update={"input": None}))
        check_possible(connection, plan, office.now())
        found = foresee(connection, plan, office.now())
    return CalendarAnswer(
        fits=found.fits, begins_unix_s=found.begins, taken_unix_s=found.taken,
        nearest_unix_s=found.nearest,
    )  # fmt: skip


def _may_use(connection: Connection, asker: Asker, plan: Plan) -> None:
    """Refuse other people's nodes to who may use own ones alone, and inputs that are not there."""
    if asker.reach == "own":
        owner = connection.execute(
            select(nodes.c.owner).where(nodes.c.name == plan.node)
        ).scalar_one_or_none()
        if owner != asker.name:
            raise RefusedError(f"'{plan.node}' is not your node; ask for the role 'researcher'")
    if plan.input is not None:
        mine = select(inputs.c.bytes).where(
            inputs.c.sha256 == plan.input.sha256, inputs.c.owner == asker.name
        )
        if connection.execute(mine).scalar_one_or_none() != plan.input.bytes:
            raise MissingError("upload the experiment's input first: PUT /inputs/{sha256}")


@router.get("/experiments")
def all_experiments(
    request: Request, asker: Asker = asks("experiments.see")
) -> list[ExperimentView]:
    """List the newest 500 experiments of one's own, or of all."""
    query = select(experiments).order_by(experiments.c.created.desc()).limit(MOST_ROWS)
    if asker.reach == "own":
        query = query.where(experiments.c.owner == asker.name)
    with office_of(request).database.read() as connection:
        return [experiment_view(row) for row in connection.execute(query)]


@router.get("/experiments/{experiment}")
def one_experiment(
    request: Request, experiment: RunId, asker: Asker = asks("experiments.see")
) -> ExperimentView:
    """Show an experiment."""
    with office_of(request).database.read() as connection:
        return experiment_view(_row(connection, experiment, asker))


@router.delete("/experiments/{experiment}")
def end_experiment(
    request: Request, experiment: RunId, asker: Asker = asks("experiments.end")
) -> None:
    """End an experiment: what is reserved is given back, what runs is stopped."""
    office = office_of(request)
    with office.database.read() as connection:
        _row(connection, experiment, asker)
    office.keeper.end(experiment, asker.name, office.now())


@router.post("/experiments/{experiment}/fire", openapi_extra=accepts(Firing))
def fire(
    request: Request, experiment: RunId, body: bytes = Body,
    asker: Asker = asks("experiments.fire"),
) -> Submitted:  # fmt: skip
    """Start a run of an experiment that waits for a trigger; its policy says if it may begin."""
    office, said = office_of(request), parsed(Firing, body)
    office.wishes.use(asker.name, office.now())
    with office.database.read() as connection:
        _row(connection, experiment, asker)
    run = office.keeper.fire(experiment, said.trigger, said.context_json, office.now())
    if run is None:
        raise ConflictError("that experiment waits for no trigger, is over, or its node is paused")
    return Submitted(id=experiment, runs=(run,))


def _row(connection: Connection, experiment: str, asker: Asker) -> Row[Any]:
    found = select(experiments).where(experiments.c.id == experiment)
    row = connection.execute(found).first()
    if row is None or not asker.reaches(row.owner):
        raise MissingError(f"there is no experiment {experiment} of yours")
    return row


@router.get("/calendar")
def calendar(
    request: Request,
    since: Annotated[int, Query(ge=0, le=10**11)],
    until: Annotated[int, Query(ge=0, le=10**11)],
    node: Name | None = None,
    asker: Asker = asks("calendar.see"),
) -> list[Taken]:
    """Show what is reserved: whose, if one may see that run."""
    query = (
        select(reservations, runs.c.owner, runs.c.priority)
        .join(runs, runs.c.id == reservations.c.run)
        .where(reservations.c.until > since, reservations.c.start < until)
        .order_by(reservations.c.start)
        .limit(MOST_TAKEN)
    )
    if node is not None:
        query = query.where(reservations.c.resource == node)
    sees_all = asker.person.reach("runs.see") == "all"
    with office_of(request).database.read() as connection:
        rows = connection.execute(query).all()
    return [
        Taken(
            resource=row.resource, start_unix_s=row.start, end_unix_s=row.until,
            priority=row.priority,
            run=row.run if sees_all or row.owner == asker.name else None,
            owner=row.owner if sees_all or row.owner == asker.name else None,
        )
        for row in rows
    ]  # fmt: skip
