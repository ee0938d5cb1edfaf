"""The database: SQLite in WAL mode, or PostgreSQL by its URL; one writer at a time in both."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, select, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from skyweave.errors import ConfigError
from skyweave.testbed.errors import ConflictError, TestbedError
from skyweave.testbed.store.tables import counters

BUSY_S = 20.0
"""How long a writer waits for another."""
CONNECTIONS = 40
"""As many as threads serve requests."""
WRITER = 0x5B1E4
"""The advisory lock that makes writers of PostgreSQL wait for each other."""


class UnavailableError(TestbedError):
    """The database, or a disk, does not answer for now; nothing was changed."""


class Database:
    """Transactions. ``write`` excludes all other writers, in this process and in others."""

    def __init__(self, url: str) -> None:
        """Open ``sqlite:///FILE`` or ``postgresql://...``; :class:`ConfigError` for others."""
        try:
            parsed = make_url(url)
        except ArgumentError:
            raise ConfigError(f"--database: '{url[:80]}' is no URL of a database") from None
        if parsed.drivername in ("postgresql", "postgres", "postgresql+psycopg"):
            self.engine = _postgresql(parsed)
        elif parsed.drivername == "sqlite" and parsed.database:
            self.engine = _sqlite(parsed)
        else:
            raise ConfigError("--database: give sqlite:///FILE or postgresql://USER@HOST/NAME")

        self._one_writer = threading.Lock()
        """Writers of this process wait here, in order, and not in the database's own polling."""

    @property
    def is_sqlite(self) -> bool:
        """Whether it is a file."""
        return self.engine.dialect.name == "sqlite"

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """Yield a connection in a transaction that no other writer sees half of."""
        with self._one_writer, said(), self.engine.connect() as connection:
            if self.is_sqlite:
                connection.exec_driver_sql("BEGIN IMMEDIATE")
            else:
                connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": WRITER})
            try:
                yield connection
                connection.commit()
            except BaseException:
                connection.rollback()
                raise

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Yield a connection that sees one state of the database."""
        with said(), self.engine.connect() as connection:
            if self.is_sqlite:
                connection.exec_driver_sql("BEGIN")
            else:
                connection = connection.execution_options(isolation_level="REPEATABLE READ")
            try:
                yield connection
            finally:
                connection.rollback()

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()


def counted(connection: Connection, name: str, by: int = 1) -> int:
    """Count up and return the new value; within ``write``, so no value is given twice."""
    row = connection.execute(select(counters.c.value).where(counters.c.name == name)).first()
    value = by if row is None else row.value + by
    if row is None:
        connection.execute(counters.insert().values(name=name, value=value))
    else:
        connection.execute(counters.update().where(counters.c.name == name).values(value=value))
    return int(value)


@contextmanager
def said() -> Iterator[None]:
    """Turn errors of drivers into ours."""
    try:
        yield
    except IntegrityError as error:
        if "taken" in str(error.orig) or "reservations" in str(error.orig):
            raise ConflictError(
                "the time is taken by another run; ask for the nearest gap"
            ) from None
        raise ConflictError("somebody else did that in the same moment; look again") from None
    except OperationalError as error:
        short = str(error.orig).splitlines()[0][:200] if str(error.orig) else "no answer"
        raise UnavailableError(f"the database does not answer ({short}); try again") from None
    except PoolTimeout:
        raise UnavailableError("too many ask the database at a time; try again") from None
    except DBAPIError as error:
        if error.connection_invalidated:
            raise UnavailableError("the database went away; try again") from None
        raise


def _sqlite(url: URL) -> Engine:
    assert url.database is not None
    Path(url.database).parent.mkdir(parents=True, exist_ok=True)
    engine = create_engine(
        url, pool_size=CONNECTIONS, connect_args={"timeout": BUSY_S, "check_same_thread": False}
    )

    @event.listens_for(engine, "connect")
    def _set_up(connection: Any, _: Any) -> None:
        connection.isolation_level = None  # this module says when transactions begin
        for pragma in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"):
            connection.execute(f"PRAGMA {pragma}")

    if sqlite3.sqlite_version_info < (3, 35):
        raise ConfigError(f"SQLite {sqlite3.sqlite_version} is too old; 3.35 or newer is needed")
    return engine


def _postgresql(url: URL) -> Engine:
    return create_engine(
        url.set(drivername="postgresql+psycopg"), pool_pre_ping=True, pool_size=CONNECTIONS,
        connect_args={"connect_timeout": 5},
    )  # fmt: skip
