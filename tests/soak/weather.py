"""What befalls the world of a soak: one kind of fault a method, drawn at random."""

from __future__ import annotations

import heapq
import os
import random
import signal
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from fleet import Client, Server, kill
from place import Place

PER_MINUTE = {
    "outage": 2.0,
    "all paths dark": 0.3,
    "interface away": 0.7,
    "address change": 1.0,
    "client killed": 0.6,
    "server killed": 0.2,
    "end suspended": 0.4,
    "disk full": 0.3,
}
"""How often each comes. For a process that was suspended the monotonic clock steps ahead."""
LEFT_BYTES = 200_000
"""What a full disk leaves."""


class Weather:
    """Begins faults and ends them; at most one at a time of each thing."""

    def __init__(
        self, place: Place, server: Server, clients: list[Client], disk: Path | None, seed: int
    ) -> None:
        self._place, self._server, self._clients, self._disk = place, server, clients, disk
        self._draw = random.Random(f"weather {seed}")
        self._ends: list[tuple[float, int, Callable[[], None]]] = []
        self._busy: set[str] = set()
        self._number = 0
        self.counts: Counter[str] = Counter()

    def pass_by(self, now_s: float, step_s: float) -> None:
        """Let ``step_s`` go by: what ends by now ends, and faults may begin."""
        self.clear(now_s)
        for kind, often in PER_MINUTE.items():
            if self._draw.random() < often * step_s / 60:
                self._begin(now_s, kind)

    def clear(self, now_s: float) -> None:
        """End what has lasted long enough."""
        while self._ends and self._ends[0][0] <= now_s:
            heapq.heappop(self._ends)[2]()

    def _begin(self, now_s: float, kind: str) -> None:
        begin = {
            "outage": self._outage,
            "all paths dark": self._dark,
            "interface away": lambda now: self._interface(now, another_address=False),
            "address change": lambda now: self._interface(now, another_address=True),
            "client killed": lambda _: kill(self._draw.choice(self._clients).program) or True,
            "server killed": self._kill_server,
            "end suspended": self._suspend,
            "disk full": self._fill,
        }[kind]
        if begin(now_s):
            self.counts[kind] += 1

    def _until(self, at_s: float, thing: str, end: Callable[[], None]) -> bool:
        def finish() -> None:
            self._busy.discard(thing)
            end()

        self._busy.add(thing)
        self._number += 1
        heapq.heappush(self._ends, (at_s, self._number, finish))
        return True

    def _outage(self, now_s: float) -> bool:
        place = self._draw.randrange(len(self._place.names))
        if f"link {place}" in self._busy:
            return False
        self._place.set_path(place, False)
        end_s = now_s + self._draw.uniform(0.2, 20.0)
        return self._until(end_s, f"link {place}", lambda: self._place.set_path(place, True))

    def _dark(self, now_s: float) -> bool:
        places = range(len(self._place.names))
        if any(f"link {place}" in self._busy for place in places):
            return False
        end_s = now_s + self._draw.uniform(1.0, 15.0)
        for place in places:
            self._place.set_path(place, False)
            self._until(end_s, f"link {place}", lambda p=place: self._place.set_path(p, True))
        return True

    def _interface(self, now_s: float, another_address: bool) -> bool:
        place = self._draw.randrange(len(self._place.names))
        if f"interface {place}" in self._busy:
            return False
        self._place.interface_down(place)
        end_s = now_s + self._draw.uniform(0.1, 8.0)
        again = lambda: self._place.interface_up(place, another_address)  # noqa: E731
        return self._until(end_s, f"interface {place}", again)

    def _kill_server(self, now_s: float) -> bool:
        if {"server", "server suspended"} & self._busy:
            return False
        kill(self._server.program)
        return self._until(now_s + self._draw.uniform(0.1, 5.0), "server", self._again)

    def _again(self) -> None:
        self._server.program.collect()
        self._server.start()

    def _suspend(self, now_s: float) -> bool:
        if self._draw.random() < 0.5:
            program, thing = self._server.program, "server suspended"
            if "server" in self._busy:
                return False
        else:
            client = self._draw.choice(self._clients)
            program, thing = client.program, f"client {client.number} suspended"
        if thing in self._busy:
            return False
        program.send(signal.SIGSTOP)
        end_s = now_s + self._draw.uniform(0.5, 15.0)
        return self._until(end_s, thing, lambda: program.send(signal.SIGCONT))

    def _fill(self, now_s: float) -> bool:
        if self._disk is None or "disk" in self._busy:
            return False
        filler = self._disk / "filler"
        free = os.statvfs(self._disk)
        size = free.f_bavail * free.f_frsize - LEFT_BYTES
        if size <= 0:
            return False
        try:
            with filler.open("wb") as file:
                os.posix_fallocate(file.fileno(), 0, size)
        except OSError:  # a client was faster with what was free
            filler.unlink(missing_ok=True)
            return False
        return self._until(now_s + self._draw.uniform(1.0, 10.0), "disk", filler.unlink)
