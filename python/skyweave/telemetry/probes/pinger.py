"""Sends probes on time, whatever came of the last one, and says of each what came.

A pinger that waits for a reply, or for its absence, before it goes on is silent while a satellite
changes: the seconds that matter are then missing from its log.
"""

from __future__ import annotations

import selectors
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import polars as pl

from skyweave.errors import ConfigError
from skyweave.telemetry.probes.probe import Probe

INTERVAL_S = 0.1
LEAST_INTERVAL_S = 0.01
"""A hundred a second is what an echo server answers at most."""
TIMEOUT_S = 3.0
LATE_S = 60.0
"""How long an answer to a probe that was given up counts as late, and a second one as double."""
SCHEMA: dict[str, Any] = {
    "time_unix_s": pl.Float64,
    "probe": pl.String,
    "number": pl.Int64,
    "rtt_ms": pl.Float64,
    "refused": pl.String,
}
"""When a probe was sent, and its round trip; null: lost. ``refused``: why it was not sent."""


@dataclass(frozen=True)
class Sample:
    """What came of one probe; ``rtt_ms`` is None if it was lost or could not be sent."""

    time_unix_s: float
    probe: str
    number: int
    rtt_ms: float | None
    refused: str | None = None


@dataclass
class Counts:
    """Of all probes so far."""

    sent: int = 0
    answered: int = 0
    lost: int = 0
    refused: int = 0
    late: int = 0
    """Answers after the time was over; these probes count as lost."""
    duplicates: int = 0
    skipped: int = 0
    """Moments at which this machine was too late to send."""


@dataclass(frozen=True)
class _Asked:
    sent_s: float
    sent_unix_s: float


class Pinger:
    """One probe, sent each ``interval_s``; time comes in from outside."""

    def __init__(
        self, probe: Probe, keep: Callable[[Sample], object],
        interval_s: float = INTERVAL_S, timeout_s: float = TIMEOUT_S,
    ) -> None:  # fmt: skip
        """``keep`` gets each sample once, when its answer came or its time is over."""
        if not LEAST_INTERVAL_S <= interval_s <= 3600:
            raise ConfigError(f"--interval {interval_s:g}: give {LEAST_INTERVAL_S:g} to 3600 s")
        if not 0 < timeout_s <= 60:
            raise ConfigError(f"--timeout {timeout_s:g}: give seconds up to 60")
        self.probe = probe
        self.counts = Counts()
        self.interval_s = interval_s
        self.timeout_s = min(timeout_s, probe.most_timeout_s)
        self._keep = keep
        self._waiting: dict[int, _Asked] = {}
        self._over: dict[int, tuple[float, bool]] = {}
        self._due_s: float | None = None
        self._begin_s = 0.0
        self._moment = 0
        self._number = 0

    @property
    def due_s(self) -> float | None:
        """When the next probe is due; None before the first."""
        return self._due_s

    def tick(self, now_s: float, now_unix_s: float) -> None:
        """Send what is due and give up what is over; ``now_s`` is of a clock that never jumps."""
        self._expire(now_s)
        if self._due_s is None:
            self._due_s = self._begin_s = now_s
        if now_s < self._due_s:
            return
        missed = int((now_s - self._due_s) / self.interval_s)
        self.counts.skipped += missed
        self._moment += missed + 1
        self._due_s = self._begin_s + self._moment * self.interval_s
        number, self._number = self._number, self._number + 1
        try:
            self.probe.send(number)
        except OSError as error:
            self.counts.refused += 1
            why = error.strerror or str(error)
            self._keep(Sample(now_unix_s, self.probe.name, number, None, why))
            return
        self.counts.sent += 1
        self._waiting[number] = _Asked(now_s, now_unix_s)

    def heard(self, number: int, now_s: float) -> None:
        """Take an answer to question ``number``."""
        asked = self._waiting.pop(number, None)
        if asked is not None:
            self.counts.answered += 1
            self._over[number] = (now_s, True)
            rtt_ms = 1e3 * (now_s - asked.sent_s)
            self._keep(Sample(asked.sent_unix_s, self.probe.name, number, rtt_ms))
        elif number in self._over:
            since, answered = self._over[number]
            self.counts.duplicates += answered
            self.counts.late += not answered
            self._over[number] = (since, True)

    def finish(self) -> None:
        """Give up everything that is still waited for."""
        self._expire(float("inf"))

    def _expire(self, now_s: float) -> None:
        """Give up what is over; both tables are in the order of time, so the first are oldest."""
        for number, asked in list(self._waiting.items()):
            if now_s - asked.sent_s < self.timeout_s:
                break
            del self._waiting[number]
            self.probe.forget(number)
            self.counts.lost += 1
            self._over[number] = (now_s, False)
            self._keep(Sample(asked.sent_unix_s, self.probe.name, number, None))
        for number, (since, _) in list(self._over.items()):
            if now_s - since < LATE_S:
                break
            del self._over[number]


def ping(pingers: list[Pinger], stop: threading.Event, duration_s: float = float("inf")) -> None:
    """Run pingers side by side until told to stop; none waits for another.

    The last answers are waited for as long as the longest time-out.
    """
    clock, begin = time.monotonic, time.monotonic()
    while not stop.is_set() and clock() - begin < duration_s:
        for one in pingers:
            one.tick(clock(), time.time())
        due = min(one.due_s or 0.0 for one in pingers)
        _listen(pingers, max(0.0, min(due, begin + duration_s) - clock()), clock)
    end = clock() + max(one.timeout_s for one in pingers)
    while clock() < end and any(one.counts.sent > _settled(one.counts) for one in pingers):
        _listen(pingers, max(0.0, end - clock()), clock)
    for one in pingers:
        one.finish()


def _settled(counts: Counts) -> int:
    return counts.answered + counts.lost


def _listen(pingers: list[Pinger], most_s: float, clock: Callable[[], float]) -> None:
    """Wait for answers, once."""
    with selectors.DefaultSelector() as selector:
        for one in pingers:
            for each in one.probe.sockets():
                selector.register(each, selectors.EVENT_READ | _writes(one.probe), one)
        for key, _ in selector.select(most_s):
            now_s = clock()
            ready: Any = key.fileobj
            for number in key.data.probe.receive(ready):
                key.data.heard(number, now_s)


def _writes(probe: Probe) -> int:
    """Connections under way are done when they can be written to."""
    return selectors.EVENT_WRITE if getattr(probe, "connects", False) else 0
