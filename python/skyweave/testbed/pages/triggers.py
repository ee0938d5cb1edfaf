"""Experiments that wait for a trigger, and what fired."""

from __future__ import annotations

import json

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse

from skyweave.testbed.api import experiments as api
from skyweave.testbed.api.runs import all_runs
from skyweave.testbed.pages.guards import Visitor, acts, sees
from skyweave.testbed.pages.render import PLACE, page
from skyweave.testbed.wire.names import RunId

router = APIRouter()
MOST_SEARCHED = 500
MOST_FIRINGS = 50


@router.get("/triggers")
def triggers(request: Request, visitor: Visitor = sees("experiments.see")) -> HTMLResponse:
    """Show what waits, and the newest runs that a trigger started."""
    found = api.all_experiments(request, visitor.asker)
    waiting = [one for one in found if one.plan.when.kind == "trigger"]
    asker = visitor.asker_for("runs.see")
    newest = all_runs(request, limit=MOST_SEARCHED, asker=asker) if asker else []
    fired = [one for one in newest if one.trigger is not None][:MOST_FIRINGS]
    return page(request, "triggers", visitor, experiments=waiting, runs=fired)


@router.post("/triggers/{experiment}/fire")
def fire(
    request: Request, experiment: RunId, visitor: Visitor = acts("experiments.fire")
) -> RedirectResponse:
    """Start a run by hand; the policy of the experiment says if it may begin."""
    body = json.dumps({"trigger": "by hand"}).encode()
    made = api.fire(request, experiment, body, visitor.asker)
    return RedirectResponse(f"{PLACE}/runs/{made.runs[0]}", 303)


@router.post("/triggers/{experiment}/end")
def end(
    request: Request, experiment: RunId, visitor: Visitor = acts("experiments.end")
) -> RedirectResponse:
    """End an experiment."""
    api.end_experiment(request, experiment, visitor.asker)
    return RedirectResponse(f"{PLACE}/triggers", 303)
