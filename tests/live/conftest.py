"""What tests of the live engine share; where no world can be made they are skipped."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator

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


@pytest.fixture
def prompt() -> Iterator[None]:
    """What the test starts runs before all ordinary processes, where this user may ask for that.

    An end of a connection that waits for the processor for a second is a path that is silent for a
    second: beside busy programs paths failed that nothing was wrong with.
    """
    policy, param = os.sched_getscheduler(0), os.sched_getparam(0)
    try:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
    except PermissionError:
        yield
        return
    try:
        yield
    finally:
        os.sched_setscheduler(0, policy, param)
