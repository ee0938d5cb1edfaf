"""What the orchestrator keeps: rows in a database, files in a store.

* ``tables``: the schema; ``migrate`` and ``migrations``: how a database gets it
* ``database``: transactions with one writer at a time; ``objects``: files that never change
* ``backup``: all of it in one file, and back
"""

from skyweave.testbed.store.backup import back_up, restore
from skyweave.testbed.store.database import Database, UnavailableError, counted
from skyweave.testbed.store.migrate import migrate
from skyweave.testbed.store.objects import Objects

__all__ = [
    "Database", "Objects", "UnavailableError", "back_up", "counted", "migrate", "restore",
]  # fmt: skip
