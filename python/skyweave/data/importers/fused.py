"""The Alaska/Hawaii operator pairs (AK-HI), loose CSV files or their archive.

``fused_trace.<metric>.<a>_<b>.csv`` with ``A_time, A_throughput_mbps, B_time, ...`` (or ``_rtt_ms``
for the metric ``ping``), as documented in ``MPTCP_README.md`` of NUWiNS/starlink-measurement and in
the README of the AK-HI repository, which also names the like files
``mptcp_trace.<place>.<metric>.<a>_<b>.csv``. Each row is one moment of two operators; a run is cut
where a run id changes or more than :data:`GAP_S` passes.
"""

from __future__ import annotations

import hashlib
import io
import re
import tarfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from skyweave.data.importers.base import (
    Table,
    Text,
    as_text,
    parse_table,
    read_packed,
    read_text,
    require_increasing,
    seconds_since,
    unpack,
)
from skyweave.errors import DataError
from skyweave.model.drive import Drive, PathTrace, Series

ARCHIVES = {
    "47d0f8d795151ef94e5b92dbc2bb2077c8f563160c15f54089c22fc7f38b1785": "alaska",
    "d1c7b0cec3e754b66ab97b3520c5f95ae59f840b417daca3f9363d4a2946d22c": "hawaii",
}
"""sha256 of the released archives (the oid of their Git LFS pointers) and their region."""
NAME = re.compile(
    r"(?:fused_trace|mptcp_trace\.(?P<place>\w+))\."
    r"(?P<metric>tcp_downlink|tcp_uplink|ping)\.(?P<a>[a-z]+)_(?P<b>[a-z]+)\.csv(?:\.gz)?$"
)
QUANTITY = {
    "tcp_downlink": ("downlink_mbps", "throughput_mbps"),
    "tcp_uplink": ("uplink_mbps", "throughput_mbps"),
    "ping": ("rtt_ms", "rtt_ms"),
}
GAP_S = 5.0


def sniff(path: Path, head: str) -> bool:
    """A file or folder with such names, such a header, or a tar archive."""
    if path.is_dir():
        return any(NAME.search(found.name) for found in path.rglob("*.csv*"))
    if path.name.endswith((".tar", ".tar.gz", ".tgz")):
        return True
    first = set(head.split("\n", 1)[0].strip().split(","))
    return {"A_time", "B_time"} <= first


def load(path: Path) -> list[Drive]:
    """One drive per run of each pair file, with the two operators as paths.

    A downlink, an uplink and a ping file of one pair are different drives: they were measured one
    after the other. Raises :class:`DataError` for an archive that is not one of the released two.
    """
    if path.is_dir():
        files = sorted(found for found in path.rglob("*.csv*") if NAME.search(found.name))
        return [drive for found in files for drive in _runs(read_text(found), found.name, "")]
    if path.name.endswith((".tar", ".tar.gz", ".tgz")):
        return _archive(path)
    return _runs(read_text(path), path.name, "")


def _archive(path: Path) -> list[Drive]:
    raw = read_packed(path)
    if raw.startswith(b"version https://git-lfs"):
        as_text(str(path), raw)
    digest = hashlib.sha256(raw).hexdigest()
    if digest not in ARCHIVES:
        raise DataError(
            f"{path}: sha256 {digest[:12]}… is neither released archive (47d0f8d7…, d1c7b0ce…); "
            "run 'git lfs pull' there, or unpack it and import the folder to go on unverified"
        )
    drives = []
    for name, text in members(str(path), raw):
        drives += _runs(text, name, ARCHIVES[digest])
    if not drives:
        raise DataError(f"{path}: holds no fused_trace.*.csv; check that it is the right archive")
    return drives


def members(source: str, raw: bytes) -> Iterator[tuple[str, Text]]:
    """Name and text of each pair file in a tar archive, sorted by name; nothing is unpacked."""
    try:
        with tarfile.open(fileobj=io.BytesIO(unpack(source, raw))) as archive:
            found = [m for m in archive.getmembers() if m.isfile() and NAME.search(m.name)]
            for member in sorted(found, key=lambda m: m.name):
                handle = archive.extractfile(member)
                assert handle is not None, "isfile() members always have content"
                yield Path(member.name).name, as_text(f"{source}:{member.name}", handle.read())
    except (tarfile.TarError, EOFError, OSError):
        raise DataError(f"{source}: the archive is damaged; download it again") from None


def _runs(text: Text, file_name: str, region: str) -> list[Drive]:
    match = NAME.search(file_name)
    table = parse_table(text, ("A_time", "B_time"))
    metric = match["metric"] if match else _metric(table)
    region = region or (match["place"] if match and match["place"] else "")
    stamps = table.times("A_time")
    table.times("B_time")
    seconds = seconds_since(stamps[0], stamps)
    first = [0, *(i for i in range(1, len(table)) if _cut(table, i, seconds))]
    drives = []
    for begin, end in zip(first, [*first[1:], len(table)], strict=True):
        rows = Table(
            table.name,
            {name: cells[begin:end] for name, cells in table.columns.items()},
            table.lines[begin:end],
        )
        stem = ".".join(filter(None, [region, file_name.split(".csv")[0]]))
        name = f"{stem}.{stamps[begin]:%Y%m%d_%H%M%S}"
        drives.append(_drive(rows, name, metric, stamps[begin].isoformat()))
    return drives


def _metric(table: Table) -> str:
    """What an arbitrarily named file holds: by its columns (a rate counts as downlink)."""
    return "ping" if "A_rtt_ms" in table.columns else "tcp_downlink"


def _cut(table: Table, row: int, seconds: np.typing.NDArray[np.float64]) -> bool:
    """Whether a new run begins at ``row``."""
    runs = [table.columns[name] for name in ("A_run", "B_run") if name in table.columns]
    return any(cells[row] != cells[row - 1] for cells in runs) or bool(
        seconds[row] - seconds[row - 1] > GAP_S
    )


def _drive(rows: Table, name: str, metric: str, start: str) -> Drive:
    stamps = rows.times("A_time")
    times_s = seconds_since(stamps[0], stamps)
    require_increasing(rows, "A_time", times_s)
    quantity, column = QUANTITY[metric]
    match = NAME.search(rows.name)
    paths = {}
    for side in ("A", "B"):
        operator = rows.columns.get(side, [match[side.lower()] if match else side])[0]
        values = rows.numbers(f"{side}_{column}", empty_ok=True, minimum=0.0)
        paths[operator] = PathTrace.of({quantity: Series(times_s, values)})
    if len(paths) != 2:
        raise rows.bad(0, "A and B are the same operator", "give a file of two operators")
    origin = f"AK-HI operator pair, {name}, from {start}"
    return Drive(name=name, origin=origin, paths=paths, start=stamps[0])
