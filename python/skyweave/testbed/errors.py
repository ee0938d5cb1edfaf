"""What the testbed refuses, in one sentence each."""

from __future__ import annotations

from skyweave.errors import SkyweaveError


class TestbedError(SkyweaveError):
    """A request that the testbed cannot fulfil: what, where, what to do."""

    __test__ = False  # no class of tests, whatever its name begins with


class RefusedError(TestbedError):
    """Somebody asked for what is not theirs, or did not say who they are."""


class ConflictError(TestbedError):
    """What was asked for is taken, or has changed in the meantime."""


class MissingError(TestbedError):
    """What was asked for is not there."""
