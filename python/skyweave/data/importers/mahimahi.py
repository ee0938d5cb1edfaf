"""Mahimahi packet-delivery traces: one line per chance to deliver 1,500 bytes, in ms.

Format: https://github.com/ravinet/mahimahi (mm-link): integers, never falling; several equal lines
are several packets in that millisecond; the last line is also the length after which it repeats.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from skyweave.data import traces
from skyweave.data.importers.base import read_text
from skyweave.model.drive import Drive, PathTrace, Series

PACKET_BYTES = 1500
BIN_MS = 100
SUFFIXES = (".up", ".down", ".uplink", ".downlink")


def sniff(path: Path, head: str) -> bool:
    """A first line that is one whole number; what is wrong further on, loading says by line."""
    return head.split("\n", 1)[0].strip().isdigit() and not path.name.startswith("delay_")


def opportunities_ms(path: Path) -> npt.NDArray[np.int64]:
    """The delivery opportunities themselves in ms, shape (n,), never falling.

    Raises :class:`DataError` for lines that are not whole numbers or that step back in time.
    """
    return traces.opportunities(read_text(path)).astype(np.int64)


def capacity_mbps(times_ms: npt.NDArray[np.int64], bin_ms: int = BIN_MS) -> Series:
    """Capacity in Mbit/s per bin of ``bin_ms``; the sum over bins is exactly what was delivered.

    The bins cover [0, last line); an opportunity on the last line counts in the last bin. A last
    bin that is not full keeps its volume, so its rate reads low.
    """
    length_ms = int(times_ms[-1])
    bins = -(-length_ms // bin_ms)
    counts = np.bincount(np.minimum(times_ms // bin_ms, bins - 1), minlength=bins)
    rate = counts.astype(float) * (PACKET_BYTES * 8 / 1e6) / (bin_ms / 1e3)
    return Series(np.arange(bins, dtype=float) * (bin_ms / 1e3), rate)


def load(path: Path, bin_ms: int = BIN_MS) -> list[Drive]:
    """One drive with the path ``link``; uplink if the file ends in ``.up``, else downlink."""
    series = capacity_mbps(opportunities_ms(path), bin_ms)
    stem = path.name.removesuffix(".gz")
    if stem.endswith((".up", ".uplink")):
        trace = PathTrace(uplink_mbps=series)
    else:
        trace = PathTrace(downlink_mbps=series)
    origin = f"mahimahi packet-delivery trace {path.name}, binned to {bin_ms} ms"
    return [Drive(name=stem.removesuffix(".txt"), origin=origin, paths={"link": trace})]
