"""What is good once and soon: challenges and states that a browser brings back; in memory alone."""

from __future__ import annotations

import secrets
import threading
from collections import OrderedDict, deque
from typing import Generic, TypeVar

MOST_ASKERS = 2000
MOST_EACH = 20
"""Of one asker: their oldest goes, and nobody else's."""

Value = TypeVar("Value")


class Once(Generic[Value]):
    """Random words, each with a value, good once and for some minutes; a restart forgets them."""

    def __init__(self, good_s: float, askers: int = MOST_ASKERS, each: int = MOST_EACH) -> None:
        self._good_s, self._askers, self._each = good_s, askers, each
        self._kept: dict[str, tuple[Value, float]] = {}
        self._of: OrderedDict[str, deque[str]] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._kept)

    def make(self, value: Value, asker: str, now: float) -> str:
        """Return a new word of 256 bits; ``asker`` is whose place it takes."""
        word = secrets.token_urlsafe(32)
        with self._lock:
            mine = self._of.setdefault(asker, deque())
            self._of.move_to_end(asker)
            mine.append(word)
            if len(mine) > self._each:
                self._kept.pop(mine.popleft(), None)
            while len(self._of) > self._askers:
                for gone in self._of.popitem(last=False)[1]:
                    self._kept.pop(gone, None)
            self._kept[word] = value, now + self._good_s
        return word

    def take(self, word: str, now: float) -> Value | None:
        """Use a word up, and return its value; None if it is not good, or not any more."""
        with self._lock:
            value, until = self._kept.pop(word, (None, 0.0))
        return value if now < until else None
