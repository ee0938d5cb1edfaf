"""Round-trip times of the links themselves: what a ping without any queue would see."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from skyweave.report.numbers.metrics import Values

PING_S = 1.0
"""Spacing of the pings."""


class _How(Protocol):
    @property
    def rtt_window_s(self) -> float: ...
    @property
    def kinds(self) -> Mapping[str, str]: ...


def link_rtts(paths: Sequence[dict[str, Any]], how: _How, duration_s: float) -> dict[str, Values]:
    """Return ``link_rtt_ms`` each second, and its largest minus smallest value in each window.

    Of the first path that is a satellite's, or else of the first one; pings in outages are lost.
    """
    satellites = [path for path in paths if how.kinds.get(path["name"]) == "satellite"]
    times, rtts = ping((satellites or list(paths))[0], duration_s)
    windows = np.floor(times / how.rtt_window_s).astype(int)
    whole = int(duration_s / how.rtt_window_s + 1e-9)
    answered = ~np.isnan(rtts)
    spans = [
        float(np.ptp(rtts[inside]))
        for window in range(whole)
        if (inside := answered & (windows == window)).sum() > 1
    ]
    return {"link_rtt_ms": rtts[answered], "link_rtt_span_ms": np.array(spans)}


def ping(path: dict[str, Any], duration_s: float) -> tuple[Values, Values]:
    """Return times in s and round-trip times in ms of pings over an idle path; NaN: no answer."""
    times = np.arange(0.0, duration_s, PING_S)
    rtts = _delay(path["down"]["delay"], times) + _delay(path["up"]["delay"], times)
    for link in (path["down"], path["up"]):
        for one in link["outages"]:
            rtts[(times >= one["start_s"]) & (times < one["end_s"])] = np.nan
    return times, rtts


def _delay(delay: dict[str, Any], times: Values) -> Values:
    if delay["kind"] == "unknown":
        return np.full(len(times), np.nan)
    if delay["kind"] == "constant":
        return np.full(len(times), float(delay["ms"]))
    steps, values = np.array(delay["times_s"], float), np.array(delay["ms"], float)
    looped = times if delay["repeat_s"] is None else times % delay["repeat_s"]
    found: Values = values[np.searchsorted(steps, looped, side="right") - 1]
    return found
