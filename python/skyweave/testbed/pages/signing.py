"""Signing in by a token or a one-time code, and out again."""

from __future__ import annotations

import re

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from sqlalchemy import Connection
from starlette.concurrency import run_in_threadpool

from skyweave.testbed import access
from skyweave.testbed.access.passkeys import site_of
from skyweave.testbed.access.people import has_admin
from skyweave.testbed.access.secrets import DAY_S, hashed
from skyweave.testbed.api import people
from skyweave.testbed.api.attempts import address_of
from skyweave.testbed.api.guards import office_of
from skyweave.testbed.api.office import Office
from skyweave.testbed.api.views import FirstAdmin
from skyweave.testbed.errors import RefusedError
from skyweave.testbed.pages.guards import Visitor, acts, form_of, sessions_of
from skyweave.testbed.pages.render import PLACE, page
from skyweave.testbed.pages.session import COOKIE, SESSION_S, set_session
from skyweave.testbed.store.tables import tokens

router = APIRouter()
CODE_KIND = "sign-in"
_PLAIN = re.compile(rf"{PLACE}/[a-z0-9/-]{{1,100}}")


def way_back(path: str) -> str:
    """Return a path to go on at: one of these pages, and nothing that leads elsewhere.

    >>> way_back("/pages/runs"), way_back("//evil.example"), way_back("/pages/../x")
    ('/pages/runs', '/pages/nodes', '/pages/nodes')
    """
    return path if _PLAIN.fullmatch(path) and "//" not in path else f"{PLACE}/nodes"


@router.get("/sign-in")
def sign_in_page(request: Request, to: str = "") -> HTMLResponse:
    """Show where to sign in."""
    with office_of(request).database.read() as connection:
        is_new = not has_admin(connection)
    office = office_of(request)
    return page(
        request, "sign_in", None, to=way_back(to), is_new=is_new, site=site_of(office.url),
        provider=office.oidc,
    )  # fmt: skip


@router.post("/sign-in")
async def sign_in(request: Request) -> Response:
    """Begin a session."""
    form = dict(await form_of(request))
    secret, to = form.get("secret", "").strip(), way_back(form.get("to", ""))
    return await run_in_threadpool(_begin, request, secret, to)


def _begin(request: Request, secret: str, to: str) -> Response:
    office = office_of(request)
    now, is_token = office.now(), secret.startswith("skyweave_")
    with office.attempts.of(address_of(request), now, hashed(secret) if is_token else None):
        if is_token:
            with office.database.read() as connection:
                access.person_of(connection, secret, now)
        else:
            secret = _by_code(office, secret.upper(), now)
    return signed_in(request, secret, to, owns_token=not is_token)


def _by_code(office: Office, code: str, now: float) -> str:
    """Use up a code, and return the token of the session that it begins."""
    with office.database.write() as connection:
        person = access.use_code(connection, CODE_KIND, code, now)
        if person is None:
            raise RefusedError("that code is nobody's; make one on the page of tokens")
        office.attempts.into(person, now)
        return begin(connection, person, "a one-time code", now)


def begin(
    connection: Connection, person: str, by: str, now: float, began_by: str | None = None
) -> str:
    """Return a token for a session; who was shut out stays out, and nothing is kept."""
    made, token = access.make_token(
        connection, person, f"a browser, by {by}", access.SCOPES, SESSION_S / DAY_S, now, began_by
    )
    access.person_of(connection, token, now)
    access.note(connection, now, person, "session.begin", made, f"by {by}")
    return token


def signed_in(request: Request, token: str, to: str, *, owns_token: bool) -> Response:
    """Begin a session, and lead on."""
    office = office_of(request)
    cookie = sessions_of(request).begin(token, office.now(), owns_token=owns_token)
    answer = RedirectResponse(to, 303)
    set_session(answer, cookie)
    return answer


@router.post("/first")
async def first(request: Request) -> Response:
    """Make the first admin, by the code that 'testbed up' printed, and show their token."""
    form = dict(await form_of(request))
    wish = FirstAdmin(code=form.get("code", "").strip().upper(), name=form.get("name", ""))
    body = wish.model_dump_json().encode()
    made = await run_in_threadpool(people.first, request, body)
    return page(
        request, "shown_once", None, what="Your token", secret=made.token,
        about="Keep it as you keep a key, and sign in with it.", back=f"{PLACE}/sign-in",
    )  # fmt: skip


@router.post("/sign-out")
def sign_out(request: Request, visitor: Visitor = acts("self")) -> Response:
    """End the session, and the token that was made for it."""
    office, session = office_of(request), visitor.session
    sessions_of(request).end(request.cookies[COOKIE])
    if session.owns_token:
        with office.database.write() as connection:
            mine = tokens.c.hash == hashed(session.token)
            connection.execute(tokens.update().where(mine).values(revoked=office.now()))
    answer = RedirectResponse(f"{PLACE}/sign-in", 303)
    answer.delete_cookie(COOKIE, secure=True, httponly=True, samesite="strict")
    return answer
