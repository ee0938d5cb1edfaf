"""Link profiles: what runs met, as drives that can be emulated."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse
from sqlalchemy import select

from skyweave.testbed.api.guards import office_of
from skyweave.testbed.pages.guards import Visitor, sees
from skyweave.testbed.pages.render import page
from skyweave.testbed.store.tables import artefacts, experiments, runs

router = APIRouter()
DRIVE = "drive.csv"
"""What a node calls the drive of a run."""
MOST_PROFILES = 200


@router.get("/profiles")
def profiles(request: Request, visitor: Visitor = sees("artefacts.read")) -> HTMLResponse:
    """Show the newest drives that runs left."""
    query = (
        select(runs.c.id, runs.c.node, runs.c.server, runs.c.owner, runs.c.started, runs.c.start,
               runs.c.seconds, artefacts.c.bytes, experiments.c.title)
        .join(artefacts, artefacts.c.run == runs.c.id)
        .join(experiments, experiments.c.id == runs.c.experiment)
        .where(artefacts.c.name == DRIVE, artefacts.c.stored.is_not(None))
        .order_by(runs.c.start.desc())
        .limit(MOST_PROFILES)
    )  # fmt: skip
    if visitor.asker.reach == "own":
        query = query.where(runs.c.owner == visitor.asker.name)
    with office_of(request).database.read() as connection:
        found = connection.execute(query).all()
    return page(request, "profiles", visitor, profiles=found, drive=DRIVE)
