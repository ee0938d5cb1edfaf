"""What tests of the live engine share; where no world can be made they are skipped."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest
from marks import MARK

from skyweave.live.priority import real_time
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


@pytest.fixture
def prompt() -> Iterator[None]:
    """What the test starts runs before all ordinary processes, and after the relay.

    An end of a connection that waits for the processor for a second is a path that is silent for a
    second: beside busy programs paths failed that nothing was wrong with.
    """
    with real_time(1):
        yield
