"""The audit log, a page of it at a time."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse

from skyweave.testbed.api import people as api
from skyweave.testbed.pages.guards import Visitor, sees
from skyweave.testbed.pages.render import page

router = APIRouter()
NEWEST = 2**53


@router.get("/audit")
def log(
    request: Request, before: Annotated[int, Query(ge=0, le=NEWEST)] = NEWEST,
    visitor: Visitor = sees("audit.see"),
) -> HTMLResponse:  # fmt: skip
    """Show 200 lines, the newest first."""
    found = api.log(request, before)
    older = found[-1].id if found and found[-1].id > 1 else None
    return page(request, "audit", visitor, lines=found, older=older, is_newest=before == NEWEST)
