"""What a node must not forget: its runs, what it has to tell, what it still has to send.

One SQLite file. A change of a run and the event that tells it are one transaction, so whatever
kills the node, each run ends in one final state and is told once: events keep their numbers until
the orchestrator says that they are stored.
"""

from __future__ import annotations

import secrets
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from skyweave.testbed.errors import TestbedError
from skyweave.testbed.wire import (
    Accepted,
    Artefact,
    Event,
    Finished,
    Fired,
    Frozen,
    Ready,
    Refused,
    RunSpecification,
    Started,
)
from skyweave.testbed.wire.names import MOST_EVENTS

State = Literal["taken", "accepted", "running", "over"]
OPEN: tuple[State, ...] = get_args(State)[:3]
Body = Accepted | Refused | Ready | Started | Frozen | Finished | Fired
_SCHEMA = """
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS events (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT, time REAL NOT NULL, body TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS runs (
    run TEXT PRIMARY KEY, fence INTEGER NOT NULL, state TEXT NOT NULL,
    specification TEXT, started REAL);
CREATE TABLE IF NOT EXISTS carried (time REAL NOT NULL, bytes INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS files (
    run TEXT NOT NULL, name TEXT NOT NULL, bytes INTEGER NOT NULL, sha256 TEXT NOT NULL,
    PRIMARY KEY (run, name));
"""


@dataclass(frozen=True)
class Kept:
    """A run as the node knows it."""

    run: str
    fence: int
    state: State
    specification: RunSpecification | None
    """None for one that was stopped before it was heard of."""
    started_unix_s: float | None


