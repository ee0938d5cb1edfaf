"""What a viewer saw: events and samples, written while they happen."""

from __future__ import annotations

import json
import threading
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

State = Literal["starting", "playing", "stalled", "ended", "closed"]
Event = Literal["asked", "playing", "underflow", "switch", "sample", "ended", "closed"]


@dataclass
class Seen:
    """How a play-out stands. ``None``: the player does not tell."""

    state: State = "starting"
    position_s: float | None = None
    """Where in the film the player's clock is."""
    film_s: float | None = None
    """Length of the film."""
    buffer_s: float | None = None
    """Media that are there beyond the position."""
    quality: int | None = None
    """Rung of the ladder that is shown, from 0."""
    shown: int | None = None
    """Pictures that were shown."""
    discarded: int | None = None
    """Pictures that were dropped as late."""
    underflows: int = 0
    """Times that the player ran dry after its start."""
    stall_s: float = 0.0
    """Time that it stood after its start."""


class Playback:
    """The record of one play-out. Threads may call it; nothing is lost if the process is killed."""

    def __init__(self, folder: Path) -> None:
        self._file = (folder / "playback.jsonl").open("w", encoding="ascii")
        self._lock = threading.Lock()
        self._seen = Seen()
        self._stalled_ns: int | None = None
        self._stalls_ns = 0
        self._asked_ns = 0
        self.startup_s: float | None = None
        """From the request to the first picture."""

    def asked(self) -> None:
        """The player was told to play."""
        with self._lock:
            self._asked_ns = time.monotonic_ns()
            self._write("asked", self._asked_ns)

    def tell(self, **fields: Any) -> None:
        """Take what the player says of itself now: fields of :class:`Seen`."""
        with self._lock:
            for name, value in fields.items():
                setattr(self._seen, name, value)

    def playing(self) -> None:
        """The clock of the player begins to run, or runs again."""
        with self._lock:
            if self._seen.state not in ("starting", "stalled"):
                return
            now = time.monotonic_ns()
            if self.startup_s is None:
                self.startup_s = (now - self._asked_ns) / 1e9
            if self._stalled_ns is not None:
                self._stalls_ns += now - self._stalled_ns
                self._stalled_ns = None
            self._seen.state = "playing"
            self._write("playing", now)

    def underflow(self) -> None:
        """The player has run dry and stands."""
        with self._lock:
            if self._seen.state not in ("playing", "stalled"):
                return
            now = time.monotonic_ns()
            self._seen.underflows += 1
            if self._stalled_ns is None:
                self._stalled_ns = now
            self._seen.state = "stalled"
            self._write("underflow", now)

    def switch(self, quality: int) -> None:
        """Another rung of the ladder is shown."""
        with self._lock:
            self._seen.quality = quality
            self._write("switch", time.monotonic_ns())

    def sample(self) -> None:
        """Nothing new: how things stand."""
        with self._lock:
            self._write("sample", time.monotonic_ns())

    def now(self) -> Seen:
        """Return how things stand."""
        with self._lock:
            return replace(self._seen)

    def over(self, event: Literal["ended", "closed"]) -> Seen:
        """The film has ended, or the session before that; return how things stood."""
        with self._lock:
            now = time.monotonic_ns()
            self._seen.state = event
            self._write(event, now)
            self._file.close()
            return self._seen

    def _write(self, event: Event, now: int) -> None:
        if self._file.closed:
            return
        stood = self._stalls_ns + (now - self._stalled_ns if self._stalled_ns is not None else 0)
        self._seen.stall_s = stood / 1e9
        line = {"monotonic_ns": now, "event": event, **asdict(self._seen)}
        self._file.write(json.dumps(line) + "\n")
        self._file.flush()
