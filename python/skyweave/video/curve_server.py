"""A film over HTTP on loopback, released as a recorded delivery curve says.

Byte n can be read when the curve has reached it, counted from the first request: a player gets the
same bytes at the same moments as the reference player in the simulator, without a network between.
Ranges are answered as RFC 9110, section 14 asks for; no more than a film is served.
"""

from __future__ import annotations

import bisect
import itertools
import re
import socket
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any

from skyweave.errors import ConfigError

_PIECE_BYTES = 1 << 16
_RANGE = re.compile(r"bytes=(\d{1,19})-(\d{0,19})")
_LEAST_WAIT_S = 0.002


@dataclass(frozen=True)
class Curve:
    """In-order bytes over time: at ``times_s[n]`` the first ``received[n]`` bytes are there."""

    times_s: list[float]
    received: list[int]

    def __post_init__(self) -> None:
        if not self.times_s or len(self.times_s) != len(self.received):
            raise ConfigError("a delivery curve has as many times as bytes, and at least one")
        for name, column in (("times", self.times_s), ("bytes", self.received)):
            if column[0] < 0 or any(b < a for a, b in itertools.pairwise(column)):
                raise ConfigError(f"the {name} of a delivery curve fall, or are below zero")

    def at(self, time_s: float) -> int:
        """Return how many bytes are there at a time."""
        place = bisect.bisect_right(self.times_s, time_s)
        return self.received[place - 1] if place else 0

    def when(self, received: int) -> float | None:
        """Return when this number of bytes is there; ``None``: never."""
        place = bisect.bisect_left(self.received, received)
        return self.times_s[place] if place < len(self.times_s) else None


AT_ONCE = Curve([0.0], [1 << 62])
"""All of the film is there when it is asked for."""


@dataclass
class Requested:
    """One request, as it was answered."""

    first: int
    status: int
    at_s: float
    """Since the first request."""
    sent_bytes: int = 0


@dataclass
class CurveServer:
    """Serves ``film`` on a port of 127.0.0.1 while it is entered; ``url`` is its address."""

    film: Path
    curve: Curve = AT_ONCE
    requests: list[Requested] = field(default_factory=list)
    lateness_ms: list[float] = field(default_factory=list)
    """By how much bytes were released later than the curve says."""
    _began: float | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __enter__(self) -> CurveServer:
        self.size = self.film.stat().st_size
        curve = self

        class Handler(_Handler):
            server_of_curve = curve

        self._stopped = threading.Event()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}/{self.film.name}"
        threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stopped.set()
        self._http.shutdown()
        self._http.server_close()

    @property
    def began_ns(self) -> int | None:
        """When the first request came (CLOCK_MONOTONIC)."""
        return None if self._began is None else int(self._began * 1e9)

    def asked(self, first: int, status: int) -> Requested:
        """Note a request; the curve begins with the first one."""
        with self._lock:
            now = time.monotonic()
            if self._began is None:
                self._began = now
            found = Requested(first, status, now - self._began)
            self.requests.append(found)
            return found

    def wait_for(self, place: int) -> int:
        """Wait until byte ``place`` is there; return how many are, or 0 if it never will be."""
        began = self._began or 0.0
        due = self.curve.when(place + 1)
        if due is None:
            return 0
        wait = began + due - time.monotonic()
        if wait > 0:
            # Whatever comes in this time is sent with it: fewer wake-ups, the same picture.
            if self._stopped.wait(max(wait, _LEAST_WAIT_S)):
                return 0
            self.lateness_ms.append(1e3 * (time.monotonic() - began - due))
        return self.curve.at(time.monotonic() - began)


class _Handler(BaseHTTPRequestHandler):
    """One connection of a player."""

    protocol_version = "HTTP/1.1"
    server_of_curve: CurveServer

    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing."""

    def do_GET(self) -> None:
        """Answer with a range of the film, as it comes."""
        server = self.server_of_curve
        span = _span(self.headers.get("Range"), server.size)
        if self.path != f"/{server.film.name}":
            return self._refuse(404, [])
        if span is None:
            server.asked(server.size, 416)
            return self._refuse(416, [("Content-Range", f"bytes */{server.size}")])
        first, last, status = span
        found = server.asked(first, status)
        self.send_response(status)
        self.send_header("Content-Type", "video/mp4")
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("Content-Length", str(last + 1 - first))
        if status == 206:
            self.send_header("Content-Range", f"bytes {first}-{last}/{server.size}")
        self.end_headers()
        try:
            self._send(first, last + 1, found)
        except OSError:
            # Players close what they no longer want.
            self.close_connection = True
        return None

    def _refuse(self, status: int, headers: Iterable[tuple[str, str]]) -> None:
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _send(self, first: int, end: int, found: Requested) -> None:
        server = self.server_of_curve
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with server.film.open("rb") as film:
            film.seek(first)
            place = first
            while place < end:
                there = min(server.wait_for(place), end)
                if there <= place:
                    self.close_connection = True
                    return
                piece = film.read(min(there - place, _PIECE_BYTES))
                self.wfile.write(piece)
                place += len(piece)
                found.sent_bytes += len(piece)


def _span(header: str | None, size: int) -> tuple[int, int, int] | None:
    """Return first and last byte and the status; ``None`` for what is not in the file."""
    if header is None:
        return 0, size - 1, 200
    match = _RANGE.fullmatch(header.strip())
    if match is None:
        return 0, size - 1, 200  # RFC 9110, section 14.2: what is not understood is ignored
    first, last = int(match.group(1)), int(match.group(2) or size - 1)
    if first >= size or last < first:
        return None
    return first, min(last, size - 1), 206