class Book:
    """The file; methods may be called from several threads."""

    def __init__(self, file: Path) -> None:
        """Raises :class:`TestbedError` if the file cannot be opened or is damaged."""
        self._lock = threading.RLock()
        self._depth = 0
        try:
            self._base = sqlite3.connect(file, check_same_thread=False, isolation_level=None)
            self._base.execute("PRAGMA journal_mode = WAL")
            self._base.execute("PRAGMA synchronous = FULL")
            self._base.executescript(_SCHEMA)
        except sqlite3.Error as error:
            raise TestbedError(
                f"{file}: cannot be used ({error}); restore it, or remove it and join anew"
            ) from None
        with self.turn():
            if self.fact("outbox") is None:
                self.note("outbox", secrets.token_hex(8))

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._base.close()

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Make what happens inside one transaction, on the disk when it is left.

        Raises :class:`TestbedError` if the disk is full; then nothing has happened.
        """
        with self._lock:
            if self._depth:
                yield
                return
            try:
                self._base.execute("BEGIN IMMEDIATE")
                self._depth = 1
                try:
                    yield
                    self._base.execute("COMMIT")
                except BaseException:
                    if self._base.in_transaction:
                        self._base.execute("ROLLBACK")
                    raise
                finally:
                    self._depth = 0
            except sqlite3.OperationalError as error:
                raise TestbedError(
                    f"the node's book cannot be written ({error}); make room on its disk"
                ) from None

    def fact(self, name: str) -> str | None:
        """Return what was noted under a name."""
        with self._lock:
            row = self._base.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
        return None if row is None else str(row[0])

    def note(self, name: str, value: str) -> None:
        """Note something under a name."""
        with self.turn():
            self._base.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (name, value))

    @property
    def outbox(self) -> str:
        """The name of this outbox, made with it."""
        return self.fact("outbox") or ""

    @property
    def newest_order(self) -> int:
        """The number of the last order that was taken."""
        return int(self.fact("order") or 0)

    def tell(self, body: Body, now: float) -> None:
        """Put an event into the outbox."""
        with self.turn():
            self._base.execute(
                "INSERT INTO events (time, body) VALUES (?, ?)", (now, body.model_dump_json())
            )

    def unsent(self, most: int = MOST_EVENTS, most_bytes: int = 500_000) -> tuple[Event, ...]:
        """Return the oldest events of the outbox, as many as fit one request; at least one."""
        with self._lock:
            rows = self._base.execute(
                "SELECT sequence, time, body FROM events ORDER BY sequence LIMIT ?", (most,)
            ).fetchall()
        found: list[Event] = []
        size = 0
        for sequence, time, body in rows:
            size += len(body)
            if found and size > most_bytes:
                break
            text = f'{{"sequence": {sequence}, "time_unix_s": {time!r}, "body": {body}}}'
            found.append(Event.model_validate_json(text))
        return tuple(found)

    def waiting(self) -> int:
        """Return how many events wait."""
        with self._lock:
            return int(self._base.execute("SELECT COUNT(*) FROM events").fetchone()[0])

    def stored(self, upto: int) -> None:
        """Let go of the events that the orchestrator has."""
        with self.turn():
            self._base.execute("DELETE FROM events WHERE sequence <= ?", (upto,))

    def put(self, run: str, fence: int, state: State, what: RunSpecification | None) -> None:
        """Enter a run, or enter it anew under a higher fence."""
        text = None if what is None else what.model_dump_json()
        with self.turn():
            self._base.execute(
                "INSERT OR REPLACE INTO runs (run, fence, state, specification) "
                "VALUES (?, ?, ?, ?)", (run, fence, state, text),
            )  # fmt: skip

    def change(
        self, run: str, before: tuple[State, ...], state: State, started: float | None = None
    ) -> bool:
        """Change the state of a run that is in one of ``before``; tell whether it was."""
        marks = ", ".join("?" for _ in before)
        with self.turn():
            done = self._base.execute(
                "UPDATE runs SET state = ?, started = COALESCE(?, started) "
                f"WHERE run = ? AND state IN ({marks})",
                (state, started, run, *before),
            )
            return done.rowcount == 1

    def fence(self, run: str, fence: int) -> None:
        """Raise the fence of a run."""
        with self.turn():
            self._base.execute("UPDATE runs SET fence = ? WHERE run = ?", (fence, run))

    def run(self, run: str) -> Kept | None:
        """Return a run, or None if it was never heard of."""
        found = self._runs("run = ?", (run,))
        return found[0] if found else None

    def runs(self, *states: State) -> list[Kept]:
        """Return the runs in these states, by their start."""
        marks = ", ".join("?" for _ in states)
        found = self._runs(f"state IN ({marks})", states)
        return sorted(found, key=lambda one: (_start(one), one.run))

    def carry(self, size: int, now: float) -> None:
        """Note bytes that a run has carried: they stay noted, whatever becomes of the run."""
        with self.turn():
            self._base.execute("INSERT INTO carried VALUES (?, ?)", (now, size))

    def carried(self, begin: float, end: float) -> int:
        """Return the bytes of runs that ended between two moments."""
        with self._lock:
            row = self._base.execute(
                "SELECT COALESCE(SUM(bytes), 0) FROM carried WHERE time >= ? AND time < ?",
                (begin, end),
            ).fetchone()
        return int(row[0])

    def prune(self, before_unix_s: float) -> None:
        """Forget runs that began long ago and are over, with all their files sent."""
        with self.turn():
            self._base.execute(
                "DELETE FROM runs WHERE state = 'over' AND started < ? AND run NOT IN "
                "(SELECT run FROM files)", (before_unix_s,),
            )  # fmt: skip
            self._base.execute("DELETE FROM carried WHERE time < ?", (before_unix_s,))

    def keep_files(self, run: str, files: tuple[Artefact, ...]) -> None:
        """Note files that have to be sent."""
        with self.turn():
            self._base.executemany(
                "INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?)",
                [(run, one.name, one.bytes, one.sha256) for one in files],
            )

    def files(self) -> list[tuple[str, Artefact]]:
        """Return the files that have to be sent, run by run."""
        with self._lock:
            rows = self._base.execute(
                "SELECT run, name, bytes, sha256 FROM files ORDER BY rowid"
            ).fetchall()
        return [(run, Artefact(name=name, bytes=size, sha256=sha)) for run, name, size, sha in rows]

    def sent(self, run: str, name: str) -> bool:
        """Note that a file is sent; tell whether it was the last of its run."""
        with self.turn():
            self._base.execute("DELETE FROM files WHERE run = ? AND name = ?", (run, name))
            left = self._base.execute("SELECT 1 FROM files WHERE run = ?", (run,)).fetchone()
            return left is None

    def _runs(self, where: str, values: tuple[object, ...]) -> list[Kept]:
        with self._lock:
            rows = self._base.execute(
                "SELECT run, fence, state, specification, started FROM runs "
                f"WHERE {where}", values,
            ).fetchall()  # fmt: skip
        return [
            Kept(
                run, fence, state,
                None if text is None else RunSpecification.model_validate_json(text),
                started,
            )
            for run, fence, state, text, started in rows
        ]  # fmt: skip


def _start(one: Kept) -> float:
    return one.specification.start_unix_s if one.specification is not None else 0.0
