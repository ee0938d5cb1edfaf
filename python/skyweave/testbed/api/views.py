"""What people see of rows: plain answers, with nothing in them that is not theirs."""

from __future__ import annotations

import json
from typing import Annotated, Any

from pydantic import StringConstraints
from sqlalchemy import Row

from skyweave.testbed.access.rights import Role, Scope
from skyweave.testbed.runs.plan import Plan
from skyweave.testbed.wire import Artefact, Message


class Me(Message):
    """Who a token belongs to."""

    name: str
    role: str
    scopes: tuple[str, ...]


class TokenView(Message):
    """A token, without itself."""

    id: str
    label: str
    scopes: str
    created_unix_s: float
    expires_unix_s: float
    revoked_unix_s: float | None


class TokenWish(Message):
    """What a new token shall be good for."""

    label: str
    scopes: tuple[Scope, ...] = ("read", "submit", "manage")
    days: float = 90.0


class NewToken(Message):
    """A token, shown once."""

    id: str = ""
    token: str


class PasskeyView(Message):
    """A passkey, without its key."""

    id: str
    label: str
    created_unix_s: float
    used_unix_s: float | None
    revoked_unix_s: float | None


class IdentityView(Message):
    """A subject of an OpenID provider that signs in as somebody."""

    id: str
    issuer: str
    subject: str
    created_unix_s: float


class IdentityWish(Message):
    """Who shall sign in; without an issuer, one of the orchestrator's own."""

    subject: str
    issuer: str | None = None


class FirstAdmin(Message):
    """The code of the orchestrator's terminal, and a name."""

    code: str
    name: str


class PersonView(Message):
    """An account."""

    name: str
    role: str
    created_unix_s: float
    disabled: bool


class PersonWish(Message):
    """A new account."""

    name: str
    role: Role


class PersonChange(Message):
    """What shall change of an account."""

    role: Role | None = None
    disabled: bool | None = None


class InvitationWish(Message):
    """What is invited."""

    kind: str = "node"


class InvitationView(Message):
    """An invitation, shown once."""

    invitation: str
    expires_unix_s: float


class NodeView(Message):
    """A node or a server. Its clock, versions and policy are what it said last."""

    name: str
    kind: str
    owner: str
    joined_unix_s: float
    seen_unix_s: float | None
    paused: bool
    revoked: bool
    heartbeat: dict[str, Any] | None


class NodeChange(Message):
    """What shall change of a node."""

    paused: bool


class ExperimentView(Message):
    """An experiment."""

    id: str
    owner: str
    plan: Plan
    created_unix_s: float
    ended_unix_s: float | None


class Submitted(Message):
    """An experiment that was taken, and its runs so far."""

    id: str
    runs: tuple[str, ...]


class CalendarAnswer(Message):
    """What the calendar would say to a plan; nothing is reserved by asking."""

    fits: bool
    begins_unix_s: float | None
    """When the first run would begin; null when a trigger says that."""
    taken_unix_s: int | None
    """When something is in the way."""
    nearest_unix_s: int | None
    """A start at which nothing would be."""


class Firing(Message):
    """What fired, and the samples around it as JSON."""

    trigger: Annotated[str, StringConstraints(min_length=1, max_length=100)]
    context_json: Annotated[str, StringConstraints(max_length=100_000)] = "{}"


class Change(Message):
    """A state that a run took."""

    state: str
    at_unix_s: float
    why: str


class RunView(Message):
    """A run."""

    id: str
    experiment: str
    owner: str
    node: str
    server: str | None
    priority: str
    state: str
    outcome: str | None
    why: str
    start_unix_s: float
    seconds: float
    trigger: str | None
    started_unix_s: float | None
    ended_unix_s: float | None
    again_of: str


class RunDetails(Message):
    """A run with its history, what its node said at the end, and its files."""

    run: RunView
    history: tuple[Change, ...]
    report: dict[str, Any] | None
    context: str | None
    artefacts: tuple[ArtefactView, ...]


class ArtefactView(Message):
    """A file of a run."""

    artefact: Artefact
    stored: bool


class Taken(Message):
    """A time at which a node or server is taken; ``run`` and ``owner`` if they are one's own."""

    resource: str
    start_unix_s: int
    end_unix_s: int
    priority: str
    run: str | None
    owner: str | None


class AuditLine(Message):
    """Who did what."""

    id: int
    at_unix_s: float
    who: str
    action: str
    what: str
    detail: str


RunDetails.model_rebuild()


def node_view(row: Row[Any]) -> NodeView:
    """Return what everybody may know of a node: not its address, not its key."""
    return NodeView(
        name=row.name, kind=row.kind, owner=row.owner, joined_unix_s=row.joined,
        seen_unix_s=row.seen, paused=row.paused, revoked=row.revoked is not None,
        heartbeat=json.loads(row.heartbeat) if row.heartbeat else None,
    )  # fmt: skip


def run_view(row: Row[Any]) -> RunView:
    """Return a run."""
    return RunView(
        id=row.id, experiment=row.experiment, owner=row.owner, node=row.node, server=row.server,
        priority=row.priority, state=row.state, outcome=row.outcome, why=row.why,
        start_unix_s=row.start, seconds=row.seconds, trigger=row.trigger,
        started_unix_s=row.started, ended_unix_s=row.ended, again_of=row.again_of,
    )  # fmt: skip


def experiment_view(row: Row[Any]) -> ExperimentView:
    """Return an experiment."""
    return ExperimentView(
        id=row.id, owner=row.owner, plan=Plan.model_validate_json(row.plan),
        created_unix_s=row.created, ended_unix_s=row.ended,
    )  # fmt: skip
