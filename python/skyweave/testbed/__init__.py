"""Nodes at volunteers' terminals, runs on them, and who may start what; docs/testbed.md.

* ``wire``: what nodes and the orchestrator say to each other
"""

from skyweave.testbed.errors import ConflictError, MissingError, RefusedError, TestbedError

__all__ = ["ConflictError", "MissingError", "RefusedError", "TestbedError"]
