"""Nodes and servers: all of them, and one with what it told."""

from __future__ import annotations

import json
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse
from sqlalchemy import select

from skyweave.testbed.api import nodes as api
from skyweave.testbed.api.beats import Beat
from skyweave.testbed.api.guards import office_of
from skyweave.testbed.api.runs import all_runs
from skyweave.testbed.pages.guards import Visitor, acts, sees
from skyweave.testbed.pages.render import PLACE, page
from skyweave.testbed.store.tables import runs
from skyweave.testbed.wire.names import Name

router = APIRouter()
AWAY_S = 90.0
"""Three heartbeats missed."""
MOST_DRAWN = 200
"""Runs in the chart of a node."""
TOLD = {
    "dish": ("dish", "down_mbps", "up_mbps"),
    "ping": ("dish", "ping_latency_ms"),
    "radio": ("radio", "rsrp_dbm"),
    "quality": ("radio", "sinr_db", "rsrq_db"),
}
"""Charts, and the figures of heartbeats that they draw."""


@router.get("/nodes")
def all_nodes(request: Request, visitor: Visitor = sees("nodes.see")) -> HTMLResponse:
    """Show nodes and servers."""
    return page(request, "nodes", visitor, nodes=api.all_nodes(request), away_s=AWAY_S)


@router.post("/nodes")
def invite(request: Request, visitor: Visitor = acts("nodes.invite")) -> HTMLResponse:
    """Make an invitation, and show it once."""
    body = json.dumps({"kind": visitor.field("kind")}).encode()
    made = api.invite(request, body, visitor.asker)
    command = "measure" if visitor.field("kind") == "server" else "node"
    return page(
        request, "shown_once", visitor, what="Invitation",
        secret=f"sudo skyweave {command} join '{made.invitation}'",
        about="Good once, for 15 minutes. Run it on the machine that shall join, with a name as "
        "--owner.",
        back=f"{PLACE}/nodes",
    )  # fmt: skip


@router.get("/nodes/{name}")
def one_node(request: Request, name: Name, visitor: Visitor = sees("nodes.see")) -> HTMLResponse:
    """Show a node, or a server."""
    asker = visitor.asker_for("runs.see")
    newest = all_runs(request, node=name, limit=10, asker=asker) if asker else []
    return page(
        request, "node", visitor, node=api.one_node(request, name), runs=newest, away_s=AWAY_S
    )


@router.get("/nodes/{name}/series")
def series(
    request: Request, name: Name, visitor: Visitor = sees("nodes.see")
) -> dict[str, list[list[Any]]]:
    """Return what the charts of a node draw: columns, with Unix seconds first.

    ``clock``: offset and error in ms, of each heartbeat since the orchestrator began. ``carried``:
    Mbit/s received and sent, over each run that the asker may see and that has ended. ``dish``,
    ``ping``, ``radio`` and ``quality``: what dish and modem said with each heartbeat; empty if
    neither did.
    """
    office, asker = office_of(request), visitor.asker_for("runs.see")
    api.one_node(request, name)
    beats = office.beats.of(name)
    seen = all_runs(request, node=name, limit=MOST_DRAWN, asker=asker) if asker else []
    with office.database.read() as connection:
        told = connection.execute(
            select(runs.c.started, runs.c.ended, runs.c.report)
            .where(runs.c.id.in_([one.id for one in seen]), runs.c.report.is_not(None))
            .order_by(runs.c.started)
        ).all()
    rows = [one for row in told if (one := _carried(row.started, row.ended, row.report))]
    return {
        "clock": [
            [beat.at for beat in beats],
            [1e3 * beat.offset_s for beat in beats],
            [1e3 * beat.error_s for beat in beats],
        ],
        "carried": [list(column) for column in zip(*rows, strict=True)] or [[], [], []],
        **{name: _told(beats, *which) for name, which in TOLD.items()},
    }


def _told(beats: list[Beat], of: str, *names: str) -> list[list[Any]]:
    """Return columns of what dish or modem told: moments, then a figure each; null: not known."""
    some = [(beat.at, said) for beat in beats if (said := getattr(beat, of)) is not None]
    return [[at for at, _ in some], *([getattr(said, name) for _, said in some] for name in names)]


def _carried(started: float | None, ended: float | None, report: str) -> list[float] | None:
    """Return when a run began and the mean rates of it, in Mbit/s."""
    said = json.loads(report)
    began = said.get("started_unix_s") or started
    if began is None or ended is None or ended <= began:
        return None
    return [began, *(8e-6 * said.get(one, 0) / (ended - began)
                     for one in ("received_bytes", "sent_bytes"))]  # fmt: skip


@router.post("/nodes/{name}/pause")
def pause(request: Request, name: Name, visitor: Visitor = acts("nodes.pause")) -> RedirectResponse:
    """Pause a node, or let it go on."""
    body = json.dumps({"paused": visitor.field("paused") == "yes"}).encode()
    api.change_node(request, name, body, visitor.asker)
    return RedirectResponse(f"{PLACE}/nodes/{name}", 303)


@router.post("/nodes/{name}/revoke")
def revoke(
    request: Request, name: Name, visitor: Visitor = acts("nodes.revoke")
) -> RedirectResponse:
    """Revoke a node's access permanently."""
    api.revoke_node(request, name, visitor.asker)
    return RedirectResponse(f"{PLACE}/nodes", 303)
