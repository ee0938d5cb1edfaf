"""Commands that go on until Ctrl-C or SIGTERM, and then write what they have."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def stopped(ring: Callable[[], object] = lambda: None) -> Iterator[threading.Event]:
    """Yield an event that both signals set; ``ring`` wakes who cannot wait for events."""
    stop = threading.Event()

    def leave(*_: object) -> None:
        stop.set()
        ring()

    before = {number: signal.signal(number, leave) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def terminable() -> Iterator[None]:
    """Let SIGTERM end the work inside as Ctrl-C does: files are written to their end, peers told.

    Without it the process is gone at once, and what its buffers hold with it.
    """
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
