"""Who looks and who acts: every page has one of these, with the right of the path it stands for."""

from __future__ import annotations

import hmac
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlsplit

from fastapi import Depends, Request
from starlette.concurrency import run_in_threadpool

from skyweave.testbed.access import SCOPES, person_of
from skyweave.testbed.api.guards import Asker, office_of
from skyweave.testbed.errors import RefusedError, TestbedError
from skyweave.testbed.pages.session import COOKIE, Session, Sessions

MOST_FIELDS = 50
Form = list[tuple[str, str]]


class SignedOutError(RefusedError):
    """Nobody is signed in, or not any more."""


class Visitor(NamedTuple):
    """Who is signed in and may do what a page needs; with ``form`` if something is to be done."""

    asker: Asker
    session: Session
    form: Form

    def may(self, right: str, owner: str | None = None) -> bool:
        """Tell whether a right is there, and reaches what belongs to ``owner``."""
        reach = self.asker.person.reach(right)
        return reach == "all" or (reach == "own" and owner in (None, self.asker.name))

    def asker_for(self, right: str) -> Asker | None:
        """Return the asker that the interface would have for another right; None without it."""
        reach = self.asker.person.reach(right)
        return Asker(self.asker.person, reach) if reach else None

    @property
    def is_whole(self) -> bool:
        """Whether the session may all that its person may: what signs in wholly needs that."""
        return self.asker.person.scopes >= set(SCOPES)

    def field(self, name: str) -> str:
        """Return a field of the form; '' if it is not there."""
        return next((value for key, value in self.form if key == name), "")


def sessions_of(request: Request) -> Sessions:
    """Return who is signed in."""
    found: Sessions = request.app.state.sessions
    return found


def visitor_of(request: Request, right: str, form: Form) -> Visitor:
    """Return who asks; :class:`SignedOutError` for nobody, :class:`RefusedError` for no right."""
    office, cookie = office_of(request), request.cookies.get(COOKIE)
    session = sessions_of(request).find(cookie, office.now())
    if session is None or cookie is None:
        raise SignedOutError("sign in to see this")
    try:
        with office.database.read() as connection:
            person = person_of(connection, session.token, office.now())
    except RefusedError:
        sessions_of(request).end(cookie)
        raise SignedOutError("the token that you signed in with is not good any more") from None
    reach = person.reach(right)
    if reach is None:
        raise RefusedError(f"'{right}' is not allowed to {person.name} ({person.role}) here")
    return Visitor(Asker(person, reach), session, form)


def sees(right: str) -> Any:
    """Return what lets those look who have a right."""

    def check(request: Request) -> Visitor:
        return visitor_of(request, right, [])

    check.right = right  # type: ignore[attr-defined]
    return Depends(check)


def acts(right: str) -> Any:
    """Return what lets those act who have a right, by a form of a page of theirs."""

    async def check(request: Request) -> Visitor:
        form = await form_of(request)
        visitor = await run_in_threadpool(visitor_of, request, right, form)
        if not hmac.compare_digest(visitor.field("csrf").encode(), visitor.session.csrf.encode()):
            raise RefusedError("that form is not from a page of yours; open the page, and repeat")
        return visitor

    check.right = right  # type: ignore[attr-defined]
    return Depends(check)


async def form_of(request: Request) -> Form:
    """Return the fields of a form that this site sent; its length was checked."""
    from_here(request)
    kind = request.headers.get("content-type", "").partition(";")[0].strip()
    if kind != "application/x-www-form-urlencoded":
        raise TestbedError("that is no form; use the page")
    try:
        text = (await request.body()).decode()
        return parse_qsl(text, keep_blank_values=True, max_num_fields=MOST_FIELDS, errors="strict")
    except ValueError:
        raise TestbedError("that form cannot be read; use the page") from None


def from_here(request: Request) -> None:
    """Raise :class:`RefusedError` if the browser says that another site sends this."""
    origin = request.headers.get("origin")
    if origin is not None and urlsplit(origin).netloc != request.headers.get("host"):
        raise RefusedError("another site sent that form; nothing was done")
    if request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        raise RefusedError("another site sent that form; nothing was done")
