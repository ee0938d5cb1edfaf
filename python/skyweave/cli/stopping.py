"""Commands that go on until Ctrl-C or SIGTERM, and then write what they have."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_ENDS = (signal.SIGINT, signal.SIGTERM)
_OVER = b"\0"
"""In place of a signal's number: nobody listens any more."""


@contextmanager
def stopped(ring: Callable[[], object] = lambda: None) -> Iterator[threading.Event]:
    """Yield an event that both signals set; ``ring`` wakes who cannot wait for events.

    A thread of its own receives them. Python runs handlers in the main thread, between two
    bytecodes: a signal that comes when the main thread is about to block is handled after it has
    returned, and it never returns if it waits for that signal.
    """
    stop = threading.Event()

    def heard() -> None:
        stop.set()
        ring()

    before = {number: signal.signal(number, lambda *_: None) for number in _ENDS}
    try:
        with _hearing(heard):
            yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _hearing(heard: Callable[[], None]) -> Iterator[None]:
    """Call this, in another thread, when one of the signals comes."""
    reads, writes = os.pipe()
    os.set_blocking(writes, False)
    before = signal.set_wakeup_fd(writes, warn_on_full_buffer=False)

    def listen() -> None:
        numbers = b""
        while _OVER not in numbers:
            numbers = os.read(reads, 64)
            if any(number in _ENDS for number in numbers):
                heard()

    listener = threading.Thread(target=listen, daemon=True)
    listener.start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        os.write(writes, _OVER)  # a process that was forked may hold the other end open
        listener.join()
        os.close(writes)
        os.close(reads)


def _deaf() -> None:
    """A process that was forked does not tell its parent of its own signals."""
    if threading.current_thread() is threading.main_thread():
        signal.set_wakeup_fd(-1)


os.register_at_fork(after_in_child=_deaf)


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
