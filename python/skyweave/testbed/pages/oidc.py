"""Signing in by an OpenID provider: away to it, and back."""

from __future__ import annotations

import hmac
import secrets
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import RedirectResponse, Response

from skyweave.testbed.access import note
from skyweave.testbed.access.identities import whose
from skyweave.testbed.access.oidc import Pending, Provider
from skyweave.testbed.access.once import Once
from skyweave.testbed.access.secrets import hashed
from skyweave.testbed.api.attempts import address_of
from skyweave.testbed.api.guards import office_of
from skyweave.testbed.errors import MissingError, RefusedError
from skyweave.testbed.pages.guards import sessions_of
from skyweave.testbed.pages.render import page
from skyweave.testbed.pages.session import set_session
from skyweave.testbed.pages.signing import begin, way_back

router = APIRouter()
AWAY_S = 600.0
COOKIE = "__Host-skyweave-away"
"""Of who was sent away. It is Lax: the way back begins at another site."""
Said = Annotated[str, Query(max_length=4096)]


def away_of(request: Request) -> Once[Pending]:
    """Return who is away."""
    found: Once[Pending] = request.app.state.away
    return found


def _provider(request: Request) -> Provider:
    found = office_of(request).oidc
    if found is None:
        raise MissingError("this testbed has no OpenID provider")
    return found


@router.get("/sign-in/oidc")
def leave(request: Request, to: Said = "") -> Response:
    """Send the browser to the provider."""
    provider, now, browser = _provider(request), office_of(request).now(), secrets.token_urlsafe(32)
    pending = provider.begin(hashed(browser), way_back(to))
    state = away_of(request).make(pending, address_of(request), now)
    answer = RedirectResponse(provider.address(pending, state), 303)
    answer.set_cookie(
        COOKIE, browser, max_age=int(AWAY_S), secure=True, httponly=True, samesite="lax"
    )
    return answer


@router.get("/sign-in/oidc/back")
def back(
    request: Request, state: Said = "", code: Said = "", iss: Said | None = None, error: Said = ""
) -> Response:
    """Begin a session, if the provider says that it is somebody who has an account."""
    office, provider = office_of(request), _provider(request)
    now = office.now()
    with office.attempts.of(address_of(request), now):
        pending = away_of(request).take(state, now)
        browser = hashed(request.cookies.get(COOKIE, ""))
        if pending is None or not hmac.compare_digest(pending.browser, browser):
            raise RefusedError("nobody was sent away for that, or too long ago; sign in again")
        if error or not code:
            raise RefusedError(f"{provider.host} let nobody in ({error[:100] or 'no code'})")
        subject = provider.subject(pending, code, iss)
        token = _begin(request, provider, subject, now)
    # A redirect would still be part of the way from another site, and lack the strict cookie.
    answer = page(request, "signed_in", None, to=pending.to)
    answer.delete_cookie(COOKIE, secure=True, httponly=True, samesite="lax")
    set_session(answer, sessions_of(request).begin(token, now, owns_token=True))
    return answer


def _begin(request: Request, provider: Provider, subject: str, now: float) -> str:
    office, issuer = office_of(request), provider.client.issuer
    with office.database.write() as connection:
        found = whose(connection, issuer, subject)
        if found is not None:
            office.attempts.into(found.person, now)
            return begin(connection, found.person, provider.host, now, found.id)
        note(connection, now, "nobody", "oidc.unknown", subject, issuer)
    raise RefusedError(f"nobody here is '{subject}' of {issuer}; ask an admin to link that")
