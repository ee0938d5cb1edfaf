"""The last heartbeats of each node, in memory: what charts draw. The newest is in the database."""

from __future__ import annotations

import threading
from collections import deque
from typing import NamedTuple

from skyweave.testbed.wire import DishFigures, RadioFigures

MOST_BEATS = 480
"""Of a node: four hours."""


class Beat(NamedTuple):
    """What is kept of a heartbeat."""

    at: float
    offset_s: float
    error_s: float
    dish: DishFigures | None = None
    radio: RadioFigures | None = None


class Beats:
    """Heartbeats that came to this process."""

    def __init__(self) -> None:
        self._kept: dict[str, deque[Beat]] = {}
        self._lock = threading.Lock()

    def add(self, node: str, beat: Beat) -> None:
        """Keep one."""
        with self._lock:
            self._kept.setdefault(node, deque(maxlen=MOST_BEATS)).append(beat)

    def of(self, node: str) -> list[Beat]:
        """Return what is kept of a node, the oldest first."""
        with self._lock:
            return list(self._kept.get(node, ()))
