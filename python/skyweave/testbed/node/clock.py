"""How far a node's clock is from the orchestrator's, and how sure that is."""

from __future__ import annotations

from collections import deque

from skyweave.testbed.wire import Clock

DRIFT = 50e-6
"""How fast an ordinary clock goes wrong: 50 ppm, 4 s a day."""
KEPT = 16
UNKNOWN_S = 1e6
"""The error of a clock that was never compared."""


class ClockWatch:
    """Comparisons of clocks; the surest, aged, is what counts. Moments are the node's own."""

    def __init__(self) -> None:
        self._seen: deque[tuple[float, float, float]] = deque(maxlen=KEPT)

    def compare(self, sent: float, received: float, theirs: float) -> None:
        """Take a comparison: the other's time, said at some moment between two of ours."""
        error = max(received - sent, 0.0) / 2
        self._seen.append((received, theirs - (sent + received) / 2, error))

    def at(self, now: float) -> Clock:
        """Return the offset (true time minus the node's) and its error."""
        if not self._seen:
            return Clock(offset_s=0.0, error_s=UNKNOWN_S)
        newest = self._seen[-1]
        # a clock that was set since then makes old comparisons worthless
        fitting = [one for one in self._seen if abs(one[1] - newest[1]) <= one[2] + newest[2] + 1.0]
        offset, error = min(
            ((one[1], one[2] + DRIFT * abs(now - one[0])) for one in fitting),
            key=lambda found: found[1],
        )
        return Clock(offset_s=offset, error_s=error)
