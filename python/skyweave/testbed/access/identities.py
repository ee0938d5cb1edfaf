"""Which account somebody at an OpenID provider has here: what an admin has linked, and no other."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Row, select

from skyweave.testbed.access.oidc import MOST_SUBJECT
from skyweave.testbed.access.secrets import new_id
from skyweave.testbed.errors import ConflictError, MissingError, TestbedError
from skyweave.testbed.store.tables import identities, people, tokens

MOST_ISSUER = 255


def link(connection: Connection, person: str, issuer: str, subject: str, now: float) -> str:
    """Let a subject of a provider sign in as a person; return the link's id."""
    if not (0 < len(issuer) <= MOST_ISSUER and 0 < len(subject) <= MOST_SUBJECT):
        raise TestbedError(f"an issuer and a subject have 1 to {MOST_SUBJECT} characters")
    if "\0" in issuer + subject:
        raise TestbedError("an issuer and a subject are text")
    if connection.execute(select(people).where(people.c.name == person)).first() is None:
        raise MissingError(f"nobody is called '{person}'")
    if whose(connection, issuer, subject) is not None:
        raise ConflictError("that subject is linked already; unlink it first")
    made = new_id()
    connection.execute(
        identities.insert().values(
            id=made, person=person, issuer=issuer, subject=subject, created=now
        )
    )
    return made


def whose(connection: Connection, issuer: str, subject: str) -> Row[Any] | None:
    """Return the link of a subject."""
    found = (identities.c.issuer == issuer) & (identities.c.subject == subject)
    return connection.execute(select(identities).where(found)).first()


def unlink(connection: Connection, person: str, identity: str, now: float) -> None:
    """Remove a link, and end the sessions that it began."""
    one = (identities.c.id == identity) & (identities.c.person == person)
    if not connection.execute(identities.delete().where(one)).rowcount:
        raise MissingError(f"'{person}' has no such link")
    began = (tokens.c.began_by == identity) & tokens.c.revoked.is_(None)
    connection.execute(tokens.update().where(began).values(revoked=now))
