"""What the orchestrator keeps: schema, locks, files, backups; on SQLite and PostgreSQL."""

from __future__ import annotations

import io
import tarfile
import threading

import databases
import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import func, select

from skyweave.errors import ConfigError, DataError
from skyweave.testbed.errors import ConflictError, MissingError, TestbedError
from skyweave.testbed.store import Database, Objects, back_up, counted, migrate, restore
from skyweave.testbed.store.database import UnavailableError
from skyweave.testbed.store.migrate import _config, newest
from skyweave.testbed.store.tables import (
    experiments,
    metadata,
    nodes,
    people,
    reservations,
    runs,
    tokens,
    transitions,
)

url, database, postgresql = databases.url, databases.database, databases.postgresql
RUN = {
    "experiment": "e", "owner": "bob", "node": "alice", "priority": "exclusive", "latest": 0.0,
    "seconds": 1.0, "state": "reserved", "fence": 1, "created": 0.0,
}  # fmt: skip


def fill(connection, count: int = 3) -> None:
    connection.execute(people.insert().values(name="bob", role="admin", created=0.0))
    connection.execute(
        nodes.insert().values(
            name="alice", kind="node", owner="bob", key="k", joined=0.0, newest_order=7
        )
    )
    connection.execute(
        experiments.insert().values(id="e", owner="bob", title="", plan="{}", created=0.0)
    )
    for number in range(count):
        connection.execute(runs.insert().values(id=f"r{number}", start=float(number), **RUN))


def reserve(connection, run: str, start: int, until: int, share: int | None, resource="alice"):
    connection.execute(
        reservations.insert().values(
            run=run, resource=resource, start=start, until=until, share=share
        )
    )


def test_the_migrations_make_the_tables_that_the_code_uses(database):
    with database.read() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, metadata) == []
    migrate(database)


def test_a_database_of_the_first_version_is_brought_to_the_newest_with_its_rows(url):
    database = Database(url)
    with database.write() as connection:
        config = _config()
        config.attributes["connection"] = connection
        command.upgrade(config, "0001")
        connection.exec_driver_sql("INSERT INTO people (name, role, created) VALUES ('b', 'o', 1)")
        connection.exec_driver_sql(
            "INSERT INTO tokens (id, person, hash, label, scopes, created, expires) "
            "VALUES ('i', 'b', 'h', 'l', 's', 1, 2)"
        )
    migrate(database)
    with database.read() as connection:
        assert connection.execute(select(tokens.c.id, tokens.c.began_by)).all() == [("i", None)]
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, metadata) == []
    database.close()


def test_a_database_of_a_newer_version_is_left_alone(database):
    with database.write() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(TestbedError, match="newer Skyweave"):
        migrate(database)


@pytest.mark.parametrize(
    ("first", "second", "fits"),
    [
        ((0, 10, 1), (10, 20, 2), True), ((0, 10, 1), (9, 20, 2), False),
        ((0, 10, 0), (5, 20, 0), True), ((0, 10, 0), (5, 20, 2), False),
        ((0, 10, 1), (5, 20, 0), False), ((0, 10, None), (5, 20, 2), True),
        ((0, 10, 1), (5, 20, None), True),
    ],
)  # fmt: skip
def test_the_database_itself_refuses_a_double_booking(database, first, second, fits):
    """Exclusive runs have a share of their own, light ones share 0, background has none."""
    with database.write() as connection:
        fill(connection)
        reserve(connection, "r0", *first)
        reserve(connection, "r2", 0, 100, 3, resource="elsewhere")
    if fits:
        with database.write() as connection:
            reserve(connection, "r1", *second)
        return
    with pytest.raises(ConflictError, match="taken by another run"), database.write() as connection:
        reserve(connection, "r1", *second)
    with database.write() as connection:
        reserve(connection, "r1", 100, 110, second[2])
    with pytest.raises(ConflictError, match="taken by another run"), database.write() as connection:
        connection.execute(reservations.update().where(reservations.c.run == "r1").values(start=5))


def test_a_run_ends_once(database):
    with database.write() as connection:
        fill(connection)
        for number, final in enumerate((False, False, True)):
            connection.execute(
                transitions.insert().values(run="r0", number=number, state="x", at=0.0, final=final)
            )
    with pytest.raises(ConflictError), database.write() as connection:
        connection.execute(
            transitions.insert().values(run="r0", number=9, state="y", at=0.0, final=True)
        )


def test_writers_wait_for_each_other_and_lose_nothing(url):
    databases = [Database(url), Database(url)]
    migrate(databases[0])

    def count(database: Database) -> None:
        for _ in range(25):
            with database.write() as connection:
                counted(connection, "fence")

    threads = [threading.Thread(target=count, args=(one,)) for one in databases * 2]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    with databases[0].write() as connection:
        assert counted(connection, "fence") == 101
    for one in databases:
        one.close()


