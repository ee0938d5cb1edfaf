"""A publisher on a Unix socket: forecasts for who asks, events for who listens (HTTP/1.1).

``GET /forecast`` answers the newest forecast of each path; ``GET /events?levels=…`` goes on with
rows of the levels that were asked for. One thread serves all; publishing never blocks.
"""

from __future__ import annotations

import contextlib
import json
import selectors
import socket
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self, get_args
from urllib.parse import parse_qs, urlsplit

from skyweave.awareness.reader import Reader, row_of
from skyweave.errors import ConfigError
from skyweave.forecast import ForecastFile
from skyweave.telemetry.address import MOST_READERS, listen_locally

Level = Literal["samples", "firings", "forecasts"]
LEVELS: tuple[Level, ...] = get_args(Level)
MOST_PATHS = 64
MOST_REQUEST_BYTES = 4096
REQUEST_S = 10.0
"""How long a request may take."""
MOST_ROW_BYTES = 256 * 1024
"""Longer events are not sent."""
_HEAD = "HTTP/1.1 {}\r\nContent-Type: {}\r\nCache-Control: no-store\r\nConnection: close\r\n{}\r\n"


class _Peer:
    """One connection: a request that comes in, then an answer or events."""

    def __init__(self, end: socket.socket) -> None:
        self.end = end
        self.since_s = time.monotonic()
        self.heard = b""
        self.reader = Reader(end.send)
        self.levels: frozenset[str] = frozenset()
        self.last = False
        """Whether the connection ends when all is taken."""
        self.watched = False
        """Whether it is waited for until it takes more."""


