"""Who may do what: one table, which the interface asks and a test goes through."""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

Role = Literal["owner", "researcher", "operator", "admin"]
ROLES: tuple[Role, ...] = get_args(Role)
Reach = Literal["own", "all"]
"""What belongs to oneself, or everything."""
Scope = Literal["read", "submit", "manage"]
SCOPES: tuple[Scope, ...] = get_args(Scope)


class Right(NamedTuple):
    """What a role may reach, and which scope a token needs for it."""

    scope: Scope
    reach: dict[Role, Reach]


RIGHTS: dict[str, Right] = {
    "self": Right("read", {"owner": "own", "researcher": "own", "operator": "own", "admin": "own"}),
    "tokens": Right(
        "manage", {"owner": "own", "researcher": "own", "operator": "own", "admin": "own"}
    ),
    "nodes.see": Right(
        "read", {"owner": "all", "researcher": "all", "operator": "all", "admin": "all"}
    ),
    "nodes.invite": Right("manage", {"owner": "own", "admin": "all"}),
    "nodes.pause": Right("manage", {"owner": "own", "operator": "all", "admin": "all"}),
    "nodes.revoke": Right("manage", {"owner": "own", "admin": "all"}),
    "experiments.submit": Right("submit", {"owner": "own", "researcher": "all", "admin": "all"}),
    "experiments.fire": Right("submit", {"owner": "own", "researcher": "own", "admin": "all"}),
    "experiments.see": Right(
        "read", {"owner": "own", "researcher": "own", "operator": "all", "admin": "all"}
    ),
    "experiments.end": Right(
        "submit", {"owner": "own", "researcher": "own", "operator": "all", "admin": "all"}
    ),
    "runs.see": Right(
        "read", {"owner": "own", "researcher": "own", "operator": "all", "admin": "all"}
    ),
    "runs.stop": Right(
        "submit", {"owner": "own", "researcher": "own", "operator": "all", "admin": "all"}
    ),
    "artefacts.read": Right("read", {"owner": "own", "researcher": "own", "admin": "all"}),
    "calendar.see": Right(
        "read", {"owner": "all", "researcher": "all", "operator": "all", "admin": "all"}
    ),
    "people": Right("manage", {"admin": "all"}),
    "audit.see": Right("read", {"operator": "all", "admin": "all"}),
}
"""``own`` of nodes: those one brought. Of experiments and artefacts: those one submitted. Of runs:
those one submitted, and those on nodes that one brought. ``experiments.submit``: onto own nodes."""


class Person(NamedTuple):
    """Who asks, by a token that was checked."""

    name: str
    role: Role
    scopes: frozenset[str]

    def reach(self, right: str) -> Reach | None:
        """Return how far a right goes; None if this person, or this token, does not have it."""
        found = RIGHTS[right]
        return found.reach.get(self.role) if found.scope in self.scopes else None
