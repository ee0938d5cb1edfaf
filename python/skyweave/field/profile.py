"""What a run met, as a drive: rates from the counters of its uplinks, round trips from probes.

A rate is what the run carried. It is what the link could carry only where the run asked for more
all the time, as a bulk transfer does; the drive's notes say so.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import NamedTuple

import numpy as np

from skyweave.model.drive import Drive, PathTrace, Series, Values

WINDOW_S = 5.0
"""Round trips are the smallest of this span: what is above is mostly the run's own queue."""
NOTE = (
    "rates are what the run carried: the link's capacity only where it was busy all the time; "
    f"round trips are the smallest of {WINDOW_S:g} s"
)


class Probe(NamedTuple):
    """One round trip that the node measured beside the run."""

    time_unix_s: float
    uplink: str
    rtt_ms: float | None
    """None: lost."""


def drive_of(
    counters: Sequence[tuple[float, str, int, int]], probes: Sequence[Probe], name: str, origin: str
) -> Drive | None:
    """Return the drive of a run; ``None`` without two looks at the counters of an uplink.

    ``counters``: Unix time, uplink, bytes sent, bytes received; both count up.
    """
    uplinks = sorted({one[1] for one in counters})
    paths, begin = {}, min((one[0] for one in counters), default=0.0)
    for uplink in uplinks:
        rows = [one for one in counters if one[1] == uplink]
        trace = _trace(rows, [one for one in probes if one.uplink == uplink], begin)
        if trace is not None:
            paths[uplink] = trace
    if not paths:
        return None
    start = datetime.fromtimestamp(begin, UTC)
    return Drive(name=name, origin=origin, paths=paths, start=start, notes=(NOTE,))


def _trace(
    rows: Sequence[tuple[float, str, int, int]], probes: Sequence[Probe], begin: float
) -> PathTrace | None:
    times = np.array([one[0] for one in rows])
    rows = [row for row, ok in zip(rows, np.diff(times, prepend=-np.inf) > 0, strict=True) if ok]
    if len(rows) < 2:
        return None
    times = np.array([one[0] for one in rows]) - begin
    spans = np.diff(times)
    sent, received = (
        np.maximum(np.diff([one[column] for one in rows]), 0) * 8e-6 / spans for column in (2, 3)
    )
    at = times[:-1].copy()
    at[0] = 0.0
    return PathTrace(
        downlink_mbps=Series(at, received), uplink_mbps=Series(at, sent),
        rtt_ms=_round_trips(probes, begin, float(times[-1])),
    )  # fmt: skip


def _round_trips(probes: Sequence[Probe], begin: float, end_s: float) -> Series | None:
    """Return the smallest round trip of each span; one without an answer is not logged."""
    smallest: Values = np.full(max(1, int(np.ceil(end_s / WINDOW_S))), np.nan)
    for one in probes:
        place = int((one.time_unix_s - begin) // WINDOW_S)
        if one.rtt_ms is not None and 0 <= place < len(smallest):
            smallest[place] = np.fmin(smallest[place], one.rtt_ms)
    if np.isnan(smallest).all():
        return None
    return Series(WINDOW_S * np.arange(len(smallest), dtype=np.float64), smallest)