def test_what_fails_leaves_nothing(database):
    def half() -> None:
        with database.write() as connection:
            fill(connection)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        half()
    with database.read() as connection:
        assert connection.execute(select(func.count()).select_from(people)).scalar_one() == 0


@pytest.mark.parametrize("url", ["postgresql"], indirect=True)
def test_a_connection_that_breaks_in_a_transaction_changes_nothing(database, url):
    other = Database(url)

    def broken() -> None:
        with database.write() as connection:
            fill(connection)
            with other.read() as admin:
                admin.exec_driver_sql(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                    " WHERE datname = current_database() AND pid <> pg_backend_pid()"
                )
            connection.execute(select(people))

    with pytest.raises(UnavailableError, match=r"does not answer|went away"):
        broken()
    with database.write() as connection:
        assert connection.execute(select(func.count()).select_from(people)).scalar_one() == 0
        fill(connection)
    other.close()


def test_a_database_that_does_not_answer_is_one_sentence(tmp_path):
    gone = Database(f"postgresql://nobody@/none?host={tmp_path}")
    with pytest.raises(UnavailableError, match="does not answer"), gone.read():
        pass
    for url in ("", "mysql://x/y", "sqlite://", "postgres"):
        with pytest.raises(ConfigError, match="--database"):
            Database(url)


def test_a_file_is_written_once(tmp_path):
    objects, file = Objects(tmp_path / "store"), tmp_path / "file"
    file.write_bytes(b"x" * 100_000)
    objects.put("e/alice/2027-01-15/r/out.csv", file)
    file.write_bytes(b"other")
    with pytest.raises(ConflictError, match="never overwritten"):
        objects.put("e/alice/2027-01-15/r/out.csv", file)
    assert b"".join(objects.read("e/alice/2027-01-15/r/out.csv")) == b"x" * 100_000
    assert objects.size("e/alice/2027-01-15/r/out.csv") == 100_000
    assert objects.size("nothing") is None
    with pytest.raises(MissingError):
        objects.read("nothing")


def test_large_files_are_written_once_too(tmp_path, monkeypatch):
    monkeypatch.setattr("skyweave.testbed.store.objects.WHOLE_BYTES", 10)
    objects, file = Objects(tmp_path / "store"), tmp_path / "file"
    file.write_bytes(b"y" * 20_000_000)
    objects.put("large", file)
    assert sum(map(len, objects.read("large"))) == 20_000_000
    with pytest.raises(ConflictError, match="never overwritten"):
        objects.put("large", file)


def test_a_backup_comes_back_and_counts_on(database, tmp_path, url):
    objects, key, out = Objects(tmp_path / "one"), tmp_path / "key.pem", tmp_path / "backup.tar"
    key.write_text("secret")
    (tmp_path / "file").write_bytes(b"measured")
    objects.put("e/run/file", tmp_path / "file")
    with database.write() as connection:
        fill(connection)
        counted(connection, "fence", 41)
    assert back_up(database, objects, [key], out) == 7
    assert out.stat().st_mode & 0o077 == 0
    with pytest.raises(DataError, match="is there already"):
        back_up(database, objects, [key], out)

    (tmp_path / "new").mkdir()
    fresh, elsewhere = Database(f"sqlite:///{tmp_path}/fresh.db"), Objects(tmp_path / "two")
    assert restore(out, fresh, elsewhere, tmp_path / "new") == 7
    assert b"".join(elsewhere.read("e/run/file")) == b"measured"
    assert (tmp_path / "new" / "key.pem").read_text() == "secret"
    with fresh.write() as connection:
        assert counted(connection, "fence") == 1_000_042
        assert connection.execute(select(nodes.c.newest_order)).scalar_one() == 1_000_007
        assert connection.execute(select(func.count()).select_from(runs)).scalar_one() == 3
    with pytest.raises(DataError, match="not empty"):
        restore(out, fresh, elsewhere, tmp_path / "new")
    fresh.close()


META = f'{{"format": 1, "schema": "{newest()}"}}'.encode()


def hostile(name: str, content: bytes = b"x") -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for path, data in (("meta.json", META), (name, content)):
            info = tarfile.TarInfo(path)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return out.getvalue()


@pytest.mark.parametrize(
    "content",
    [b"", b"no tar", hostile("secrets/../../x"), hostile("tables/people.jsonl", b"[" * 100_000)],
)
def test_a_backup_that_is_none_is_refused_and_leaves_nothing(tmp_path, content):
    file = tmp_path / "backup.tar"
    file.write_bytes(content)
    fresh = Database(f"sqlite:///{tmp_path}/fresh.db")
    with pytest.raises(DataError, match="no whole backup"):
        restore(file, fresh, Objects(tmp_path / "store"), tmp_path)
    with fresh.read() as connection:
        assert connection.execute(select(func.count()).select_from(people)).scalar_one() == 0
    assert not (tmp_path.parent / "x").exists()
    fresh.close()
