"""What runs leave: expected as the node said, received in parts, kept when all of it is there."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import stat
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Row, func, select

from skyweave.testbed.errors import ConflictError, MissingError, TestbedError
from skyweave.testbed.runs import machine
from skyweave.testbed.runs.orders import plan_of
from skyweave.testbed.runs.turn import Turn, situation
from skyweave.testbed.store import Objects, UnavailableError
from skyweave.testbed.store.tables import artefacts, runs
from skyweave.testbed.wire import Artefact, Held

Turns = Callable[[float], AbstractContextManager[Turn]]
"""Opens a transaction: ``Keeper.turn``."""
KEPT_S = 30 * 86_400.0
"""How long parts of a file wait for the others, beyond the time at which its run is given up."""
LEAST_FREE_BYTES = 500_000_000
"""Uploads wait when the disk has less."""


class WrongPartError(ConflictError):
    """A part that does not follow what is held."""

    def __init__(self, held: int) -> None:
        super().__init__(f"{held:,} bytes of that file are here; go on there")
        self.held = held


def upload_id(run: str, name: str) -> str:
    """Return the id of a file's upload: the same however often it is asked for."""
    return hashlib.sha256(f"{run}/{name}".encode()).hexdigest()[:24]


def path_of(run: Row[Any], name: str) -> str:
    """Return where a file is kept: ``EXPERIMENT/NODE/DATE/RUN/NAME``."""
    day = datetime.fromtimestamp(run.start, UTC)
    return f"{run.experiment}/{run.node}/{day:%Y-%m-%d}/{run.id}/{name}"


def expect(turn: Turn, row: Row[Any], said: Sequence[Artefact]) -> tuple[int, str]:
    """Note the files that will come, and return their number, and what was wrong with others.

    Those beyond the run's ``artefact_bytes``, and a name's second, are not taken.
    """
    room = plan_of(turn.connection, row.experiment).limits.artefact_bytes
    names: set[str] = set()
    left_out = 0
    for one in said:
        if one.name in names or one.bytes > room:
            left_out += 1
            continue
        names.add(one.name)
        room -= one.bytes
        turn.connection.execute(
            artefacts.insert().values(
                run=row.id, name=one.name, upload=upload_id(row.id, one.name), bytes=one.bytes,
                sha256=one.sha256,
            )
        )  # fmt: skip
    return len(names), f"{left_out} files beyond its limit were left out" if left_out else ""


class Uploads:
    """Files on their way, in a folder of this machine."""

    def __init__(self, folder: Path, objects: Objects) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._objects = objects

    def begin(self, connection: Connection, node: str, run: str, said: Artefact) -> Held:
        """Return how much of a file is here; :class:`ConflictError` if it is not expected."""
        row = self._expected(connection, node, upload_id(run, said.name))
        if row.run != run or row.bytes != said.bytes or row.sha256 != said.sha256:
            raise ConflictError(f"{said.name}: is not what the run's end said; it stays away")
        return self._held(row)

    def receive(
        self, connection: Connection, node: str, upload: str, offset: int, part: bytes
    ) -> Held:
        """Add a part; :class:`WrongPartError` says where to go on. Nothing is written twice."""
        row = self._expected(connection, node, upload)
        if row.stored is not None:
            return self._held(row)
        if offset + len(part) > row.bytes:
            raise TestbedError(f"{row.name}: has {row.bytes:,} bytes, and this part goes beyond")
        if shutil.disk_usage(self._folder).free < LEAST_FREE_BYTES:
            raise UnavailableError("the orchestrator's disk is nearly full; the file waits")
        try:
            self._append(self._folder / upload, offset, part)
        except OSError as error:
            raise UnavailableError(f"the part cannot be kept ({error.strerror}); again") from None
        return self._held(row)

    def size(self, connection: Connection, upload: str) -> int:
        """Return how many bytes a file will have."""
        found = select(artefacts.c.bytes).where(artefacts.c.upload == upload)
        return int(connection.execute(found).scalar_one())

    def _append(self, file: Path, offset: int, part: bytes) -> None:
        handle = os.open(file, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        with os.fdopen(handle, "r+b") as out:
            fcntl.flock(out, fcntl.LOCK_EX)
            held = out.seek(0, os.SEEK_END)
            if offset + len(part) == held:
                return  # the last part once more: its answer was lost
            if offset != held:
                raise WrongPartError(held)
            out.write(part)

    def keep(self, turns: Turns, upload: str, now: float) -> bool:
        """Keep a file that is all here; return False if it was not what the node had said.

        Then what came is thrown away, and the node begins anew. The file is stored before it is
        noted: a crash in between is made good by the next request.
        """
        with turns(now) as turn:
            found = select(artefacts).where(artefacts.c.upload == upload)
            row = turn.connection.execute(found).one()
            run = turn.run(row.run)
        if row.stored is not None:
            return True
        file, path = self._folder / upload, path_of(run, row.name)
        if self._objects.size(path) is None:
            if not row.bytes:
                file.touch()
            with file.open("rb") as content:
                if hashlib.file_digest(content, "sha256").hexdigest() != row.sha256:
                    file.unlink()
                    return False
            try:
                self._objects.put(path, file)
            except ConflictError:  # it was kept at a try whose answer was lost
                if self._objects.size(path) != row.bytes:
                    raise
        with turns(now) as turn:
            note = artefacts.update().where(artefacts.c.upload == upload).values(stored=now)
            turn.connection.execute(note)
            self._end_if_whole(turn, turn.run(row.run))
        file.unlink(missing_ok=True)
        return True

    def forget(self, now: float) -> int:
        """Remove what came of files whose rest never did; return how many."""
        before = now - machine.AWAY_S - KEPT_S
        old = [one for one in self._folder.iterdir() if _is_of_before(one, before)]
        for one in old:
            one.unlink(missing_ok=True)
        return len(old)

    def _end_if_whole(self, turn: Turn, run: Row[Any]) -> None:
        missing = select(func.count()).where(
            artefacts.c.run == run.id, artefacts.c.stored.is_(None)
        )
        if turn.connection.execute(missing).scalar_one() == 0:
            turn.take(run, machine.on_files(situation(run)))

    def _expected(self, connection: Connection, node: str, upload: str) -> Row[Any]:
        row = connection.execute(
            select(artefacts)
            .join(runs, runs.c.id == artefacts.c.run)
            .where(artefacts.c.upload == upload, runs.c.node == node)
        ).first()
        if row is None:
            raise MissingError("no such file is expected of this node; tell the run's end first")
        return row

    def _held(self, row: Row[Any]) -> Held:
        if row.stored is not None:
            return Held(upload=row.upload, held=row.bytes, done=True)
        try:
            held = (self._folder / row.upload).stat().st_size
        except FileNotFoundError:
            held = 0
        return Held(upload=row.upload, held=held, done=False)


def _is_of_before(file: Path, at: float) -> bool:
    """Whether a file was last written before; not if it is none, or was kept and removed by now."""
    try:
        found = file.stat()
    except FileNotFoundError:
        return False
    return stat.S_ISREG(found.st_mode) and found.st_mtime < at
