"""The dish's history: a ring of its last 900 seconds, joined by its counter.

The ring is complete at 1/300 of the calls that a status each second takes, and a recorder that was
down for less than 15 minutes loses nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import polars as pl

from skyweave.telemetry.dish.errors import DishError
from skyweave.telemetry.dish.status import Row, no_lost_latency

MOST_RING = 100_000
"""Samples of a ring; dishes have 900."""
STRAY_S = 30.0
"""How far the counter may stray from the seconds that passed before it counts as begun anew."""
SERIES: dict[str, tuple[str, float, float, float]] = {
    "ping_latency_ms": ("pop_ping_latency_ms", 0.0, 60_000.0, 1.0),
    "ping_drop_ratio": ("pop_ping_drop_rate", 0.0, 1.0, 1.0),
    "down_mbps": ("downlink_throughput_bps", 0.0, 1e12, 1e-6),
    "up_mbps": ("uplink_throughput_bps", 0.0, 1e12, 1e-6),
    "power_w": ("power_in", 0.0, 10_000.0, 1.0),
}
"""Columns: field, least and most that is possible, factor."""
SCHEMA: dict[str, Any] = {
    "time_unix_s": pl.Float64,
    "counter": pl.Int64,
    "gap": pl.Boolean,
    **dict.fromkeys(SERIES, pl.Float64),
}
"""``gap``: samples are missing before this one, or the counter began anew; times: within 1 s."""


@dataclass
class History:
    """What was joined so far: the counter of the last sample, and when it was read."""

    last: int | None = None
    read_s: float = 0.0
    gaps: int = 0
    _gap: bool = False

    def join(self, message: Any, now_s: float, now_unix_s: float) -> list[Row]:
        """Return the samples that are new in a ``DishGetHistoryResponse``, oldest first.

        ``now_s`` is of a clock that never jumps. Raises :class:`DishError` for a ring without a
        counter or of more than :data:`MOST_RING` samples.
        """
        columns = {
            name: list(getattr(message, place))
            for name, (place, *_) in SERIES.items()
            if place in message.DESCRIPTOR.fields_by_name
        }
        size = max((len(one) for one in columns.values()), default=0)
        current = int(getattr(message, "current", -1))
        if not 0 <= current < 2**62 or size > MOST_RING:
            raise DishError(f"the history has counter {current} and {size} samples: left out")
        first = self._first(current, now_s)
        oldest = max(0, current - size)
        broken = self.last is not None and (first != self.last or oldest > first)
        self.gaps += broken
        self._gap |= broken
        self.last, self.read_s = current, now_s
        rows = [
            {
                "time_unix_s": now_unix_s - (current - counter),
                "counter": counter,
                "gap": False,
                **{name: _value(name, one, counter) for name, one in columns.items()},
            }
            for counter in range(max(first, oldest), current)
        ]
        for row in rows:
            no_lost_latency(row)
        if rows:
            rows[0]["gap"], self._gap = self._gap, False
        return rows

    def _first(self, current: int, now_s: float) -> int:
        """Return the counter of the first sample that is new; 0 if the ring began anew."""
        if self.last is None:
            return 0
        stray = abs((current - self.last) - (now_s - self.read_s))
        return self.last if current >= self.last and stray <= STRAY_S else 0


def _value(name: str, column: list[float], counter: int) -> float | None:
    if not column:
        return None
    _, low, high, factor = SERIES[name]
    value = column[counter % len(column)]
    return value * factor if low <= value <= high else None
