"""LeoReplayer's pairs (LeoCC, SIGCOMM 2025): ``bw_NAME.txt`` and ``delay_NAME.txt``.

The rates are a mahimahi trace, the delay is one way, in ms, a line each 10 ms: the layout of
``leoreplayer/replayer/example`` of https://github.com/SpaceNetLab/LeoCC, which the importer
:mod:`skyweave.data.importers.leoreplayer` reads. Where no round trip
was logged, the last one stays.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from skyweave.data.writers import write_mahimahi, write_one_way_delay
from skyweave.errors import DataError
from skyweave.model.drive import PathTrace, Series


def write_leoreplayer(folder: Path, name: str, trace: PathTrace) -> list[Path]:
    """Write a pair for each direction; :class:`DataError` without rates or round trips."""
    if trace.rtt_ms is None:
        raise DataError(f"path '{name}' has no round trips, and LeoReplayer needs them")
    there = np.isfinite(trace.rtt_ms.values)
    if not there.any():
        raise DataError(f"path '{name}' has no round trips, and LeoReplayer needs them")
    last = np.maximum.accumulate(np.where(there, np.arange(len(there)), np.argmax(there)))
    held = Series(trace.rtt_ms.times_s, trace.rtt_ms.values[last])
    files = []
    for rates, direction in ((trace.downlink_mbps, "down"), (trace.uplink_mbps, "up")):
        if rates is None or not (rates.values > 0).any():
            continue
        pair = [folder / f"{kind}_{name}-{direction}.txt" for kind in ("bw", "delay")]
        write_mahimahi(pair[0], rates)
        write_one_way_delay(pair[1], held)
        files += pair
    if not files:
        raise DataError(f"path '{name}' has no rates, and LeoReplayer needs them")
    return files
