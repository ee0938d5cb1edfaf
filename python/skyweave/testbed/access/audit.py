"""The audit log: who did what, when; written in the transaction that does it."""

from __future__ import annotations

from sqlalchemy import Connection

from skyweave.testbed.store import tables


def note(
    connection: Connection, now: float, who: str, action: str, what: str, detail: str = ""
) -> None:
    """Add a line; nothing ever changes or removes one."""
    connection.execute(
        tables.audit.insert().values(
            at=now, who=who, action=action, what=what[:200], detail=detail[:1000]
        )
    )
