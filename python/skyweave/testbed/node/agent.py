"""The agent of a node: orders become runs in threads; and whatever happens, it goes on.

Runs need no orchestrator: what has begun ends, and what was accepted begins, without it.
"""

from __future__ import annotations

import platform
import threading
from collections.abc import Callable

from skyweave.testbed.node import orders
from skyweave.testbed.node.dial import Link
from skyweave.testbed.node.figures import Figures
from skyweave.testbed.node.firing import Firing
from skyweave.testbed.node.home import free_bytes
from skyweave.testbed.node.policy import Policy
from skyweave.testbed.node.runner import Going, Node, carry, crashed
from skyweave.testbed.node.sandbox import Ground
from skyweave.testbed.node.settings import Leases
from skyweave.testbed.node.talk import Talk
from skyweave.testbed.node.yielding import Yielding
from skyweave.testbed.wire import Heartbeat, Numbered, RunSpecification
from skyweave.version import code_version

KEPT_S = 40 * 86_400.0
"""How long runs that are over are remembered, for the bytes of a day and late orders."""


class Agent:
    """One node; :meth:`run` is its life."""

    def __init__(
        self, talk: Talk, link: Link, ground: Ground, policy: Policy, *,
        say: Callable[[str], object], yielding: Callable[[], Yielding | None] = lambda: None,
    ) -> None:  # fmt: skip
        """``say`` is given sentences for the owner.

        Raises :class:`skyweave.ConfigError` if the policy's triggers are not there, or are wrong.
        """
        self.talk, self.stop = talk, talk.stop
        self.node = Node(
            talk.book, link, ground, Leases(ground.folder / "settings"), policy,
            true_time=talk.true_time, wake=talk.wake, say=say, stopping=talk.stop,
            yielding=yielding,
        )  # fmt: skip
        self._firing = Firing.of(
            ground.folder, dict(policy.fires), dict(policy.hints), talk.book,
            offset_s=lambda: talk.clock.offset_s, wake=talk.wake, say=say,
        )  # fmt: skip
        self._figures = Figures(policy.tells, policy.dish)
        self._going: dict[str, tuple[Going, threading.Thread]] = {}
        self._lock = threading.Lock()

    def run(self) -> None:
        """End what a dead process left, then work until :attr:`stop` is set."""
        self.recover()
        self.talk.begin(self.take, self.heartbeat)
        if self._firing is not None:
            threading.Thread(target=self._firing.run, args=(self.stop,), daemon=True).start()
        self.stop.wait()
        self.talk.wake()
        self.end()

    def end(self) -> None:
        """End all runs; the next process reports the events that were not reported."""
        with self._lock:
            there = list(self._going.values())
        for going, _ in there:
            going.end("crashed", "the node was stopped")
        for _, thread in there:
            thread.join()

    def recover(self) -> None:
        """End the runs that a dead process left, and go on with those that had not begun."""
        node = self.node
        node.ground.sweep()
        for one in node.book.runs(*orders.OPEN):
            if one.specification is None:
                continue
            if one.state == "running":
                crashed(node, one.specification, one.started_unix_s)
            else:
                self._begin(one.specification, accepted=one.state == "accepted")
        node.book.prune(node.true_time() - KEPT_S)

    def take(self, numbered: Numbered) -> None:
        """Do an order."""
        node = self.node
        found = orders.take(node.book, node.policy, numbered, node.true_time(), self.talk.clock)
        if isinstance(found, orders.Prepare):
            self._begin(found.specification, accepted=False)
        elif isinstance(found, orders.End):
            with self._lock:
                there = self._going.get(found.run)
            if there is not None:
                there[0].end(found.outcome, found.why)
        self.talk.wake()

    def heartbeat(self) -> Heartbeat:
        """Return how the node is."""
        node = self.node
        with self._lock:
            running = tuple(sorted(self._going))[:100]
        return Heartbeat(
            clock=self.talk.clock, version=code_version()[:100], kernel=platform.release()[:200],
            isolation=f"bubblewrap, {node.ground.groups.words}"[:100], running=running,
            waiting_events=node.book.waiting(), free_bytes=free_bytes(node.ground.folder),
            policy=node.policy.words, dish=self._figures.dish(), radio=self._figures.radio(),
        )  # fmt: skip

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
