"""Links of accounts to subjects of an OpenID provider."""

from __future__ import annotations

from fastapi import APIRouter, Request
from sqlalchemy import select

from skyweave.testbed.access import identities as access
from skyweave.testbed.access import note
from skyweave.testbed.api.guards import Asker, Body, accepts, asks, office_of, parsed
from skyweave.testbed.api.views import IdentityView, IdentityWish
from skyweave.testbed.errors import TestbedError
from skyweave.testbed.store.tables import identities
from skyweave.testbed.wire.names import Name, RunId

router = APIRouter(prefix="/people/{name}/identities", tags=["people"])


@router.get("", dependencies=[asks("people")])
def its_identities(request: Request, name: Name) -> list[IdentityView]:
    """List the subjects that sign in as a person."""
    query = select(identities).where(identities.c.person == name).order_by(identities.c.created)
    with office_of(request).database.read() as connection:
        rows = connection.execute(query).all()
    return [
        IdentityView(
            id=row.id, issuer=row.issuer, subject=row.subject, created_unix_s=row.created
        )
        for row in rows
    ]  # fmt: skip


@router.post("", openapi_extra=accepts(IdentityWish))
def link(
    request: Request, name: Name, body: bytes = Body, asker: Asker = asks("people")
) -> IdentityView:
    """Let a subject sign in as a person; without an issuer, one of the orchestrator's own."""
    office, wish = office_of(request), parsed(IdentityWish, body)
    issuer = wish.issuer or (office.oidc.client.issuer if office.oidc else None)
    if issuer is None:
        raise TestbedError("this testbed has no OpenID provider; name the issuer")
    now = office.now()
    with office.database.write() as connection:
        made = access.link(connection, name, issuer, wish.subject, now)
        note(connection, now, asker.name, "person.link", name, f"{wish.subject} of {issuer}")
    return IdentityView(id=made, issuer=issuer, subject=wish.subject, created_unix_s=now)


@router.delete("/{identity}")
def unlink(request: Request, name: Name, identity: RunId, asker: Asker = asks("people")) -> None:
    """Remove a link, and end the sessions that it began."""
    office = office_of(request)
    with office.database.write() as connection:
        access.unlink(connection, name, identity, office.now())
        note(connection, office.now(), asker.name, "person.unlink", name, identity)
