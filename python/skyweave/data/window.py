"""A piece of a path, cut out of what it did during a drive."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

import numpy as np

from skyweave.model.drive import PathTrace, Series
from skyweave.model.windows import OutageWindow, UpWindow

Scripted = TypeVar("Scripted", OutageWindow, UpWindow)


def window(path: PathTrace, start_s: float, end_s: float) -> PathTrace:
    """Return what a path does in [start, end), on a clock that begins there."""
    return PathTrace(
        downlink_mbps=_slice(path.downlink_mbps, start_s, end_s),
        uplink_mbps=_slice(path.uplink_mbps, start_s, end_s),
        rtt_ms=_slice(path.rtt_ms, start_s, end_s),
        loss_ratio=_slice(path.loss_ratio, start_s, end_s),
        outages=_shift(path.outages, start_s, end_s),
        present=None if path.present is None else _shift(path.present, start_s, end_s),
    )


def _shift(windows: Iterable[Scripted], start_s: float, end_s: float) -> tuple[Scripted, ...]:
    """Return the windows that reach into [start, end), on a clock that begins at its start.

    Their ends may lie beyond: nothing comes back because a piece of the drive is over.
    """
    return tuple(
        one.model_copy(
            update={
                "start_s": max(one.start_s - start_s, 0.0),
                "end_s": None if one.end_s is None else one.end_s - start_s,
            }
        )
        for one in windows
        if one.start_s < end_s and (one.end_s is None or one.end_s > start_s)
    )


def _slice(series: Series | None, start_s: float, end_s: float) -> Series | None:
    """Return what holds in [start, end), with its own clock; the value at the start included."""
    if series is None:
        return None
    first = max(int(np.searchsorted(series.times_s, start_s, side="right")) - 1, 0)
    last = max(int(np.searchsorted(series.times_s, end_s, side="left")), first + 1)
    times = np.maximum(series.times_s[first:last] - start_s, 0.0)
    return Series(times_s=times, values=series.values[first:last])
