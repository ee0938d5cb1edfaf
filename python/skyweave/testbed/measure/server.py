"""A measurement server: orders of the orchestrator become leases, and leases end."""

from __future__ import annotations

import platform
import threading
from collections.abc import Callable
from pathlib import Path

from pydantic import Field, ValidationError

from skyweave.testbed.errors import TestbedError
from skyweave.testbed.measure import firewall
from skyweave.testbed.measure.lease import BLOCK, Lease
from skyweave.testbed.measure.services import prepare
from skyweave.testbed.node.home import free_bytes
from skyweave.testbed.node.sandbox import Groups
from skyweave.testbed.node.talk import Talk
from skyweave.testbed.wire import Heartbeat, Message, Numbered, Ready, Refused, Release, Serve
from skyweave.testbed.wire.names import Port
from skyweave.version import code_version

FIRST_PORT = 5200
MOST_LEASES = 32


class Kept(Message):
    """A lease as the book keeps it, so that the next process opens it again."""

    serve: Serve
    first_port: Port


class KeptLeases(Message):
    """All leases of a server."""

    leases: dict[str, Kept] = Field(default_factory=dict)


class MeasureServer:
    """One server; :meth:`run` is its life."""

    def __init__(
        self, talk: Talk, address: str, folder: Path, groups: Groups, *,
        say: Callable[[str], object], first_port: int = FIRST_PORT,
    ) -> None:  # fmt: skip
        self.talk, self.stop, self._address, self._say = talk, talk.stop, address, say
        self._folder, self._groups, self._first_port = folder, groups, first_port
        self._pin = prepare(folder / "serve")
        self._lock = threading.Lock()
        self._leases: dict[str, tuple[Lease, threading.Event, threading.Thread]] = {}

    def run(self) -> None:
        """End what a dead process left, open its leases again, work until :attr:`stop` is set."""
        self._groups.sweep()
        firewall.sweep()
        for kept in list(self._kept().leases.values()):
            self._open(kept, tell=False)
        self.talk.begin(self.take, self.heartbeat)
        self.stop.wait()
        self.talk.wake()
        with self._lock:
            there = list(self._leases.values())
        for _, ended, _ in there:
            ended.set()
        for *_, thread in there:
            thread.join()

    def take(self, numbered: Numbered) -> None:
        """Do an order, once."""
        book, order = self.talk.book, numbered.order
        if numbered.sequence <= book.newest_order:
            return
        kept: Kept | None = None
        with book.turn():
            book.note("order", str(numbered.sequence))
            if isinstance(order, Serve):
                kept = self._keep(order)
        if kept is not None:
            self._open(kept, tell=True)
        elif isinstance(order, Release):
            self._end(order.run)
        self.talk.wake()

    def heartbeat(self) -> Heartbeat:
        """Return how the server is."""
        with self._lock:
            running = tuple(sorted(self._leases))
        return Heartbeat(
            clock=self.talk.clock, version=code_version()[:100], kernel=platform.release()[:200],
            isolation=self._groups.words[:100], running=running,
            waiting_events=self.talk.book.waiting(), free_bytes=free_bytes(self._folder),
        )  # fmt: skip

    def _keep(self, serve: Serve) -> Kept | None:
        """Note a lease with its block of ports; None after a refusal, if no block is free."""
        all_kept = self._kept().leases
        before = all_kept.get(serve.run)
        used = {one.first_port for run, one in all_kept.items() if run != serve.run}
        blocks = (self._first_port + BLOCK * place for place in range(MOST_LEASES))
        port = before.first_port if before else next((one for one in blocks if one not in used), 0)
        if not port:
            self._refuse(serve, "busy", f"{MOST_LEASES} runs are served already")
            return None
        kept = Kept(serve=serve, first_port=port)
        self._note(all_kept | {serve.run: kept})
        return kept

    def _open(self, kept: Kept, *, tell: bool) -> None:
        serve = kept.serve
        self._end(serve.run)  # the same run, ordered anew
        self._note(self._kept().leases | {serve.run: kept})
        try:
            if self.talk.true_time() >= serve.until_unix_s:
                raise TestbedError("its time is past")
            lease = Lease(serve, kept.first_port, self._folder / "serve", self._pin, self._groups)
        except TestbedError as error:
            self._say(f"run {serve.run}: {error}")
            self._forget(serve.run)
            if tell:
                self._refuse(serve, "other", str(error))
            return
        ended = threading.Event()
        thread = threading.Thread(target=self._hold, args=(lease, ended), daemon=True)
        with self._lock:
            self._leases[serve.run] = (lease, ended, thread)
        thread.start()
        if tell:
            ready = Ready(
                run=serve.run, fence=serve.fence, address=self._address, ports=lease.ports
            )
            self.talk.book.tell(ready, self.talk.true_time())

    def _hold(self, lease: Lease, ended: threading.Event) -> None:
        """Wait until a lease is over, then end it."""
        serve = lease.serve
        while (left := serve.until_unix_s - self.talk.true_time()) > 0:
            if ended.wait(min(left, 60.0)):
                break
        try:
            lease.close()
        except TestbedError as error:
            self._say(f"run {serve.run}: {error}")
        with self._lock:
            self._leases.pop(serve.run, None)
        if not self.stop.is_set():
            self._forget(serve.run)

    def _end(self, run: str) -> None:
        with self._lock:
            there = self._leases.get(run)
        if there is not None:
            there[1].set()
            there[2].join()
        self._forget(run)

    def _refuse(self, serve: Serve, reason: str, why: str) -> None:
        said = Refused.model_validate(
            {"run": serve.run, "fence": serve.fence, "reason": reason, "why": why[:500]}
        )
        self.talk.book.tell(said, self.talk.true_time())

    def _kept(self) -> KeptLeases:
        try:
            return KeptLeases.model_validate_json(self.talk.book.fact("leases") or "{}")
        except ValidationError:
            return KeptLeases()  # of another version; its runs are served no more

    def _note(self, leases: dict[str, Kept]) -> None:
        self.talk.book.note("leases", KeptLeases(leases=leases).model_dump_json())

    def _forget(self, run: str) -> None:
        with self.talk.book.turn():
            self._note({one: kept for one, kept in self._kept().leases.items() if one != run})
