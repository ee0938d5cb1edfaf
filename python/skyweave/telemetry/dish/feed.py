"""One recorder for all who want a dish's rows: lines of JSON on a Unix socket of this machine.

The recorder's thread accepts readers and sends; it never waits. A reader that does not keep up is
let go, and comes again. The location of a dish is in no line; attitude and pixels are.
"""

from __future__ import annotations

import contextlib
import json
import math
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import polars as pl

from skyweave.telemetry.address import MOST_READERS, listen_locally
from skyweave.telemetry.dish import status
from skyweave.telemetry.dish.record import PIXELS, Sink
from skyweave.telemetry.dish.status import Row

Taker = Callable[[str, Row], object]
"""Takes the kind of a row (``status``, ``pixels``) and the row."""
FED: dict[str, dict[str, Any]] = {
    "status": {name: kind for name, kind in status.SCHEMA.items() if name not in status.PLACE},
    "pixels": PIXELS,
}
"""The kinds of rows that are fed, and their columns."""
MOST_LINE_BYTES = 100_000
MOST_TEXT = 1000
"""Characters of a text in a line."""
MOST_OFF_S = 60.0
"""Recorder and reader have the same clock; rows farther from it are left out."""
RETRY_S = 1.0
LOOK_S = 0.2
"""How often the order to stop is looked for while nothing comes."""


class Tee:
    """Where a recorder puts its rows: they are handed on, and stored if there is a store."""

    def __init__(self, take: Taker, store: Sink | None = None) -> None:
        self._take, self._store = take, store

    def add(self, kind: str, schema: dict[str, Any], rows: Sequence[Row]) -> None:
        """Take rows; see :meth:`Store.add <skyweave.telemetry.store.Store.add>`."""
        for row in rows:
            self._take(kind, row)
        if self._store is not None:
            self._store.add(kind, schema, rows)

    def flush(self) -> None:
        """Write what is in memory."""
        if self._store is not None:
            self._store.flush()


class Feed:
    """The recorder's end, a context manager; ``pixels`` says whether it records the map, too."""

    def __init__(self, name: Path, pixels: bool) -> None:
        """Raises :class:`ConfigError` where the socket cannot be, or somebody answers."""
        self.name = name
        self._hello = _line({"feed": "skyweave-dish", "pixels": pixels})
        self._listener = listen_locally(name)
        self._listener.setblocking(False)
        self._readers: list[socket.socket] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        for end in (*self._readers, self._listener):
            end.close()
        self.name.unlink(missing_ok=True)

    def take(self, kind: str, row: Row) -> None:
        """Send a row to all readers; kinds that nobody can use are not sent."""
        if kind not in FED:
            return
        self._accept()
        line = _line({"kind": kind, "row": {name: _plain(row.get(name)) for name in FED[kind]}})
        self._readers = [end for end in self._readers if _sent(end, line)]

    def _accept(self) -> None:
        with contextlib.suppress(OSError):  # nobody waits
            while True:
                end, _ = self._listener.accept()
                end.setblocking(False)
                if len(self._readers) < MOST_READERS and _sent(end, self._hello):
                    self._readers.append(end)
                else:
                    end.close()


def fed(
    name: Path, stop: threading.Event, warn: Callable[[str], object], pixels: bool = False
) -> Iterator[tuple[str, Row]]:
    """Yield kinds and rows of a recorder until told to stop; one that goes is waited for.

    ``warn`` hears of a recorder that is not there, or that records no map where ``pixels`` are
    wanted. The first status after an interruption says so in ``gap_s``.
    """
    last_s: float | None = None
    while not stop.is_set():
        again = last_s is not None
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as end:
            end.settimeout(LOOK_S)
            end.connect(str(name))
            for facts in _lines(end, stop):
                if pixels and facts.get("pixels") is False:
                    warn(f"{name}: the recorder asks for no map; start it with --satellites")
                row = _row(facts, time.time())
                if row is None:
                    continue
                if facts["kind"] == "status":
                    if again and last_s is not None and row["gap_s"] is None:
                        row |= {"gap_s": row["time_unix_s"] - last_s, "gap_why": "no feed"}
                    again, last_s = False, row["time_unix_s"]
                yield facts["kind"], row
        if not stop.is_set():
            warn(f"{name}: no recorder feeds it; start 'skyweave dish record --feed {name}'")
            stop.wait(RETRY_S)


def _sent(end: socket.socket, line: bytes) -> bool:
    """Send a line whole, or close the end: half a line is not understood."""
    with contextlib.suppress(OSError):
        if end.send(line) == len(line):
            return True
    end.close()
    return False


def _lines(end: socket.socket, stop: threading.Event) -> Iterator[dict[str, Any]]:
    """Yield the tables that come, until there are no more; what is none is left out."""
    unread = b""
    while not stop.is_set() and len(unread) <= MOST_LINE_BYTES:
        try:
            more = end.recv(65_536)
        except TimeoutError:
            continue
        if not more:
            return
        *lines, unread = (unread + more).split(b"\n")
        for line in lines:
            with contextlib.suppress(ValueError, RecursionError):
                if isinstance(facts := json.loads(line), dict):
                    yield facts


def _row(facts: dict[str, Any], now_unix_s: float) -> Row | None:
    """Return a row with all columns of its kind; None for what is no row of now."""
    kind, said = facts.get("kind"), facts.get("row")
    if not isinstance(kind, str) or kind not in FED or not isinstance(said, dict):
        return None
    row = {name: _value(said.get(name), column) for name, column in FED[kind].items()}
    time_s = row["time_unix_s"]
    return row if time_s is not None and abs(time_s - now_unix_s) <= MOST_OFF_S else None


def _value(value: Any, column: Any) -> Any:
    """Return a value of a column; None for one of another type."""
    if column == pl.String:
        return value[:MOST_TEXT] if isinstance(value, str) else None
    if column == pl.Boolean:
        return value if isinstance(value, bool) else None
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 2**53:
        return None
    return float(value) if column == pl.Float64 else int(value)


def _plain(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _line(facts: dict[str, Any]) -> bytes:
    return json.dumps(facts, allow_nan=False).encode() + b"\n"
