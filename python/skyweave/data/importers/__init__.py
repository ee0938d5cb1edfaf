"""Readers of trace files: one module per format, found by content or named by the user."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from skyweave.data.importers import (
    fused,
    iperf3,
    leoreplayer,
    mahimahi,
    nuwins,
    ontheroad,
    ping,
    plain_csv,
    satcell,
    table,
)
from skyweave.data.importers.base import bad, read_head
from skyweave.data.importers.mahimahi import opportunities_ms
from skyweave.errors import DataError, suggest
from skyweave.model.drive import Drive, Series
from skyweave.model.limits import MOST_RATE_MBPS, WEEK_S

__all__ = ["FORMATS", "Format", "detect", "load", "opportunities_ms"]

HEAD_BYTES = 4096
EXAMPLE = ("timestamp,mbps", "1760000000,52.1")
"""The first lines of a file that is always known."""
LONGEST_S = WEEK_S + 3600.0
"""A series of a week ends with the span of its last sample."""


@dataclass(frozen=True)
class Format:
    """A format that Skyweave reads: its name, what it is, how to know it, how to load it."""

    name: str
    title: str
    sniff: Callable[[Path, str], bool]
    load: Callable[[Path], list[Drive]]


_ALL = (
    Format("fused", "operator pairs of AK-HI (CSV or archive)", fused.sniff, fused.load),
    Format("satcell", "SatCell aligned table or upstream folder", satcell.sniff, satcell.load),
    Format("ontheroad", "Starlink on the Road iperf/ping.csv", ontheroad.sniff, ontheroad.load),
    Format("nuwins", "NUWiNS nuttcp and ping logs", nuwins.sniff, nuwins.load),
    Format("iperf3", "iperf3 text and JSON, by interval", iperf3.sniff, iperf3.load),
    Format("csv", "plain CSV: time_s, <path>.downlink_mbps, …", plain_csv.sniff, plain_csv.load),
    Format("table", "any CSV with times and rates, found by name", table.sniff, table.load),
    Format("ping", "ping logs: ping -D, epoch seq ms", ping.sniff, ping.load),
    Format("leoreplayer", "bw_* and delay_* pair", leoreplayer.sniff, leoreplayer.load),
    Format("mahimahi", "packet-delivery times in ms", mahimahi.sniff, mahimahi.load),
)
FORMATS: dict[str, Format] = {known.name: known for known in _ALL}
"""The formats in the order in which they are tried."""


def load(
    path: str | Path, format: str | None = None, columns: Mapping[str, str] | None = None
) -> list[Drive]:
    """The drives in a file or folder.

    ``format`` is a key of :data:`FORMATS`, or None to look at the content; ``columns`` maps the
    columns of any CSV onto the plain names (see :mod:`.plain_csv`). A folder of no known layout is
    read file by file, other files in it being passed over. Raises :class:`DataError`.
    """
    place = Path(path)
    if columns is not None:
        return _bounded(place, plain_csv.load(place, columns))
    if format is not None and format not in FORMATS:
        raise DataError(f"format '{format}' is unknown; {suggest(format, FORMATS)}")
    known = FORMATS[format] if format else detect(place)
    if known is not None:
        return _bounded(place, known.load(place))
    drives = [drive for found in _files(place) for drive in load(found)]
    if not drives:
        raise DataError(f"{place}: no file in this folder is a known trace; name one with --format")
    return drives


def load_rates(path: Path) -> dict[str, Series]:
    """The rates in Mbit/s of the first drive of a file, as ``<path>.<quantity>``."""
    drive = load(path)[0]
    return {
        f"{name}.{quantity}": series
        for name, trace in drive.paths.items()
        for quantity in ("downlink_mbps", "uplink_mbps")
        if (series := getattr(trace, quantity)) is not None
    }


def _bounded(place: Path, drives: list[Drive]) -> list[Drive]:
    """Return drives that nothing is wrong with; :class:`DataError` for absurd lengths and rates."""
    for drive in drives:
        for name, path in drive.paths.items():
            rates = {"downlink": path.downlink_mbps, "uplink": path.uplink_mbps}
            for series in (*rates.values(), path.rtt_ms, path.loss_ratio):
                if series is not None and not series.duration_s <= LONGEST_S:
                    raise DataError(
                        f"{place}: {name} of drive '{drive.name}' lasts {series.duration_s:g} s, "
                        "more than a week; check the unit of its times, or cut it"
                    )
            for way, series in rates.items():
                if series is not None and (series.values > MOST_RATE_MBPS).any():
                    raise DataError(
                        f"{place}: {name} of drive '{drive.name}' has a {way} above "
                        f"{MOST_RATE_MBPS:g} Mbit/s; check its unit"
                    )
    return drives


def detect(path: Path) -> Format | None:
    """The format of a file or folder; None for a folder that is no format's own layout.

    Raises :class:`DataError` for a file that is missing, broken or of no known format.
    """
    if path.is_dir():
        return next((known for known in _ALL if known.sniff(path, "")), None)
    found = _sniff_file(path)
    if found is None:
        raise DataError(unknown(path))
    return found


def unknown(path: Path) -> str:
    """The sentence for a file of no known format, with the two lines that suffice."""
    return (
        f"{path}:1: this is no format that Skyweave knows; a CSV with a header such as "
        f"'{EXAMPLE[0]}' and rows such as '{EXAMPLE[1]}' is enough (docs/data.md shows all), "
        f"or choose --format {', '.join(FORMATS)}"
    )


def _sniff_file(path: Path) -> Format | None:
    if path.is_file() and path.name.endswith((".tar", ".tar.gz", ".tgz")):
        return FORMATS["fused"]
    head = read_head(path, HEAD_BYTES).decode("utf-8", errors="replace").lstrip("\ufeff")
    if not head.strip():
        raise bad(str(path), 1, "the file is empty", "copy or download it again")
    if head.startswith("version https://git-lfs"):
        raise DataError(f"{path}:1: this is a Git LFS pointer, not the data; run 'git lfs pull'")
    return next((known for known in _ALL if known.sniff(path, head)), None)


def _files(folder: Path) -> list[Path]:
    """The files of a folder that look like a known format, sorted by name."""
    found = sorted(f for f in folder.iterdir() if f.is_file() and f.stat().st_size > 0)
    return [f for f in found if _is_known(f)]


def _is_known(file: Path) -> bool:
    """Whether a file of a folder is a trace; pictures and pointers beside them are none."""
    try:
        return _sniff_file(file) is not None
    except DataError:
        return False
