"""People: the first admin by a code of the orchestrator's own terminal, all others by an admin."""

from __future__ import annotations

from sqlalchemy import Connection, func, select

from skyweave.errors import unknown_name
from skyweave.testbed.access.passkeys import revoke_passkeys
from skyweave.testbed.access.rights import ROLES, SCOPES
from skyweave.testbed.access.secrets import TOKEN_DAYS, make_code, make_token, use_code
from skyweave.testbed.errors import ConflictError, MissingError, RefusedError, TestbedError
from skyweave.testbed.store.tables import people, tokens

RESERVED = {"join", "orchestrator", "nobody"}
"""Names that the audit log, or the protocol, uses for others."""


def has_admin(connection: Connection) -> bool:
    """Tell whether somebody can let others in."""
    admins = select(people.c.name).where(people.c.role == "admin", people.c.disabled.is_(None))
    return connection.execute(admins).first() is not None


def first_admin_code(connection: Connection, now: float) -> str | None:
    """Return a code that makes its user an admin; None as soon as there is one."""
    return None if has_admin(connection) else make_code(connection, "admin", None, now)


def first_admin(connection: Connection, code: str, name: str, now: float) -> str:
    """Make the first admin and return a token; :class:`RefusedError` if there is one."""
    if has_admin(connection):
        raise RefusedError("there is an admin already; ask for an account")
    use_code(connection, "admin", code, now)
    return add_person(connection, name, "admin", now)


def add_person(connection: Connection, name: str, role: str, now: float) -> str:
    """Make an account and return its first token."""
    if role not in ROLES:
        raise TestbedError(unknown_name("role", role, ROLES))
    if name in RESERVED or connection.execute(select(people).where(people.c.name == name)).first():
        raise ConflictError(f"somebody is called '{name}' already; choose another name")
    connection.execute(people.insert().values(name=name, role=role, created=now))
    return make_token(connection, name, "first", SCOPES, TOKEN_DAYS, now)[1]


def change_person(
    connection: Connection, name: str, role: str | None, disabled: bool | None, now: float
) -> None:
    """Change a role, or shut somebody out; the last admin stays."""
    row = connection.execute(select(people).where(people.c.name == name)).first()
    if row is None:
        raise MissingError(f"nobody is called '{name}'")
    values: dict[str, object] = {}
    if role is not None:
        values["role"] = role
    if disabled is not None:
        values["disabled"] = now if disabled else None
    if values:
        connection.execute(people.update().where(people.c.name == name).values(**values))
    if not has_admin(connection):
        raise ConflictError(f"'{name}' is the only admin; make another one first")
    if disabled:
        revoke_tokens(connection, name, now)
        revoke_passkeys(connection, name, now)


def revoke_tokens(connection: Connection, person: str, now: float, name: str | None = None) -> int:
    """Revoke a person's token, or all; return how many were good."""
    good = (tokens.c.person == person) & tokens.c.revoked.is_(None)
    if name is not None:
        good &= tokens.c.id == name
    count = connection.execute(select(func.count()).select_from(tokens).where(good)).scalar_one()
    connection.execute(tokens.update().where(good).values(revoked=now))
    return count