class Publisher:
    """A context manager; its methods may be called from any thread."""

    def __init__(self, name: Path) -> None:
        """Raises :class:`ConfigError` where the socket cannot be, or another publisher is."""
        self.name = name
        self._listener = listen_locally(name)
        self._bell, self._heard_bell = socket.socketpair()
        for one in (self._bell, self._heard_bell, self._listener):
            one.setblocking(False)
        self._lock = threading.Lock()
        self._peers: dict[socket.socket, _Peer] = {}
        self._listeners: dict[str, dict[socket.socket, Reader]] = {level: {} for level in LEVELS}
        self._forecasts: dict[str, ForecastFile] = {}
        self._stopping = False
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._listener, selectors.EVENT_READ)
        self._selector.register(self._heard_bell, selectors.EVENT_READ)
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        self._stopping = True
        self._ring()
        self._thread.join()

    @property
    def readers(self) -> int:
        """How many listen to events."""
        with self._lock:
            return sum(bool(one.levels) for one in self._peers.values())

    @property
    def lost_rows(self) -> int:
        """Rows that the readers that are there have lost."""
        with self._lock:
            return sum(one.reader.lost_rows for one in self._peers.values())

    def publish(self, level: Level, facts: Mapping[str, Any]) -> None:
        """Send an event to all who listen to its level."""
        row = row_of(level, json.dumps(facts, allow_nan=False))
        if len(row) > MOST_ROW_BYTES:
            return
        slower = False
        with self._lock:
            for reader in self._listeners[level].values():
                try:
                    slower |= reader.push(row)
                except OSError:  # its end is seen by the thread
                    continue
        if slower:  # the thread has to watch for when it can take more
            self._ring()

    def foresee(self, path: str, forecast: ForecastFile) -> None:
        """Make a forecast the one of its path, and tell who listens.

        Raises :class:`ConfigError` for more than :data:`MOST_PATHS` paths.
        """
        with self._lock:
            if path not in self._forecasts and len(self._forecasts) >= MOST_PATHS:
                raise ConfigError(f"forecasts of more than {MOST_PATHS} paths; use fewer")
            self._forecasts[path] = forecast
        facts = forecast.model_dump(mode="json", exclude_none=True)
        self.publish("forecasts", {"path": path, **facts})

    def _ring(self) -> None:
        with contextlib.suppress(OSError):  # full: it is ringing
            self._bell.send(b"!")

    def _serve(self) -> None:
        while not self._stopping:
            for key, events in self._selector.select(1.0):
                if key.fileobj is self._listener:
                    self._accept()
                elif key.fileobj is self._heard_bell:
                    with contextlib.suppress(BlockingIOError):
                        self._heard_bell.recv(4096)
                else:
                    self._attend(key.data, bool(events & selectors.EVENT_READ))
            self._look_around()
        for peer in list(self._peers.values()):
            self._hang_up(peer)
        for end in (self._listener, self._bell, self._heard_bell, self._selector):
            end.close()
        self.name.unlink(missing_ok=True)

    def _accept(self) -> None:
        try:
            end, _ = self._listener.accept()
        except OSError:
            return
        end.setblocking(False)
        if len(self._peers) >= MOST_READERS:
            end.close()
            return
        peer = _Peer(end)
        with self._lock:
            self._peers[end] = peer
        self._selector.register(end, selectors.EVENT_READ, peer)

    def _attend(self, peer: _Peer, readable: bool) -> None:
        """Take what a peer says, and give it what waits for it."""
        try:
            if readable and not self._listen_to(peer):
                self._hang_up(peer)
                return
            with self._lock:
                peer.reader.pump()
        except OSError:
            self._hang_up(peer)

    def _listen_to(self, peer: _Peer) -> bool:
        """Read; False when the other end is gone. What follows a request is thrown away."""
        more = peer.end.recv(4096)
        if not more:
            return False
        if peer.levels or peer.last:
            return True
        peer.heard += more
        if b"\r\n\r\n" in peer.heard:
            self._answer(peer, peer.heard.split(b"\r\n", 1)[0])
        elif len(peer.heard) > MOST_REQUEST_BYTES:
            self._refuse(peer, "431 Request Header Fields Too Large", "the request is too long")
        return True

    def _answer(self, peer: _Peer, line: bytes) -> None:
        """Answer the first line of a request."""
        words = line.decode("latin-1").split(" ")
        if len(words) != 3 or not words[2].startswith("HTTP/1."):
            return self._refuse(peer, "400 Bad Request", "this is no HTTP/1.1")
        if words[0] != "GET":
            return self._refuse(peer, "405 Method Not Allowed", "only GET")
        try:
            asked = urlsplit(words[1])
        except ValueError:
            return self._refuse(peer, "400 Bad Request", "this is no address")
        if asked.path == "/forecast":
            return self._finish(peer, "200 OK", self._known())
        if asked.path != "/events":
            return self._refuse(peer, "404 Not Found", "ask for /forecast or /events")
        levels = ",".join(parse_qs(asked.query).get("levels", [",".join(LEVELS)])).split(",")
        if not set(levels) <= set(LEVELS):
            return self._refuse(peer, "400 Bad Request", f"levels are {', '.join(LEVELS)}")
        with self._lock:
            peer.reader.push(_HEAD.format("200 OK", "text/event-stream", "").encode())
            peer.levels = frozenset(levels)
            for level in peer.levels:
                self._listeners[level][peer.end] = peer.reader
        return None

    def _known(self) -> str:
        with self._lock:
            known = dict(self._forecasts)
        facts = {
            path: one.model_dump(mode="json", exclude_none=True) for path, one in known.items()
        }
        return json.dumps({"kind": "skyweave-awareness", "schema_version": 1, "forecasts": facts})

    def _refuse(self, peer: _Peer, status: str, why: str) -> None:
        self._finish(peer, status, json.dumps({"error": why}))

    def _finish(self, peer: _Peer, status: str, body: str) -> None:
        length = f"Content-Length: {len(body.encode())}\r\n"
        head = _HEAD.format(status, "application/json", length)
        with self._lock:
            peer.reader.push((head + body).encode())
        peer.last = True

    def _look_around(self) -> None:
        """Watch for writing those who wait for rows; let go of who is done, or asks too slowly."""
        now_s = time.monotonic()
        for peer in list(self._peers.values()):
            with self._lock:
                waits = peer.reader.waits
            silent = not peer.levels and now_s - peer.since_s > REQUEST_S
            if silent or (peer.last and not waits):
                self._hang_up(peer)
                continue
            if waits != peer.watched:
                peer.watched = waits
                events = selectors.EVENT_READ | (selectors.EVENT_WRITE if waits else 0)
                self._selector.modify(peer.end, events, peer)

    def _hang_up(self, peer: _Peer) -> None:
        with self._lock:
            self._peers.pop(peer.end, None)
            for level in peer.levels:
                self._listeners[level].pop(peer.end, None)
        with contextlib.suppress(KeyError, ValueError):
            self._selector.unregister(peer.end)
        peer.end.close()
