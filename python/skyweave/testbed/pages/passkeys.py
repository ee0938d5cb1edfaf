"""Passkeys: made on the page of tokens, signed in with, revoked."""

from __future__ import annotations

from typing import Any, NamedTuple

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response
from starlette.concurrency import run_in_threadpool

from skyweave.testbed.access import note
from skyweave.testbed.access import passkeys as access
from skyweave.testbed.access.once import Once
from skyweave.testbed.access.passkeys import (
    CHALLENGE_S,
    NOT_GOOD,
    BadPasskeyError,
    Site,
    Wish,
    site_of,
)
from skyweave.testbed.api import passkeys as api
from skyweave.testbed.api.attempts import address_of
from skyweave.testbed.api.guards import office_of
from skyweave.testbed.errors import ConflictError, RefusedError
from skyweave.testbed.pages.guards import Visitor, acts, form_of
from skyweave.testbed.pages.render import PLACE
from skyweave.testbed.pages.signing import begin, signed_in, way_back
from skyweave.testbed.wire.names import RunId

router = APIRouter()


class Challenges(NamedTuple):
    """Those that wait for an answer, each good once."""

    to_make: Once[Wish]
    to_sign_in: Once[bool]

    @classmethod
    def new(cls) -> Challenges:
        """Return none."""
        return cls(Once(CHALLENGE_S), Once(CHALLENGE_S))


def challenges_of(request: Request) -> Challenges:
    """Return the challenges that wait for an answer."""
    found: Challenges = request.app.state.challenges
    return found


def _site(request: Request) -> Site:
    site = site_of(office_of(request).url)
    if site is None:
        raise ConflictError(
            "a passkey is for a name, and this testbed is reached by an address; "
            "start it with --url https://NAME"
        )
    return site


@router.post("/tokens/passkeys/options")
def to_make(request: Request, visitor: Visitor = acts("tokens")) -> dict[str, Any]:
    """Return what the browser shall make."""
    office, site, person = office_of(request), _site(request), visitor.asker.name
    if not visitor.is_whole:
        raise RefusedError("a passkey signs in with all scopes; your token has not all of them")
    with office.database.read() as connection:
        wish = Wish(person, visitor.session.csrf, access.handle_of(connection, person))
        challenge = challenges_of(request).to_make.make(wish, f"of {person}", office.now())
        return access.to_make(connection, site, person, wish.handle, challenge)


@router.post("/tokens/passkeys")
def make(request: Request, visitor: Visitor = acts("tokens")) -> RedirectResponse:
    """Keep what the browser made."""
    office, site, now = office_of(request), _site(request), office_of(request).now()
    credential, label = visitor.field("credential"), visitor.field("label").strip()
    challenge = access.challenge_of(credential)
    wish = challenges_of(request).to_make.take(challenge, now)
    mine = visitor.asker.name, visitor.session.csrf
    if wish is None or (wish.person, wish.csrf) != mine or not visitor.is_whole:
        raise RefusedError("that passkey was not asked for here, or took too long; make it again")
    office.wishes.use(visitor.asker.name, now)
    with office.database.write() as connection:
        made = access.keep(connection, site, wish, credential, challenge, label, now)
        note(connection, now, wish.person, "passkey.make", made, label)
    return RedirectResponse(f"{PLACE}/tokens", 303)


@router.post("/tokens/passkeys/{passkey}/revoke")
def revoke(
    request: Request, passkey: RunId, visitor: Visitor = acts("tokens")
) -> RedirectResponse:  # fmt: skip
    """Revoke a passkey of one's own."""
    api.revoke_passkey(request, passkey, visitor.asker)
    return RedirectResponse(f"{PLACE}/tokens", 303)


@router.post("/sign-in/passkey/options")
async def to_sign_in(request: Request) -> dict[str, Any]:
    """Return what the browser shall sign."""
    await form_of(request)
    site, now = _site(request), office_of(request).now()
    challenge = challenges_of(request).to_sign_in.make(True, address_of(request), now)
    return access.to_sign_in(site, challenge)


@router.post("/sign-in/passkey")
async def sign_in(request: Request) -> Response:
    """Begin a session."""
    form = dict(await form_of(request))
    to = way_back(form.get("to", ""))
    return await run_in_threadpool(_begin, request, form.get("credential", ""), to)


def _begin(request: Request, credential: str, to: str) -> Response:
    office, site = office_of(request), _site(request)
    now, challenge = office.now(), access.challenge_of(credential)
    with office.attempts.of(address_of(request), now):
        is_open = challenges_of(request).to_sign_in.take(challenge, now)
        try:
            with office.database.write() as connection:
                row = access.whose(connection, site, credential, challenge, now)
                if not is_open:
                    raise BadPasskeyError(row.person, row.id, "its challenge is not open")
                office.attempts.into(row.person, now)
                token = begin(connection, row.person, "a passkey", now, row.id)
        except BadPasskeyError as error:
            with office.database.write() as connection:
                note(connection, now, error.person, "passkey.refused", error.passkey, error.why)
            raise RefusedError(NOT_GOOD) from None
    return signed_in(request, token, to, owns_token=True)
