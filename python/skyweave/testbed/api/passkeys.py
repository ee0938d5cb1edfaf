"""Passkeys as their owners list and revoke them; they are made and used on pages alone."""

from __future__ import annotations

from fastapi import APIRouter, Request
from sqlalchemy import select

from skyweave.testbed.access import note
from skyweave.testbed.access.passkeys import revoke_passkeys
from skyweave.testbed.api.guards import Asker, asks, office_of
from skyweave.testbed.api.views import PasskeyView
from skyweave.testbed.errors import MissingError
from skyweave.testbed.store.tables import passkeys
from skyweave.testbed.wire.names import RunId

router = APIRouter(prefix="/me/passkeys", tags=["people"])


@router.get("")
def my_passkeys(request: Request, asker: Asker = asks("tokens")) -> list[PasskeyView]:
    """List the passkeys of one's own."""
    mine = select(passkeys).where(passkeys.c.person == asker.name).order_by(passkeys.c.created)
    with office_of(request).database.read() as connection:
        rows = connection.execute(mine).all()
    return [
        PasskeyView(
            id=row.id, label=row.label, created_unix_s=row.created, used_unix_s=row.used,
            revoked_unix_s=row.revoked,
        )
        for row in rows
    ]  # fmt: skip


@router.delete("/{passkey}")
def revoke_passkey(request: Request, passkey: RunId, asker: Asker = asks("tokens")) -> None:
    """Revoke a passkey of one's own, and end the sessions that it began."""
    office = office_of(request)
    with office.database.write() as connection:
        if not revoke_passkeys(connection, asker.name, office.now(), passkey):
            raise MissingError("there is no such passkey of yours that is still good")
        note(connection, office.now(), asker.name, "passkey.revoke", passkey)
