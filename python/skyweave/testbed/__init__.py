"""Nodes at volunteers' terminals, runs on them, and who may start what; docs/testbed.md.

* ``wire``: what nodes and the orchestrator say to each other
* ``calendar``: who has which node when, and where a gap is
* ``store``: rows in SQLite or PostgreSQL, files in a folder or an object store, backups
* ``access``: people, roles, tokens, codes, the audit log
* ``runs``: plans, and the way of each run to its one end
* ``api``: the interface over HTTP; ``client``: a client of it; ``pages``: pages for browsers
* ``node``: the agent on a node, and what its owner allows
* ``measure``: the far end of measurements; ``profiles``: what a run met, as a drive and for others
"""

from skyweave.testbed.errors import ConflictError, MissingError, RefusedError, TestbedError

__all__ = ["ConflictError", "MissingError", "RefusedError", "TestbedError"]
