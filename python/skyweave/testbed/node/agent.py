"""The agent: orders in, runs in threads, news out; and whatever happens, it goes on.

Three threads talk to the orchestrator (orders, news and files, heartbeats), each with its own
patience. Runs need none of them: what has begun ends, and what was accepted begins, without it.
"""

from __future__ import annotations

import contextlib
import platform
import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path

from skyweave.errors import SkyweaveError
from skyweave.testbed.errors import RefusedError
from skyweave.testbed.node import orders
from skyweave.testbed.node.book import Book
from skyweave.testbed.node.clock import ClockWatch
from skyweave.testbed.node.dial import Backoff, Link
from skyweave.testbed.node.home import free_bytes
from skyweave.testbed.node.policy import Policy
from skyweave.testbed.node.runner import Going, Node, Yielding, carry, crashed
from skyweave.testbed.node.sandbox import Ground
from skyweave.testbed.node.settings import Leases
from skyweave.testbed.wire import Events, Heartbeat, Numbered, RunSpecification, unseal
from skyweave.version import code_version

BEAT_S = 30.0
KEPT_S = 40 * 86_400.0
"""How long runs that are over are remembered, for the bytes of a day and late orders."""


class Agent:
    """One node; :meth:`run` is its life."""

    def __init__(
        self, folder: Path, name: str, orchestrator_key: str, link: Link, ground: Ground,
        policy: Policy, *, say: Callable[[str], object], now: Callable[[], float] = time.time,
        yielding: Callable[[], Yielding | None] = lambda: None,
    ) -> None:  # fmt: skip
        """``say`` is given sentences for the owner; ``now`` is this machine's clock."""
        self.name, self._key, self._link, self._now = name, orchestrator_key, link, now
        self.stop = threading.Event()
        self._news, self._compared = threading.Event(), threading.Event()
        self.clock = ClockWatch()
        self._folder, self._say = folder, say
        self.node = Node(
            Book(folder / "book.db"), link, ground, Leases(folder / "settings"), policy,
            true_time=self.true_time, wake=self._news.set, say=say, stopping=self.stop,
            yielding=yielding,
        )  # fmt: skip
        self._going: dict[str, tuple[Going, threading.Thread]] = {}
        self._lock = threading.Lock()

    def true_time(self) -> float:
        """Return the time by this machine's clock and what is known of its offset."""
        now = self._now()
        return now + self.clock.at(now).offset_s

    def run(self) -> None:
        """End what a dead process left, then work until :attr:`stop` is set."""
        self.recover()
        loops = (self._orders, self._tell, self._beat)
        threads = [threading.Thread(target=loop, daemon=True) for loop in loops]
        for one in threads:
            one.start()
        self.stop.wait()
        self._news.set()
        self.end()

    def end(self) -> None:
        """End all runs; what was not told is told by the next process."""
        with self._lock:
            there = list(self._going.values())
        for going, _ in there:
            going.end("crashed", "the node was stopped")
        for _, thread in there:
            thread.join()

    def recover(self) -> None:
        """End the runs that a dead process left, and go on with those that had not begun."""
        node = self.node
        self._remember_clock()
        node.ground.sweep()
        for one in node.book.runs(*orders.OPEN):
            if one.specification is None:
                continue
            if one.state == "running":
                crashed(node, one.specification, one.started_unix_s)
            else:
                self._begin(one.specification, accepted=one.state == "accepted")
        node.book.prune(self.true_time() - KEPT_S)

    def take(self, numbered: Numbered) -> None:
        """Do an order."""
        now = self._now()
        found = orders.take(
            self.node.book, self.node.policy, numbered, self.true_time(), self.clock.at(now)
        )
        if isinstance(found, orders.Prepare):
            self._begin(found.specification, accepted=False)
        elif isinstance(found, orders.End):
            self._end(found.run, found.outcome, found.why)
        self._news.set()

    def _begin(self, what: RunSpecification, *, accepted: bool) -> None:
        going = Going(what)
        before = self._going.get(what.run)

        def work() -> None:
            if before is not None:  # the same run under a lower fence
                before[1].join()
            carry(self.node, going, accepted)
            with self._lock:
                if self._going.get(what.run, (None, None))[0] is going:
                    del self._going[what.run]

        thread = threading.Thread(target=work, daemon=True)
        with self._lock:
            self._going[what.run] = (going, thread)
        thread.start()

    def _end(self, run: str, outcome: orders.StopOutcome, why: str) -> None:
        with self._lock:
            there = self._going.get(run)
        if there is not None:
            there[0].end(outcome, why)

    def _orders(self) -> None:
        """Ask for orders again and again, once the clock is known."""
        while not self._compared.wait(BEAT_S):
            if self.stop.is_set():
                return

        def ask() -> float:
            for signed in self._link.orders(self.node.book.newest_order).orders:
                try:
                    self.take(unseal(signed, self._key, self.name))
                except RefusedError as error:
                    self._say(str(error))
                    raise
            return 0.0

        self._again("orders", ask)

    def _tell(self) -> None:
        """Tell news when there are some, and send files when there is nothing to tell."""
        self._again("news", self._tell_once)

    def _tell_once(self) -> float:
        self._news.clear()
        book = self.node.book
        waiting = book.unsent()
        if waiting:
            said = self._link.events(Events(outbox=book.outbox, events=waiting))
            book.stored(min(said.upto, waiting[-1].sequence))
            return 0.0
        for run, artefact in book.files()[:1]:
            folder = self.node.ground.folder / "runs" / run
            self._link.send(run, artefact, folder / artefact.name)
            (folder / artefact.name).unlink(missing_ok=True)
            if book.sent(run, artefact.name):
                shutil.rmtree(folder, ignore_errors=True)
            return 0.0
        self._news.wait()
        return 0.0

    def _beat(self) -> None:
        """Say each half minute that the node is well, and learn the time."""
        self._again("heartbeat", self._beat_once)

    def _beat_once(self) -> float:
        sent = self._now()
        answer = self._link.heartbeat(self.heartbeat())
        self.clock.compare(sent, self._now(), answer.now_unix_s)
        self._compared.set()
        clock = self.clock.at(self._now())
        self.node.book.note("clock", f"{self._now()!r} {clock.offset_s!r} {clock.error_s!r}")
        return BEAT_S

    def heartbeat(self) -> Heartbeat:
        """Return how the node is."""
        node = self.node
        with self._lock:
            running = tuple(sorted(self._going))[:100]
        return Heartbeat(
            clock=self.clock.at(self._now()), version=code_version()[:100],
            kernel=platform.release()[:200],
            isolation=f"bubblewrap, {node.ground.groups.words}"[:100], running=running,
            waiting_events=node.book.waiting(), free_bytes=free_bytes(self._folder),
            policy=node.policy.words,
        )  # fmt: skip

    def _again(self, what: str, do: Callable[[], float]) -> None:
        """Do something until the end: at once again or after what it says, later after failures."""
        backoff, said = Backoff(), ""
        while not self.stop.is_set():
            try:
                wait_s = do()
                if said:
                    self._say(f"{what}: the orchestrator answers again")
                backoff.worked()
                said = ""
            except (SkyweaveError, OSError) as error:
                wait_s = backoff.failed()
                if str(error) != said:
                    said = str(error)
                    self._say(f"{what}: {said}")
            self.stop.wait(wait_s)

    def _remember_clock(self) -> None:
        """Take the last comparison of clocks that a process before this one made."""
        noted = self.node.book.fact("clock")
        with contextlib.suppress(ValueError, AttributeError):
            at, offset, error = map(float, (noted or "").split())
            self.clock.compare(at - error, at + error, at + offset)
            self._compared.set()
