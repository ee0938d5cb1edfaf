"""LeoReplayer pairs (LeoCC, SIGCOMM 2025): capacity as a mahimahi trace, delay every 10 ms.

https://github.com/SpaceNetLab/LeoCC, ``leoreplayer/replayer/example``: ``bw_*.txt`` are delivery
times in ms, ``delay_*.txt`` is the base one-way delay in ms, one line per 10 ms. The round trip is
taken as twice the one-way delay.
"""

from __future__ import annotations

from pathlib import Path

from skyweave.data import traces
from skyweave.data.importers.base import read_text
from skyweave.data.importers.mahimahi import BIN_MS, capacity_mbps, opportunities_ms
from skyweave.errors import DataError
from skyweave.model.drive import Drive, PathTrace, Series


def sniff(path: Path, _head: str) -> bool:
    """A ``bw_*``/``delay_*`` file with its partner beside it, or a folder with one such pair."""
    if path.is_dir():
        return any(_partner(found) is not None for found in path.glob("bw_*"))
    return path.name.startswith(("bw_", "delay_")) and _partner(path) is not None


def one_way_delay_ms(path: Path) -> Series:
    """The one-way delay in ms, one value per 10 ms."""
    return Series(*traces.one_way_delays(read_text(path)))


def load(path: Path, bin_ms: int = BIN_MS) -> list[Drive]:
    """One drive per pair: path ``starlink`` with downlink (``bin_ms`` bins) and RTT = 2 x one-way.

    ``path`` is either file of a pair or their folder. Raises :class:`DataError` without a partner.
    """
    firsts = sorted(path.glob("bw_*")) if path.is_dir() else [path]
    if not firsts:
        raise DataError(f"{path}: holds no bw_*.txt file; name a LeoReplayer folder")
    return [_pair(first, bin_ms) for first in firsts]


def _pair(path: Path, bin_ms: int) -> Drive:
    partner = _partner(path)
    if partner is None:
        raise DataError(f"{path}: its bw_/delay_ partner is missing; put both in one folder")
    rates, delays = (path, partner) if path.name.startswith("bw_") else (partner, path)
    delay = one_way_delay_ms(delays)
    trace = PathTrace(
        downlink_mbps=capacity_mbps(opportunities_ms(rates), bin_ms),
        rtt_ms=Series(delay.times_s, 2 * delay.values),
    )
    name = "leocc-" + rates.name.removeprefix("bw_").split(".")[0]
    origin = f"LeoReplayer pair {rates.name} + {delays.name}, rtt = 2 x one-way delay"
    return Drive(name=name, origin=origin, paths={"starlink": trace})


def _partner(path: Path) -> Path | None:
    """The other file of the pair, plain or .gz, if it is there."""
    kind, _, rest = path.name.partition("_")
    other = {"bw": "delay", "delay": "bw"}.get(kind)
    stem = rest.removesuffix(".gz")
    if other is None:
        return None
    names = (f"{other}_{stem}", f"{other}_{stem}.gz")
    return next((path.with_name(n) for n in names if path.with_name(n).is_file()), None)
