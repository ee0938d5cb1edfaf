"""Tokens of one's own, and codes to sign in with elsewhere."""

from __future__ import annotations

import json

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse

from skyweave.testbed import access
from skyweave.testbed.access.passkeys import site_of
from skyweave.testbed.api import passkeys as passkeys_api
from skyweave.testbed.api import people as api
from skyweave.testbed.api.guards import office_of
from skyweave.testbed.errors import RefusedError, TestbedError
from skyweave.testbed.pages.guards import Visitor, acts, sees
from skyweave.testbed.pages.render import PLACE, page
from skyweave.testbed.pages.signing import CODE_KIND
from skyweave.testbed.wire.names import RunId

router = APIRouter()


@router.get("/tokens")
def my_tokens(request: Request, visitor: Visitor = sees("tokens")) -> HTMLResponse:
    """Show one's own tokens, and what can be made."""
    found = api.my_tokens(request, visitor.asker)
    person = visitor.asker.person
    return page(
        request, "tokens", visitor, tokens=found, person=person,
        scopes=[one for one in access.SCOPES if one in person.scopes],
        site=site_of(office_of(request).url),
        passkeys=passkeys_api.my_passkeys(request, visitor.asker),
    )  # fmt: skip


@router.post("/tokens")
def new_token(request: Request, visitor: Visitor = acts("tokens")) -> HTMLResponse:
    """Make a token, and show it once."""
    try:
        days = float(visitor.field("days"))
    except ValueError:
        raise TestbedError("days: give a number") from None
    scopes = [value for name, value in visitor.form if name == "scope"]
    wish = {"label": visitor.field("label"), "scopes": scopes, "days": days}
    made = api.new_token(request, json.dumps(wish).encode(), visitor.asker)
    return page(
        request, "shown_once", visitor, what="New token", secret=made.token,
        about="Keep it as you keep a key: it is shown this once.", back=f"{PLACE}/tokens",
    )  # fmt: skip


@router.post("/tokens/code")
def new_code(request: Request, visitor: Visitor = acts("tokens")) -> HTMLResponse:
    """Make a code that signs in on another device, once, within 15 minutes."""
    office, name = office_of(request), visitor.asker.name
    if not visitor.is_whole:
        raise RefusedError("a code signs in with all scopes; your token has not all of them")
    office.wishes.use(name, office.now())
    with office.database.write() as connection:
        code = access.make_code(connection, CODE_KIND, name, office.now())
        access.note(connection, office.now(), name, "code.make", CODE_KIND)
    return page(
        request, "shown_once", visitor, what="One-time code", secret=code,
        about="Good once, for 15 minutes: sign in with it on another device, for 12 hours.",
        back=f"{PLACE}/tokens",
    )  # fmt: skip


@router.post("/tokens/{token}/revoke")
def revoke(request: Request, token: RunId, visitor: Visitor = acts("tokens")) -> RedirectResponse:
    """Revoke a token of one's own."""
    api.revoke_token(request, token, visitor.asker)
    return RedirectResponse(f"{PLACE}/tokens", 303)
