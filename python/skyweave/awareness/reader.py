"""What waits for one reader of events. A slow reader loses old rows; it never makes others wait."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable

MOST_ROWS = 1000
MOST_BYTES = 2**20
"""What may wait for a reader, beside what the kernel holds for it."""


def row_of(level: str, data: str) -> bytes:
    """Return a row of a server-sent event stream (WHATWG HTML); ``data`` is one line."""
    return f"event: {level}\ndata: {data}\n\n".encode()


class Reader:
    """Rows on their way to one reader."""

    def __init__(self, send: Callable[[bytes], int]) -> None:
        """``send`` says how much was taken; 0 or :class:`BlockingIOError`: nothing now.

        It may raise another :class:`OSError`.
        """
        self.lost_rows = 0
        """Rows that were thrown away, in all."""
        self._send = send
        self._begun = b""
        self._rows: deque[bytes] = deque()
        self._waiting_bytes = 0
        self._untold = 0

    @property
    def waits(self) -> bool:
        """Whether there is something that it has not taken."""
        return bool(self._begun or self._rows)

    def push(self, row: bytes) -> bool:
        """Send a row, at once if nothing waits; the oldest that wait go if there are too many.

        True if it is the first that waits. A hundred readers wait for this loop: the usual way
        is one call.
        """
        if not self._begun and not self._rows:
            self._begun = self._left(row)
            return bool(self._begun)
        self._rows.append(row)
        self._waiting_bytes += len(row)
        while len(self._rows) > MOST_ROWS or self._waiting_bytes > MOST_BYTES:
            self._waiting_bytes -= len(self._rows.popleft())
            self.lost_rows += 1
            self._untold += 1
        return False

    def pump(self) -> None:
        """Send what waits, as far as it is taken; a gap is said in its place."""
        while self.waits:
            if not self._begun:
                self._begun = self._next()
            self._begun = self._left(self._begun)
            if self._begun:
                return

    def _left(self, data: bytes) -> bytes:
        """Send, and return what was not taken."""
        try:
            return data[self._send(data) :]
        except BlockingIOError:
            return data

    def _next(self) -> bytes:
        if self._untold:
            gap, self._untold = row_of("lost", json.dumps({"rows": self._untold})), 0
            return gap
        row = self._rows.popleft()
        self._waiting_bytes -= len(row)
        return row
