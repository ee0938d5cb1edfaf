"""Priority over all ordinary processes, for what must be on time on a busy machine."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

RELAY = 20
"""Of the relay, among processes of this policy: what it carries is for all others."""


@contextlib.contextmanager
def real_time(priority: int = RELAY) -> Iterator[None]:
    """Let threads and processes that begin here run before all ordinary ones (SCHED_FIFO).

    Without the permission nothing changes. A relay sleeps most of the time; one that waits for the
    processor is late with packets that the links have released (``docs/live.md``, lateness).
    """
    policy, param = os.sched_getscheduler(0), os.sched_getparam(0)
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(priority))
    except PermissionError:
        yield
        return
    try:
        yield
    finally:
        os.sched_setscheduler(0, policy, param)
