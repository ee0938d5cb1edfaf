"""A backup: one tar file with all rows, all files and the orchestrator's key; of any database.

Rows are JSON, so that a backup of SQLite is restored into PostgreSQL, and the other way round.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Table, func, select

from skyweave.errors import DataError
from skyweave.testbed.errors import ConflictError
from skyweave.testbed.store.database import Database, counted
from skyweave.testbed.store.migrate import migrate, newest
from skyweave.testbed.store.objects import Objects
from skyweave.testbed.store.tables import counters, metadata, nodes

AHEAD = 1_000_000
"""Added to numbers of orders and fences at a restore: nodes have seen what the backup has not."""
ROWS = 1000
MOST_LINE_BYTES = 10_000_000
MOST_META_BYTES = 10_000


def back_up(database: Database, objects: Objects, secrets: list[Path], out: Path) -> int:
    """Write a backup into a new file, and return how many rows it has.

    Runs go on meanwhile: the rows are those of one moment, and the files at least those of it.
    """
    draft = out.with_name(f".{out.name}.draft-{os.getpid()}")
    try:
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "wb") as file, tarfile.open(fileobj=file, mode="w") as tar:
            _add(tar, "meta.json", json.dumps({"schema": newest(), "format": 1}).encode())
            for secret in secrets:
                _add(tar, f"secrets/{secret.name}", secret.read_bytes())
            rows = 0
            with database.read() as connection, tempfile.TemporaryFile() as spool:
                for table in metadata.sorted_tables:
                    rows += _spool(connection, table, spool)
                    _add_file(tar, f"tables/{table.name}.jsonl", spool)
            for path in objects.paths():
                with tempfile.TemporaryFile() as spool:
                    for piece in objects.read(path):
                        spool.write(piece)
                    _add_file(tar, f"objects/{path}", spool)
        os.link(draft, out)  # unlike a rename it never replaces a file
    except FileExistsError:
        raise DataError(f"{out}: is there already; name a new file") from None
    except OSError as error:
        raise DataError(f"{out}: the backup cannot be written ({error.strerror})") from None
    finally:
        draft.unlink(missing_ok=True)
    return rows


def restore(file: Path, database: Database, objects: Objects, folder: Path) -> int:
    """Put a backup into an empty database, and its secrets into ``folder``; return the rows."""
    migrate(database)
    try:
        with tarfile.open(file, mode="r:") as tar:
            _check_meta(file, tar)
            members = {one.name: one for one in tar.getmembers() if one.isreg()}
            with database.write() as connection:
                if any(_count(connection, table) for table in metadata.sorted_tables):
                    raise DataError("the database is not empty; restore into a new one")
                rows = sum(
                    _fill(connection, table, tar, members[f"tables/{table.name}.jsonl"])
                    for table in metadata.sorted_tables
                )
                counted(connection, "fence", AHEAD)
                connection.execute(nodes.update().values(newest_order=nodes.c.newest_order + AHEAD))
                for name, one in members.items():
                    _restore_file(tar, name, one, objects, folder)
    except (OSError, tarfile.TarError, KeyError, ValueError) as error:
        raise DataError(
            f"{file}: is no whole backup ({type(error).__name__}: {str(error)[:120]})"
        ) from None
    return rows


def _check_meta(file: Path, tar: tarfile.TarFile) -> None:
    handle = tar.extractfile("meta.json")
    meta = json.loads(handle.read(MOST_META_BYTES)) if handle else {}
    if meta.get("format") != 1 or meta.get("schema") != newest():
        raise DataError(
            f"{file}: is of schema {str(meta.get('schema'))[:20]}, and this Skyweave has "
            f"{newest()}; restore it with the version that made it, and let 'up' migrate it"
        )


def _restore_file(
    tar: tarfile.TarFile, name: str, member: tarfile.TarInfo, objects: Objects, folder: Path
) -> None:
    kind, _, path = name.partition("/")
    handle = tar.extractfile(member)
    if handle is None or kind not in ("objects", "secrets"):
        return
    if kind == "secrets":
        if "/" in path or path.startswith("."):
            raise ValueError(f"a secret called {path!r}")
        target = os.open(folder / path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(target, "wb") as out:
            out.write(handle.read(100_000))
        return
    with tempfile.NamedTemporaryFile(dir=folder) as spool:
        while piece := handle.read(2**20):
            spool.write(piece)
        spool.flush()
        try:
            objects.put(path, Path(spool.name))
        except ConflictError:  # of a restore that broke off: the same file is as good
            spool.seek(0)
            if _digest(iter(lambda: spool.read(2**20), b"")) != _digest(objects.read(path)):
                raise


def _digest(pieces: Iterator[bytes]) -> bytes:
    found = hashlib.sha256()
    for piece in pieces:
        found.update(piece)
    return found.digest()


def _spool(connection: Connection, table: Table, spool: Any) -> int:
    """Write the rows of a table, and return how many."""
    spool.seek(0)
    spool.truncate()
    count = 0
    result = connection.execution_options(yield_per=ROWS).execute(select(table))
    for row in result.mappings():
        spool.write(json.dumps(dict(row)).encode() + b"\n")
        count += 1
    return count


def _fill(connection: Connection, table: Table, tar: tarfile.TarFile, one: tarfile.TarInfo) -> int:
    handle = tar.extractfile(one)
    assert handle is not None
    count, batch = 0, []
    for row in _lines(handle):
        batch.append(row)
        if len(batch) == ROWS:
            connection.execute(table.insert(), batch)
            count, batch = count + ROWS, []
    if batch:
        connection.execute(table.insert(), batch)
    return count + len(batch)


def _lines(handle: Any) -> Iterator[dict[str, Any]]:
    while line := handle.readline(MOST_LINE_BYTES):
        yield json.loads(line)


def _count(connection: Connection, table: Table) -> int:
    if table is counters:
        return 0
    return connection.execute(select(func.count()).select_from(table)).scalar_one()


def _add(tar: tarfile.TarFile, name: str, content: bytes) -> None:
    info = tarfile.TarInfo(name)
    info.size, info.mode = len(content), 0o600
    tar.addfile(info, io.BytesIO(content))


def _add_file(tar: tarfile.TarFile, name: str, spool: Any) -> None:
    info = tarfile.TarInfo(name)
    info.size, info.mode = spool.tell(), 0o600
    spool.seek(0)
    tar.addfile(info, spool)
