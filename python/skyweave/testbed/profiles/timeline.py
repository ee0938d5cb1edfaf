"""A path second by second, as all other emulators want it."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from skyweave.errors import DataError
from skyweave.model.drive import PathTrace, Series
from skyweave.model.limits import grid_size

DEFAULT_RTT_MS = 50.0
"""Of a path whose round trips were not measured."""


class Moment(NamedTuple):
    """One step of a path."""

    time_s: float
    down_mbps: float | None
    """None: not measured at all; 0: nothing passes."""
    up_mbps: float | None
    rtt_ms: float
    loss_ratio: float
    is_out: bool


def timeline(trace: PathTrace, step_s: float = 1.0) -> list[Moment]:
    """Return a path on a grid; a value that was not logged is the last one before, else 0 Mbit/s.

    Raises :class:`DataError` for a path without rates and round trips.
    """
    series = [one for one in (trace.downlink_mbps, trace.uplink_mbps, trace.rtt_ms) if one]
    if not series:
        raise DataError("a path has neither rates nor round trips; there is nothing to write")
    span_s = min(one.duration_s for one in series)
    times = step_s * np.arange(grid_size(span_s, step_s, "the profile"))
    found = []
    for at in times.tolist():
        out = any(one.start_s <= at < one.end_s for one in trace.outages)
        if trace.present is not None:
            out = out or not any(one.start_s <= at < one.end_s for one in trace.present)
        rtt = _at(trace.rtt_ms, at, DEFAULT_RTT_MS)
        loss = _at(trace.loss_ratio, at, 0.0)
        down, up = (
            None if one is None else 0.0 if out else _now(one, at)
            for one in (trace.downlink_mbps, trace.uplink_mbps)
        )
        found.append(Moment(at, down, up, rtt, loss, out))
    return found


def _now(series: Series, at: float) -> float:
    """Return the value of a rate at a moment; not logged is 0."""
    place = int(np.searchsorted(series.times_s, at + 1e-9, side="right")) - 1
    value = float(series.values[place])
    return value if math.isfinite(value) else 0.0


def _at(series: Series | None, at: float, else_: float) -> float:
    """Return the last value that was logged up to a moment, the first one before there is any."""
    if series is None:
        return else_
    there = np.isfinite(series.values)
    if not there.any():
        return else_
    times, values = series.times_s[there], series.values[there]
    place = int(np.searchsorted(times, at + 1e-9, side="right")) - 1
    return float(values[max(place, 0)])
