"""Starlink on the Road (TMA 2024): a dish on a van in Osnabrück, downlink and uplink at once.

https://github.com/sys-uos/Starlink-on-the-Road: ``data/iperf.csv`` has 1 s rows in many short
sessions, ``data/ping.csv`` one summary of 250 pings every minute or so. The two were not measured
at the same moments, so they become different drives. Times have no zone in the files.
"""

from __future__ import annotations

from datetime import datetime
from itertools import pairwise
from pathlib import Path

import numpy as np

from skyweave.data.importers.base import (
    Table,
    parse_table,
    read_text,
    require_increasing,
    seconds_since,
)
from skyweave.model.drive import Drive, PathTrace, Series, Values

TIME = "timestamp_start"
IPERF_GAP_S = 2.0
PING_GAP_S = 300.0


def sniff(path: Path, head: str) -> bool:
    """The header of either file, or a folder with both."""
    if path.is_dir():
        return all(_find(path, name) is not None for name in ("iperf.csv", "ping.csv"))
    return head.startswith(TIME) and ("download_mbps" in head or "ping_avg" in head)


def load(path: Path) -> list[Drive]:
    """One drive per session, with the one path ``starlink``.

    ``iperf.csv``: a new session after more than :data:`IPERF_GAP_S`; downlink and uplink in the
    same seconds, NaN where one was not logged. ``ping.csv``: a new session after more than
    :data:`PING_GAP_S`; ``rtt_ms`` is the mean and ``loss_ratio`` the loss of 250 pings in 25 s,
    held until the next summary.
    """
    if path.is_dir():
        files = [_find(path, name) for name in ("iperf.csv", "ping.csv")]
        return [drive for found in files if found is not None for drive in load(found)]
    table = parse_table(read_text(path), (TIME,))
    stamps = table.times(TIME)
    seconds = seconds_since(stamps[0], stamps)
    require_increasing(table, TIME, seconds)
    if "ping_avg" in table.columns:
        return _pings(table, stamps, seconds)
    return _sessions(table, stamps, seconds)


def _find(folder: Path, name: str) -> Path | None:
    places = (folder / name, folder / "data" / name)
    return next((place for place in places if place.is_file()), None)


def _cuts(seconds: Values, gap_s: float) -> list[slice]:
    """The stretches without a gap of more than ``gap_s``."""
    first = np.concatenate([[0], np.flatnonzero(np.diff(seconds) > gap_s) + 1, [len(seconds)]])
    return [slice(a, b) for a, b in pairwise(first.tolist())]


def _sessions(table: Table, stamps: list[datetime], seconds: Values) -> list[Drive]:
    rates = {
        "downlink_mbps": table.numbers("download_mbps", empty_ok=True, minimum=0.0),
        "uplink_mbps": table.numbers("upload_mbps", empty_ok=True, minimum=0.0),
    }
    drives = []
    for rows in _cuts(seconds, IPERF_GAP_S):
        times_s = seconds[rows] - seconds[rows.start]
        logged = {k: v[rows] for k, v in rates.items() if not np.isnan(v[rows]).all()}
        trace = PathTrace.of({name: Series(times_s, v) for name, v in logged.items()})
        if logged:
            drives.append(_drive("iperf", stamps[rows.start], trace))
    return drives


def _pings(table: Table, stamps: list[datetime], seconds: Values) -> list[Drive]:
    rtts = table.numbers("ping_avg", minimum=0.0)
    losses = table.numbers("packet_loss", minimum=0.0, maximum=100.0) / 100
    drives = []
    for rows in _cuts(seconds, PING_GAP_S):
        times_s = seconds[rows] - seconds[rows.start]
        trace = PathTrace(
            rtt_ms=Series(times_s, rtts[rows]), loss_ratio=Series(times_s, losses[rows])
        )
        drives.append(_drive("ping", stamps[rows.start], trace))
    return drives


def _drive(kind: str, start: datetime, trace: PathTrace) -> Drive:
    name = f"ontheroad-{kind}-{start:%Y%m%d-%H%M%S}"
    origin = f"Starlink on the Road (TMA 2024), {kind}.csv, session of {start}"
    return Drive(name=name, origin=origin, paths={"starlink": trace}, start=start)
