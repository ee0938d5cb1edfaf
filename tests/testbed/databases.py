"""Databases for tests of the testbed: SQLite always, PostgreSQL where its server is installed."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from sqlalchemy import create_engine

from skyweave.testbed.store import Database, migrate

_NUMBERS = itertools.count()


def _tool(name: str) -> str | None:
    found = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    return str(found[-1]) if found else shutil.which(name)


@pytest.fixture(scope="session")
def postgresql():
    """The URL of a server of its own, on a Unix socket; ends with the tests."""
    initdb, pg_ctl = _tool("initdb"), _tool("pg_ctl")
    if not initdb or not pg_ctl:
        pytest.skip("PostgreSQL's server is not installed")
    folder = Path(tempfile.mkdtemp(prefix="skyweave-pg-"))  # pytest's own folders are root's alone
    as_user: list[str] = []
    if os.getuid() == 0:  # PostgreSQL refuses to run as root
        as_user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
        shutil.chown(folder, "postgres")
    subprocess.run(
        [*as_user, initdb, "-D", folder / "data", "-A", "trust", "-U", "tester"],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    options = f"-c listen_addresses='' -c unix_socket_directories={folder} -c fsync=off"
    control = [*as_user, pg_ctl, "-D", folder / "data", "-w", "-l", folder / "log"]
    subprocess.run([*control, "-o", options, "start"], check=True, stdout=subprocess.DEVNULL)
    yield f"postgresql://tester@/NAME?host={folder}"
    subprocess.run([*control, "-m", "immediate", "stop"], check=True, stdout=subprocess.DEVNULL)
    shutil.rmtree(folder)


def _url(kind: str, request, tmp_path) -> str:
    name = f"t{next(_NUMBERS)}"
    if kind == "sqlite":
        return f"sqlite:///{tmp_path}/{name}.db"
    server = request.getfixturevalue("postgresql")
    admin = create_engine(
        server.replace("postgresql:", "postgresql+psycopg:").replace("NAME", "postgres"),
        isolation_level="AUTOCOMMIT",
    )
    with admin.connect() as connection:
        connection.exec_driver_sql(f"CREATE DATABASE {name}")
    admin.dispose()
    return server.replace("NAME", name)


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request, tmp_path):
    """The URL of a new, empty database, of each kind."""
    return _url(request.param, request, tmp_path)


@pytest.fixture
def database(url):
    """A database with its tables."""
    made = Database(url)
    migrate(made)
    yield made
    made.close()
