"""What tests of the live engine share; where no world can be made they are skipped."""

from __future__ import annotations

import uuid

import pytest
from marks import MARK

from skyweave.live.world.world import obstacle


@pytest.fixture(scope="session", autouse=True)
def _able() -> None:
    reason = obstacle()
    if reason is not None:
        pytest.skip(f"no emulated network here: {reason}")


@pytest.fixture
def mark(monkeypatch: pytest.MonkeyPatch) -> bytes:
    """What stands in the environment of every process that the test starts, and of no other."""
    name = uuid.uuid4().hex
    monkeypatch.setenv(MARK, name)
    return f"{MARK}={name}".encode()
