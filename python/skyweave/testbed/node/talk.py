"""Talking to the orchestrator: orders in, news and files out, heartbeats.

Nodes and measurement servers do it alike. Each of the three has its own patience, and nothing else
waits for them: what is in the book is told when it can be.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path

from skyweave.errors import SkyweaveError
from skyweave.testbed.errors import RefusedError
from skyweave.testbed.node.book import Book
from skyweave.testbed.node.clock import ClockWatch
from skyweave.testbed.node.dial import Backoff, Link
from skyweave.testbed.wire import Clock, Events, Heartbeat, Numbered, Signed, is_signed, unseal
from skyweave.testbed.wire.sealed import PURPOSE

BEAT_S = 30.0


class Talk:
    """The threads that talk, from :meth:`begin` until :attr:`stop` is set."""

    def __init__(
        self, name: str, orchestrator_key: str, link: Link, book: Book, folder: Path, *,
        say: Callable[[str], object], now: Callable[[], float] = time.time,
    ) -> None:  # fmt: skip
        """``folder`` holds ``runs/RUN``, whose files are sent; ``say`` is given sentences."""
        self.name, self.book, self.stop = name, book, threading.Event()
        self._key, self._link, self._folder, self._say, self._now = (
            orchestrator_key, link, folder, say, now,
        )  # fmt: skip
        self._clock = ClockWatch()
        self._news, self._compared = threading.Event(), threading.Event()
        noted = book.fact("clock")
        with contextlib.suppress(ValueError):  # the last comparison that a dead process made
            at, offset, error = map(float, (noted or "").split())
            self._clock.compare(at - error, at + error, at + offset)
            self._compared.set()

    @property
    def clock(self) -> Clock:
        """What is known of this machine's clock now."""
        return self._clock.at(self._now())

    def true_time(self) -> float:
        """Return the time by this machine's clock and what is known of its offset."""
        return self._now() + self.clock.offset_s

    def wake(self) -> None:
        """Say that there is something to tell."""
        self._news.set()

    def begin(self, take: Callable[[Numbered], None], beat: Callable[[], Heartbeat]) -> None:
        """Start talking: ``take`` is given each order, ``beat`` says how this machine is."""
        for work in (lambda: self._orders(take), self._tell, lambda: self._beat(beat)):
            threading.Thread(target=work, daemon=True).start()

    def _orders(self, take: Callable[[Numbered], None]) -> None:
        """Ask for orders again and again, once the clock is known."""
        while not self._compared.wait(BEAT_S):
            if self.stop.is_set():
                return

        def ask() -> float:
            for signed in self._link.orders(self.book.newest_order).orders:
                try:
                    take(unseal(signed, self._key, self.name))
                except RefusedError as error:
                    self._pass_over(signed, error)
            return 0.0

        self._again("orders", ask)

    def _pass_over(self, signed: Signed, error: RefusedError) -> None:
        """Leave out an order that is the orchestrator's, and that this version cannot read.

        It would stand in the way of all that follow. What is not signed is asked for again: raises
        the ``error``.
        """
        if not is_signed(self._key, PURPOSE + signed.text.encode(), signed.signature):
            raise error
        with contextlib.suppress(ValueError, TypeError, KeyError):
            facts = json.loads(signed.text)
            if facts["node"] == self.name and int(facts["sequence"]) > self.book.newest_order:
                self.book.note("order", str(int(facts["sequence"])))
                self._say(f"orders: {error}")
                return
        raise error

    def _tell(self) -> None:
        """Tell news when there are some, and send files when there is nothing to tell."""
        self._again("news", self._tell_once)

    def _tell_once(self) -> float:
        self._news.clear()
        waiting = self.book.unsent()
        if waiting:
            said = self._link.events(Events(outbox=self.book.outbox, events=waiting))
            self.book.stored(min(said.upto, waiting[-1].sequence))
            return 0.0
        for run, artefact in self.book.files()[:1]:
            folder = self._folder / "runs" / run
            self._link.send(run, artefact, folder / artefact.name)
            (folder / artefact.name).unlink(missing_ok=True)
            if self.book.sent(run, artefact.name):
                shutil.rmtree(folder, ignore_errors=True)
            return 0.0
        self._news.wait()
        return 0.0

    def _beat(self, beat: Callable[[], Heartbeat]) -> None:
        """Say each half minute that all is well, and learn the time."""

        def once() -> float:
            sent = self._now()
            answer = self._link.heartbeat(beat())
            self._clock.compare(sent, self._now(), answer.now_unix_s)
            self._compared.set()
            known = self.clock
            self.book.note("clock", f"{self._now()!r} {known.offset_s!r} {known.error_s!r}")
            return BEAT_S

        self._again("heartbeat", once)

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
