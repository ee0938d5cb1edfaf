"""Accounts, for admins: who there is, what each may, who of a provider each is."""

from __future__ import annotations

import json

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse

from skyweave.testbed.access import ROLES
from skyweave.testbed.api import identities as links_api
from skyweave.testbed.api import people as api
from skyweave.testbed.api.guards import office_of
from skyweave.testbed.errors import MissingError
from skyweave.testbed.pages.guards import Visitor, acts, sees
from skyweave.testbed.pages.render import PLACE, page
from skyweave.testbed.wire.names import Name, RunId

router = APIRouter(prefix="/people")


@router.get("")
def everybody(request: Request, visitor: Visitor = sees("people")) -> HTMLResponse:
    """Show all accounts."""
    return page(request, "people", visitor, people=api.everybody(request), roles=ROLES)


@router.post("")
def add(request: Request, visitor: Visitor = acts("people")) -> HTMLResponse:
    """Make an account, and show its first token once."""
    office, name = office_of(request), visitor.field("name")
    body = json.dumps({"name": name, "role": visitor.field("role")}).encode()
    made = api.add(request, body, visitor.asker)
    pin = f".{office.pin}" if office.pin else ""
    return page(
        request, "shown_once", visitor, what=f"The account of {name}",
        secret=f"skyweave testbed login '{office.url}#{made.token}{pin}'",
        about=f"Hand this line over to {name}; the token in it, from 'skyweave_' on, signs in on "
        "these pages, too. It is shown this once.",
        back=f"{PLACE}/people",
    )  # fmt: skip


@router.get("/{name}")
def one_person(request: Request, name: Name, visitor: Visitor = sees("people")) -> HTMLResponse:
    """Show an account."""
    found = next((one for one in api.everybody(request) if one.name == name), None)
    if found is None:
        raise MissingError(f"nobody is called '{name}'")
    return page(
        request, "person", visitor, person=found, roles=ROLES,
        identities=links_api.its_identities(request, name), provider=office_of(request).oidc,
    )  # fmt: skip


@router.post("/{name}/role")
def change_role(
    request: Request, name: Name, visitor: Visitor = acts("people")
) -> RedirectResponse:
    """Change what somebody may."""
    body = json.dumps({"role": visitor.field("role")}).encode()
    api.change(request, name, body, visitor.asker)
    return RedirectResponse(f"{PLACE}/people/{name}", 303)


@router.post("/{name}/disabled")
def shut_out(request: Request, name: Name, visitor: Visitor = acts("people")) -> RedirectResponse:
    """Shut somebody out, or let them in again."""
    body = json.dumps({"disabled": visitor.field("disabled") == "yes"}).encode()
    api.change(request, name, body, visitor.asker)
    return RedirectResponse(f"{PLACE}/people/{name}", 303)


@router.post("/{name}/links")
def link(request: Request, name: Name, visitor: Visitor = acts("people")) -> RedirectResponse:
    """Let somebody of a provider sign in as this one."""
    wish = {"subject": visitor.field("subject"), "issuer": visitor.field("issuer") or None}
    links_api.link(request, name, json.dumps(wish).encode(), visitor.asker)
    return RedirectResponse(f"{PLACE}/people/{name}", 303)


@router.post("/{name}/links/{identity}/remove")
def unlink(
    request: Request, name: Name, identity: RunId, visitor: Visitor = acts("people")
) -> RedirectResponse:
    """Remove such a link."""
    links_api.unlink(request, name, identity, visitor.asker)
    return RedirectResponse(f"{PLACE}/people/{name}", 303)
