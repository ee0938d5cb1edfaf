"""The little that a transport needs of a forecast: next boundary, next outage, quantiles."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import IntEnum

from skyweave.forecast import ForecastFile
from skyweave.model.forecast import ForecastSeries

QUANTILES = (0.1, 0.5, 0.9)
HORIZON_S = 5.0
"""How far ahead the quantiles are taken."""
LEAST_PROBABILITY = 0.1
"""Less likely outages are not hinted at."""
NOTHING = (math.nan,) * 3
Three = tuple[float, float, float]


class Kind(IntEnum):
    """What comes at a boundary."""

    NONE = 0
    SLOT = 1
    HANDOVER = 2
    OUTAGE = 3
    OBSTRUCTION = 4


@dataclass(frozen=True)
class Hint:
    """What is known ahead of a path; moments are in ns of CLOCK_MONOTONIC, 0: not known."""

    issued_ns: int
    valid_until_ns: int
    boundary_ns: int = 0
    boundary_uncertainty_ns: int = 0
    boundary_probability: float = 0.0
    boundary_kind: Kind = Kind.NONE
    outage_start_ns: int = 0
    outage_end_ns: int = 0
    outage_probability: float = 0.0
    rtt_ms: Three = NOTHING
    """The 10 %, 50 % and 90 % quantiles :data:`HORIZON_S` ahead; NaN: not known."""
    down_mbps: Three = NOTHING
    up_mbps: Three = NOTHING


def hint_of(known: ForecastFile, unix_s: float, monotonic_ns: int) -> Hint | None:
    """Return the hint of a forecast at a moment that two clocks show; None outside of its span."""
    if not known.start_unix_s <= unix_s < known.end_unix_s:
        return None

    def at(ahead_s: float) -> int:
        return max(monotonic_ns + round(ahead_s * 1e9), 1)

    left_s = known.end_unix_s - unix_s
    forecast, _ = known.of_run(unix_s, left_s)
    outage = forecast.outage(0.0, LEAST_PROBABILITY)
    edge = min(forecast.boundaries, key=lambda one: one.at_s, default=None)
    ahead_s = min(HORIZON_S, left_s)
    return Hint(
        issued_ns=monotonic_ns,
        valid_until_ns=at(left_s),
        boundary_ns=at(edge.at_s) if edge else 0,
        boundary_uncertainty_ns=round(edge.uncertainty_s * 1e9) if edge else 0,
        boundary_probability=edge.probability if edge else 0.0,
        boundary_kind=Kind[edge.kind.upper()] if edge else Kind.NONE,
        outage_start_ns=at(outage.start_s) if outage else 0,
        outage_end_ns=at(outage.end_s) if outage else 0,
        outage_probability=outage.probability if outage else 0.0,
        rtt_ms=_three(forecast.rtt_ms, ahead_s),
        down_mbps=_three(forecast.down_mbps, ahead_s),
        up_mbps=_three(forecast.up_mbps, ahead_s),
    )


def _three(series: ForecastSeries | None, at_s: float) -> Three:
    if series is None:
        return NOTHING
    low, middle, high = (series.at(at_s, one) for one in QUANTILES)
    if low is None or middle is None or high is None:
        return NOTHING
    return (low, middle, high)
