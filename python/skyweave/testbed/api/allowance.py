"""How often somebody may do something: counted by the hour, in memory."""

from __future__ import annotations

import threading
from collections import Counter

from skyweave.testbed.errors import RefusedError

HOUR_S = 3600.0


class TooManyError(RefusedError):
    """Somebody did something too often; later it is allowed again."""


class Allowance:
    """So many of something, for each name, in an hour of the clock."""

    def __init__(self, what: str, most: int) -> None:
        self._what, self._most = what, most
        self._hour, self._used = 0, Counter[str]()
        self._lock = threading.Lock()

    def use(self, name: str, now: float, count: int = 1) -> None:
        """Count; :class:`TooManyError` if that is too many."""
        hour = int(now // HOUR_S)
        with self._lock:
            if hour != self._hour:
                self._hour, self._used = hour, Counter()
            if self._used[name] + count > self._most:
                raise TooManyError(
                    f"{name} may have {self._most:,} {self._what} in an hour; go on in the next"
                )
            self._used[name] += count
