"""What is known of a series at a moment: its last five minutes, and where in a slot it stands."""

from __future__ import annotations

import math

LENGTH_S = 300
"""Nothing older is looked at."""
_RING = LENGTH_S + 1
PERIOD_S = 15
EDGE_S = 12
"""Starlink assigns satellites anew at 12, 27, 42 and 57 s of each minute."""

LEVELS = ("last", "mean 5", "this slot", "last slot", "mean 60", "mean 300", "1")
FACTORS = (0.05, 0.1, 0.2, 0.3, 0.5, 0.7)
LAGS = (1, 2, 3, 4)
FEATURES = (*LEVELS, *(f"ewma {one:g}" for one in FACTORS), *(f"{one} s ago" for one in LAGS))
"""What a row of features holds: means of the past, moving averages, and the last values."""
EWMA_AT = len(LEVELS)
LAGS_AT = EWMA_AT + len(FACTORS)


class History:
    """The past of a series, a second at a time.

    ``edge_s`` is the first second of a slot, modulo ``period_s``.
    """

    def __init__(self, period_s: int = PERIOD_S, edge_s: int = EDGE_S) -> None:
        self.period_s = period_s
        self.edge_s = edge_s
        self.now: int | None = None
        self.last = math.nan
        self._sums = [0.0] * _RING
        self._counts = [0] * _RING
        self._moving = [math.nan] * len(FACTORS)

    def update(self, second: int, value: float) -> None:
        """Take the value of a second, later than all before it."""
        if self.now is None or second - self.now > LENGTH_S:
            self._sums, self._counts = [0.0] * _RING, [0] * _RING
            before = (0.0, 0)
            self._moving = [value] * len(FACTORS)
        else:
            place = self.now % _RING
            before = self._sums[place], self._counts[place]
            for missing in range(self.now + 1, second):
                place = missing % _RING
                self._sums[place], self._counts[place] = before
        place = second % _RING
        self._sums[place], self._counts[place] = before[0] + value, before[1] + 1
        self._moving = [
            old + factor * (value - old) for old, factor in zip(self._moving, FACTORS, strict=True)
        ]
        self.now, self.last = second, value

    @property
    def phase_s(self) -> int:
        """Seconds since the slot began, for the second that was last."""
        return 0 if self.now is None else (self.now - self.edge_s) % self.period_s

    def mean(self, begin_s: int, end_s: int) -> float:
        """Return the mean from ``begin_s`` to ``end_s`` seconds ago, both with it; NaN if none."""
        assert self.now is not None
        late, early = (self.now - end_s) % _RING, (self.now - begin_s - 1) % _RING
        count = self._counts[late] - self._counts[early]
        return (self._sums[late] - self._sums[early]) / count if count > 0 else math.nan

    def features(self) -> list[float]:
        """Return :data:`FEATURES`; what is missing is the last value.

        The first second of a slot is left out of its mean: it belongs to the handover.
        """
        phase = self.phase_s
        edge = min(phase + self.period_s, LENGTH_S - 1)
        found = [
            self.last,
            self.mean(4, 0),
            self.mean(phase - 1, 0) if phase > 0 else self.last,
            self.mean(edge, phase + 1) if edge > phase else self.last,
            self.mean(59, 0),
            self.mean(LENGTH_S - 1, 0),
            1.0,
            *self._moving,
            *(self.mean(ago, ago) for ago in LAGS),
        ]
        return [self.last if math.isnan(value) else value for value in found]
