"""Accounts, tokens, and the audit log."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from sqlalchemy import select

from skyweave.testbed import access
from skyweave.testbed.api.attempts import address_of
from skyweave.testbed.api.guards import Asker, Body, accepts, asks, office_of, parsed
from skyweave.testbed.api.views import (
    AuditLine,
    FirstAdmin,
    Me,
    NewToken,
    PersonChange,
    PersonView,
    PersonWish,
    TokenView,
    TokenWish,
)
from skyweave.testbed.errors import MissingError, TestbedError
from skyweave.testbed.store.tables import audit, people, tokens
from skyweave.testbed.wire.names import Name, RunId

router = APIRouter(tags=["people"])
MOST_LABEL = 100


@router.post("/first", openapi_extra=accepts(FirstAdmin))
def first(request: Request, body: bytes = Body) -> NewToken:
    """Make the first admin, by the code that 'testbed up' printed; later there is none."""
    office, wish = office_of(request), parsed(FirstAdmin, body)
    name = _name(wish.name)
    with (
        office.attempts.of(address_of(request), office.now()),
        office.database.write() as connection,
    ):
        token = access.first_admin(connection, wish.code, name, office.now())
        access.note(connection, office.now(), name, "person.first", name)
    return NewToken(token=token)


@router.get("/me")
def me(asker: Asker = asks("self")) -> Me:
    """Say whose token it is."""
    person = asker.person
    return Me(name=person.name, role=person.role, scopes=tuple(sorted(person.scopes)))


@router.get("/me/tokens")
def my_tokens(request: Request, asker: Asker = asks("tokens")) -> list[TokenView]:
    """List the tokens of one's own, without themselves."""
    with office_of(request).database.read() as connection:
        rows = connection.execute(
            select(tokens).where(tokens.c.person == asker.name).order_by(tokens.c.created)
        ).all()
    return [
        TokenView(
            id=row.id, label=row.label, scopes=row.scopes, created_unix_s=row.created,
            expires_unix_s=row.expires, revoked_unix_s=row.revoked,
        )
        for row in rows
    ]  # fmt: skip


@router.post("/me/tokens", openapi_extra=accepts(TokenWish))
def new_token(request: Request, body: bytes = Body, asker: Asker = asks("tokens")) -> NewToken:
    """Make a token with scopes that the asking one has; it is shown once."""
    office, wish = office_of(request), parsed(TokenWish, body)
    office.wishes.use(asker.name, office.now())
    if not set(wish.scopes) <= asker.person.scopes:
        raise TestbedError("a token cannot make one that may do more than itself")
    if len(wish.label) > MOST_LABEL:
        raise TestbedError(f"a label has at most {MOST_LABEL} characters")
    with office.database.write() as connection:
        made, token = access.make_token(
            connection, asker.name, wish.label, wish.scopes, wish.days, office.now()
        )
        access.note(connection, office.now(), asker.name, "token.make", made, wish.label)
    return NewToken(id=made, token=token)


@router.delete("/me/tokens/{token}")
def revoke_token(request: Request, token: RunId, asker: Asker = asks("tokens")) -> None:
    """Revoke a token of one's own, at once."""
    office = office_of(request)
    with office.database.write() as connection:
        if not access.revoke_tokens(connection, asker.name, office.now(), token):
            raise MissingError("there is no such token of yours that is still good")
        access.note(connection, office.now(), asker.name, "token.revoke", token)


@router.get("/people", dependencies=[asks("people")])
def everybody(request: Request) -> list[PersonView]:
    """List all accounts."""
    with office_of(request).database.read() as connection:
        rows = connection.execute(select(people).order_by(people.c.name)).all()
    return [
        PersonView(
            name=row.name, role=row.role, created_unix_s=row.created,
            disabled=row.disabled is not None,
        )
        for row in rows
    ]  # fmt: skip


@router.post("/people", openapi_extra=accepts(PersonWish))
def add(request: Request, body: bytes = Body, asker: Asker = asks("people")) -> NewToken:
    """Make an account; its first token is shown once, for the admin to hand over."""
    office, wish = office_of(request), parsed(PersonWish, body)
    name = _name(wish.name)
    with office.database.write() as connection:
        token = access.add_person(connection, name, wish.role, office.now())
        access.note(connection, office.now(), asker.name, "person.add", name, wish.role)
    return NewToken(token=token)


@router.patch("/people/{name}", openapi_extra=accepts(PersonChange))
def change(request: Request, name: Name, body: bytes = Body, asker: Asker = asks("people")) -> None:
    """Change a role, or shut somebody out with all tokens; the last admin stays."""
    office, wish = office_of(request), parsed(PersonChange, body)
    with office.database.write() as connection:
        access.change_person(connection, name, wish.role, wish.disabled, office.now())
        access.note(
            connection, office.now(), asker.name, "person.change", name, wish.model_dump_json()
        )


@router.get("/audit", dependencies=[asks("audit.see")])
def log(request: Request, before: Annotated[int, Query(ge=0, le=2**53)] = 2**53) -> list[AuditLine]:
    """Return the 200 lines of the audit log before number ``before``, the newest first."""
    with office_of(request).database.read() as connection:
        rows = connection.execute(
            select(audit).where(audit.c.id < before).order_by(audit.c.id.desc()).limit(200)
        ).all()
    return [
        AuditLine(
            id=row.id, at_unix_s=row.at, who=row.who, action=row.action, what=row.what,
            detail=row.detail,
        )
        for row in rows
    ]  # fmt: skip


def _name(text: str) -> str:
    """Return a name that may be a person's."""
    import re

    if not re.fullmatch(r"[a-z0-9][a-z0-9-]{0,38}", text):
        raise TestbedError("a name has small letters, digits and hyphens, 39 at most")
    return text
