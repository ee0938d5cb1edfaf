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
