"""The schema, brought to the newest version by Alembic when the orchestrator starts."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

from skyweave.testbed.errors import TestbedError
from skyweave.testbed.store.database import Database

HERE = Path(__file__).parent / "migrations"


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(HERE).replace("%", "%%"))
    return config


def newest() -> str:
    """Return the version of the schema that this code is for."""
    head = ScriptDirectory.from_config(_config()).get_current_head()
    assert head is not None
    return head


def migrate(database: Database) -> None:
    """Bring the schema to the newest version; :class:`TestbedError` if it is newer still."""
    with database.write() as connection:
        there = MigrationContext.configure(connection).get_current_revision()
        if there == newest():
            return
        known = {one.revision for one in ScriptDirectory.from_config(_config()).walk_revisions()}
        if there is not None and there not in known:
            raise TestbedError(
                f"the database is of a newer Skyweave (schema {there}); update Skyweave here"
            )
        config = _config()
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
