"""Tokens and codes: random, shown once, kept as hashes, good for a time, revoked by a row."""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Collection

from sqlalchemy import Connection, select

from skyweave.testbed.access.rights import SCOPES, Person
from skyweave.testbed.errors import RefusedError, TestbedError
from skyweave.testbed.store.tables import codes, people, tokens
from skyweave.testbed.wire.joining import CODE, CODE_S

TOKEN_DAYS = 90.0
LONGEST_TOKEN_DAYS = 366.0
MOST_TOKENS = 100
"""Tokens of a person that are good at a time."""
LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
_TOKEN = re.compile(r"skyweave_[A-Za-z0-9_-]{43}")
DAY_S = 86_400.0


def new_id() -> str:
    """Return a random identifier of 96 bits."""
    return secrets.token_hex(12)


def hashed(secret: str) -> str:
    """Return what is kept of a secret. It has 80 random bits and more, so nothing needs salt."""
    return hashlib.sha256(secret.encode()).hexdigest()


def make_token(
    connection: Connection, person: str, label: str, scopes: Collection[str], days: float,
    now: float, began_by: str | None = None,
) -> tuple[str, str]:  # fmt: skip
    """Return the id of a new token and the token itself, which is kept nowhere.

    One of a session that a passkey, or a link to a provider, began ends with that.
    """
    if not 0 < days <= LONGEST_TOKEN_DAYS:
        raise TestbedError(f"a token is good for up to {LONGEST_TOKEN_DAYS:.0f} days; give fewer")
    if not scopes or not set(scopes) <= set(SCOPES):
        raise TestbedError(f"a token's scopes are some of {', '.join(SCOPES)}")
    good = select(tokens.c.id).where(
        tokens.c.person == person, tokens.c.revoked.is_(None), tokens.c.expires > now
    )
    if len(connection.execute(good).all()) >= MOST_TOKENS:
        raise TestbedError(f"{person} has {MOST_TOKENS} tokens; revoke some")
    secret, name = f"skyweave_{secrets.token_urlsafe(32)}", new_id()
    connection.execute(
        tokens.insert().values(
            id=name, person=person, hash=hashed(secret), label=label, created=now,
            scopes=" ".join(sorted(scopes)), expires=now + days * DAY_S, began_by=began_by,
        )
    )  # fmt: skip
    return name, secret


def person_of(connection: Connection, token: str, now: float) -> Person:
    """Return whose token it is; :class:`RefusedError`, always the same, if it is not good."""
    refused = RefusedError("that token is not good; make a new one, or ask an admin")
    if not _TOKEN.fullmatch(token):
        raise refused
    row = connection.execute(
        select(people.c.name, people.c.role, tokens.c.scopes)
        .join(people, people.c.name == tokens.c.person)
        .where(
            tokens.c.hash == hashed(token), tokens.c.revoked.is_(None), tokens.c.expires > now,
            people.c.disabled.is_(None),
        )
    ).first()  # fmt: skip
    if row is None:
        raise refused
    return Person(row.name, row.role, frozenset(row.scopes.split()))


def make_code(connection: Connection, kind: str, person: str | None, now: float) -> str:
    """Return a new code, good once and for 15 minutes: ``admin``, ``node`` or ``server``."""
    code = "-".join("".join(secrets.choice(LETTERS) for _ in range(4)) for _ in range(4))
    connection.execute(
        codes.insert().values(
            hash=hashed(code), kind=kind, person=person, created=now, expires=now + CODE_S
        )
    )
    return code


def use_code(connection: Connection, kind: str, code: str, now: float) -> str | None:
    """Use up a code and return for whom it was; :class:`RefusedError` if it is not good."""
    row = None
    if re.fullmatch(CODE, code):
        row = connection.execute(
            codes.update()
            .where(
                codes.c.hash == hashed(code), codes.c.kind == kind, codes.c.used.is_(None),
                codes.c.expires > now,
            )
            .values(used=now)
            .returning(codes.c.person)
        ).first()  # fmt: skip
    if row is None:
        raise RefusedError("that code is not good: it was used, or is older than 15 minutes")
    return str(row.person) if row.person is not None else None
