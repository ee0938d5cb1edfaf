"""Runs: all of them, one with its history and its files, and files that can be looked at."""

from __future__ import annotations

import json
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response, StreamingResponse

from skyweave.testbed.api import runs as api
from skyweave.testbed.api.guards import Asker, office_of
from skyweave.testbed.api.sending import Sent
from skyweave.testbed.api.views import RunDetails
from skyweave.testbed.errors import MissingError
from skyweave.testbed.pages.guards import Visitor, acts, sees
from skyweave.testbed.pages.render import PLACE, page
from skyweave.testbed.runs.files import path_of
from skyweave.testbed.runs.machine import FINAL, STATES
from skyweave.testbed.wire.names import FileName, RunId

router = APIRouter()
MOST_RUNS = 100
SHOWN = {
    "html": "text/html", "svg": "image/svg+xml", "png": "image/png",
    "txt": "text/plain", "log": "text/plain", "json": "text/plain", "csv": "text/plain",
    "toml": "text/plain", "md": "text/plain",
}  # fmt: skip
SANDBOX = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:"
"""What a run wrote may be shown, in a place of its own: no scripts, no forms, no session."""


@router.get("/runs")
def all_runs(
    request: Request, state: Annotated[str, Query(max_length=16)] = "",
    node: Annotated[str, Query(max_length=39)] = "", visitor: Visitor = sees("runs.see"),
) -> HTMLResponse:  # fmt: skip
    """Show the newest runs."""
    found = api.all_runs(
        request, node=node or None, state=state or None, limit=MOST_RUNS, asker=visitor.asker
    )
    return page(
        request, "runs", visitor, runs=found, states=STATES, state=state, node=node, most=MOST_RUNS
    )


@router.get("/runs/{run}")
def one_run(request: Request, run: RunId, visitor: Visitor = sees("runs.see")) -> HTMLResponse:
    """Show a run."""
    found = api.one_run(request, run, visitor.asker)
    readable = visitor.may("artefacts.read", found.run.owner)
    names = [one.artefact.name for one in found.artefacts if one.stored]
    return page(
        request, "run", visitor, details=found, run=found.run, record=_record(found),
        readable=readable, shown=SHOWN, over=found.run.state in FINAL,
        reports=[one for one in names if one.endswith(".html")],
    )  # fmt: skip


def _record(details: RunDetails) -> dict[str, Any]:
    """Return what ran, as its node said it: an object of hostile text."""
    try:
        said = json.loads((details.report or {}).get("record_json", "{}"))
    except (ValueError, RecursionError):
        return {}
    return said if isinstance(said, dict) else {}


@router.post("/runs/{run}/stop")
def stop(request: Request, run: RunId, visitor: Visitor = acts("runs.stop")) -> RedirectResponse:
    """Stop a run, or let it not begin."""
    api.stop(request, run, visitor.asker)
    return RedirectResponse(f"{PLACE}/runs/{run}", 303)


@router.get("/runs/{run}/artefacts/{name:path}", response_class=StreamingResponse)
def artefact(
    request: Request, run: RunId, name: FileName, visitor: Visitor = sees("artefacts.read")
) -> Response:
    """Send a file of a run, to be saved."""
    return api.one_artefact(request, run, name, visitor.asker)


@router.get("/runs/{run}/shown/{name:path}", response_class=StreamingResponse)
def shown(
    request: Request, run: RunId, name: FileName, visitor: Visitor = sees("artefacts.read")
) -> StreamingResponse:
    """Show a file of a run, such as the report of a study."""
    return _shown(request, run, name, visitor.asker)


def _shown(request: Request, run: str, name: str, asker: Asker) -> StreamingResponse:
    kind = SHOWN.get(name.rpartition(".")[2])
    row, file = api.stored(request, run, name, asker)
    if kind is None:
        raise MissingError("that file is not one to look at; download it")
    headers = {
        "Content-Security-Policy": SANDBOX,
        "Content-Length": str(file.bytes),
    }
    pieces = office_of(request).objects.read(path_of(row, name))
    return Sent(pieces, media_type=kind, headers=headers)
