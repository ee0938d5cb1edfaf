"""Orders, written in the transaction that decides them; nodes fetch them when they can."""

from __future__ import annotations

import secrets
from typing import Any

from sqlalchemy import Connection, Row, select

from skyweave.testbed.runs.plan import Plan
from skyweave.testbed.store.tables import experiments, nodes, orders, runs
from skyweave.testbed.wire import (
    FarEnd,
    Numbered,
    Origin,
    PrivateKey,
    Release,
    RunSpecification,
    Serve,
    Signed,
    Start,
    Stop,
    seal,
)
from skyweave.testbed.wire.names import MOST_ORDERS

BEFORE_S = 60.0
"""How long before a run its server may answer."""


class Dispatch:
    """Writes orders under the orchestrator's key, and remembers whom to wake afterwards."""

    def __init__(self, connection: Connection, key: PrivateKey, now: float) -> None:
        self._connection = connection
        self._key = key
        self._now = now
        self.told: set[str] = set()
        """Nodes and servers that have news, once the transaction is through."""

    def send(self, what: str, run: Row[Any]) -> None:
        """Write an order: ``serve`` or ``release`` to the run's server, else to its node."""
        if what == "serve":
            self._put(run.server, self._serve(run), run.id)
        elif what == "release":
            if run.token:
                self._put(run.server, Release(run=run.id, fence=run.fence), run.id)
        elif what == "start":
            specification = specify(self._connection, run)
            self._put(run.node, Start(specification=specification), run.id)
        else:
            stop = Stop(run=run.id, fence=run.fence, outcome=run.outcome, why=run.why)
            self._put(run.node, stop, run.id)

    def _serve(self, run: Row[Any]) -> Serve:
        token = secrets.token_urlsafe(32)
        self._connection.execute(runs.update().where(runs.c.id == run.id).values(token=token))
        plan = plan_of(self._connection, run.experiment)
        address = self._connection.execute(
            select(nodes.c.address).where(nodes.c.name == run.node)
        ).scalar_one()
        return Serve(
            run=run.id, fence=run.fence, services=plan.services, client=run.node,
            client_address=address, token=token, from_unix_s=max(0.0, run.start - BEFORE_S),
            until_unix_s=run.latest + run.seconds, seconds=run.seconds,
        )  # fmt: skip

    def _put(self, node: str, order: Start | Stop | Serve | Release, run: str) -> None:
        count = (
            nodes.update()
            .where(nodes.c.name == node)
            .values(newest_order=nodes.c.newest_order + 1)
            .returning(nodes.c.newest_order)
        )
        number = self._connection.execute(count).scalar_one()
        numbered = Numbered(node=node, sequence=number, issued_unix_s=self._now, order=order)
        signed = seal(self._key, numbered)
        self._connection.execute(
            orders.insert().values(
                node=node, sequence=number, run=run, issued=self._now, text=signed.text,
                signature=signed.signature,
            )
        )  # fmt: skip
        self.told.add(node)


def plan_of(connection: Connection, experiment: str) -> Plan:
    """Return the plan of an experiment."""
    text = connection.execute(
        select(experiments.c.plan).where(experiments.c.id == experiment)
    ).scalar_one()
    return Plan.model_validate_json(text)


def specify(connection: Connection, run: Row[Any]) -> RunSpecification:
    """Return the specification of a run for its node."""
    plan = plan_of(connection, run.experiment)
    return RunSpecification(
        run=run.id, fence=run.fence, node=run.node, kind=plan.kind, priority=plan.priority,
        start_unix_s=run.start, latest_start_unix_s=run.latest, seconds=run.seconds,
        work=plan.work, input=plan.input, limits=plan.limits, settings=plan.settings,
        far_end=FarEnd.model_validate_json(run.far_end) if run.far_end else None,
        origin=Origin(
            experiment=run.experiment, user=run.owner, title=plan.title, trigger=run.trigger,
            context_json=run.context,
        ),
    )  # fmt: skip


def waiting(connection: Connection, node: str, after: int) -> tuple[Signed, ...]:
    """Return the orders of a node that follow number ``after``."""
    rows = connection.execute(
        select(orders.c.text, orders.c.signature)
        .where(orders.c.node == node, orders.c.sequence > after)
        .order_by(orders.c.sequence)
        .limit(MOST_ORDERS)
    )
    return tuple(Signed(text=row.text, signature=row.signature) for row in rows)
