"""How many bytes a run sent and received over each uplink, each second and at its end."""

from __future__ import annotations

from collections.abc import Mapping

HEAD = "time_unix_s,uplink,sent_bytes,received_bytes"
MOST_ROWS = 8 * 90_000
"""A day and an hour of seconds over eight uplinks."""


class Traffic:
    """Counters at whole seconds; given looks at them that come more often."""

    def __init__(self) -> None:
        self.rows: list[tuple[float, str, int, int]] = []
        self._second = -1
        self._end: list[tuple[float, str, int, int]] = []

    def look(self, now: float, counters: Mapping[str, tuple[int, int]]) -> None:
        """Take the counters at a moment (sent, received); the first look of a second counts."""
        if int(now) == self._second or len(self.rows) + len(counters) > MOST_ROWS:
            return
        self._second = int(now)
        self.rows += _rows(now, counters)

    def end(self, now: float, counters: Mapping[str, tuple[int, int]]) -> None:
        """Take the counters after the run: the last rows of the table, whatever the second."""
        self._end = _rows(now, counters)

    def csv(self) -> bytes:
        """Return all of it as a table."""
        rows = [*self.rows, *self._end]
        lines = [f"{now:.3f},{name},{sent},{received}" for now, name, sent, received in rows]
        return ("\n".join([HEAD, *lines]) + "\n").encode()


def _rows(now: float, counters: Mapping[str, tuple[int, int]]) -> list[tuple[float, str, int, int]]:
    return [(now, name, *both) for name, both in sorted(counters.items())]
