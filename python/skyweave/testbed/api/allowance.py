"""How often somebody may do something: counted by the hour, in memory."""

from __future__ import annotations

import threading
from collections import Counter

from skyweave.testbed.errors import RefusedError

HOUR_S = 3600.0


class TooManyError(RefusedError):
    """Somebody did something too often; later it is allowed again."""

    wait_s: int | None = None
    """In how many seconds."""


def retry_after(error: Exception) -> dict[str, str]:
    """Return the header that says when to try again, if an error says it."""
    wait_s = error.wait_s if isinstance(error, TooManyError) else None
    return {} if wait_s is None else {"Retry-After": str(wait_s)}


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
                error = TooManyError(
                    f"{name} may have {self._most:,} {self._what} in an hour; go on in the next"
                )
                error.wait_s = int((hour + 1) * HOUR_S - now) + 1
                raise error
            self._used[name] += count
