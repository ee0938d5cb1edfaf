"""A node and a server for tests, in virtual time: they do what docs/testbed.md says, or lie."""

from __future__ import annotations

import hashlib
import random
from dataclasses import dataclass, field

from sqlalchemy import select

from skyweave.testbed.runs import Keeper, Uploads
from skyweave.testbed.runs.orders import waiting
from skyweave.testbed.store.tables import nodes
from skyweave.testbed.wire import (
    Accepted,
    Artefact,
    Event,
    Events,
    Finished,
    PrivateKey,
    Ready,
    Refused,
    RunSpecification,
    Started,
    unseal,
)

CONTENT = b"measured\n"
DIGEST = hashlib.sha256(CONTENT).hexdigest()


@dataclass
class Doing:
    """A run on a node."""

    what: RunSpecification
    started: float | None = None


@dataclass
class VirtualNode:
    """One node, or server. Nothing happens but in :meth:`live`, at the time it is told."""

    name: str
    keeper: Keeper
    uploads: Uploads
    key: PrivateKey
    dice: random.Random = field(default_factory=lambda: random.Random(1))
    repeats: float = 0.0
    """How often an answer is lost, and the same told again."""
    after: int = 0
    number: int = 0
    outbox: list[Event] = field(default_factory=list)
    doing: dict[str, Doing] = field(default_factory=dict)
    files: list[str] = field(default_factory=list)
    begun: list[str] = field(default_factory=list)
    """Every run that ever began here, in order."""
    busy: list[tuple[float, float, str]] = field(default_factory=list)
    serving: set[str] = field(default_factory=set)
    makes_files: bool = True

    def tell(self, body, now: float) -> None:
        self.number += 1
        self.outbox.append(Event(sequence=self.number, time_unix_s=now, body=body))

    def next_moment(self) -> float | None:
        """When something happens here by itself."""
        moments = [
            one.what.start_unix_s if one.started is None else one.started + one.what.seconds
            for one in self.doing.values()
        ]
        return min(moments, default=None)

    def work(self, now: float) -> None:
        """What goes on without the orchestrator."""
        for run, one in list(self.doing.items()):
            what = one.what
            if one.started is None and now > what.latest_start_unix_s:
                late = Refused(run=run, fence=what.fence, reason="late", why="too late")
                self.tell(late, now)
                del self.doing[run]
            elif one.started is None and now >= what.start_unix_s:
                one.started = now
                self.begun.append(run)
                self.tell(Started(run=run, fence=what.fence), now)
            elif one.started is not None and now >= one.started + what.seconds:
                self._finish(run, "done", now)

    def _finish(self, run: str, outcome: str, now: float) -> None:
        one = self.doing.pop(run)
        if one.started is not None:
            self.busy.append((one.started, now, run))
        left = (Artefact(name="out.txt", bytes=len(CONTENT), sha256=DIGEST),)
        left = left if self.makes_files else ()
        self.tell(Finished(run=run, fence=one.what.fence, outcome=outcome, artefacts=left), now)
        if left:
            self.files.append(run)

    def talk(self, now: float) -> None:
        """Fetch orders, tell what is in the outbox, upload."""
        with self.keeper.database.read() as connection:
            signed = waiting(connection, self.name, self.after)
        for one in signed:
            numbered = unseal(one, self.key.public, self.name)
            assert numbered.sequence > self.after
            self.after = numbered.sequence
            self.obey(numbered.order, now)
        self.work(now)
        if self.outbox:
            told = Events(outbox="0" * 16, events=tuple(self.outbox[:200]))
            upto = self.keeper.hear(self.name, told, now)
            if self.dice.random() >= self.repeats:
                self.outbox = [one for one in self.outbox if one.sequence > upto]
        if not self.outbox:
            while self.files:
                self.upload(self.files.pop(), now)

    def obey(self, order, now: float) -> None:
        if order.kind == "start":
            what = order.specification
            assert what.run not in self.doing
            assert what.run not in self.begun, "ordered twice"
            self.doing[what.run] = Doing(what)
            self.tell(Accepted(run=what.run, fence=what.fence), now)
        elif order.kind == "stop" and order.run in self.doing:
            self._finish(order.run, order.outcome, now)
        elif order.kind == "serve":
            self.serving.add(order.run)
            ready = Ready(
                run=order.run, fence=order.fence, address="192.0.2.1",
                ports=dict.fromkeys(order.services, 5201),
            )  # fmt: skip
            self.tell(ready, now)
        elif order.kind == "release":
            self.serving.discard(order.run)

    def upload(self, run: str, now: float) -> None:
        said = Artefact(name="out.txt", bytes=len(CONTENT), sha256=DIGEST)
        with self.keeper.database.read() as connection:
            held = self.uploads.begin(connection, self.name, run, said)
            if held.done:
                return
            self.uploads.receive(
                connection, self.name, held.upload, held.held, CONTENT[held.held :]
            )
        assert self.uploads.keep(self.keeper.turn, held.upload, now)


def join(keeper: Keeper, name: str, kind: str = "node", owner: str = "bob") -> None:
    """Put a node into the testbed without its consent."""
    with keeper.database.write() as connection:
        assert not connection.execute(select(nodes).where(nodes.c.name == name)).first()
        connection.execute(
            nodes.insert().values(
                name=name, kind=kind, owner=owner, key=PrivateKey.make().public, joined=0.0
            )
        )
