"""SatCell (CoNEXT 2023): two Starlink dishes and three 5G phones in one car, 1 s, by UDP or TCP.

https://github.com/Starlink-Project/Satellite-vs-Cellular, ``3-Thrpt-Comp/UDP/Downlink`` and those
beside it. Reads an upstream folder (one ``<operator>_all.csv`` each), one of its files, and aligned
tables made from them (columns ``time_cdt, mob, rm, att, tm, vz, segment``). Transport and direction
are what the names of files and folders say: UDP and downlink if they say nothing. Times
are phone clocks, good to about 1 s.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path

import numpy as np

from skyweave.data.importers.base import Table, Text, parse_table, read_text, require_increasing
from skyweave.data.importers.base import seconds_since as since
from skyweave.errors import DataError
from skyweave.model.drive import Drive, PathTrace, Series, Values

PATHS = {
    "mob": "starlink",
    "rm": "starlink_roam",
    "att": "att",
    "tm": "tmobile",
    "vz": "verizon",
}
"""Their short names and ours; ``mob`` is the Mobility plan, ``rm`` the Roam plan."""
OPERATOR_FILE = re.compile(rf"({'|'.join(PATHS)})_all\.csv(?:\.gz)?$")
UPSTREAM = ("UDP/Downlink", "TCP/Downlink", "UDP/Uplink", "TCP/Uplink")
PHONES = ("att", "tm", "vz")
CDT = timezone(timedelta(hours=-5), "CDT")
DISH_ZERO_SHARE_MAX = 0.5
"""A segment is left out when every dish on board reads exactly 0 for more than this share of its
seconds: runs of 700 to 990 s at 0 are a dish that is off or blocked, not a network."""
SHORTEST_S = 30


def sniff(path: Path, head: str) -> bool:
    """The aligned table's header, or a folder with one or the upstream files."""
    if path.is_dir():
        return bool(_aligned_tables(path)) or _upstream_folder(path) is not None
    first = head.split("\n", 1)[0].strip().split(",")
    if OPERATOR_FILE.match(path.name):
        return {"time", "throughput"} <= set(first)
    return "time_cdt" in first and bool(set(PATHS) & set(first))


def load(path: Path, include_dead: bool = False) -> list[Drive]:
    """One drive per contiguous segment with the paths that logged anything in it, downlink only.

    Segments in which the dishes stand at zero most of the time (:data:`DISH_ZERO_SHARE_MAX`) are
    left out unless ``include_dead``; the origin of the others says how many.
    """
    if path.is_dir():
        tables = _aligned_tables(path)
        if not tables:
            return _keep(_align(path), include_dead)
        return [drive for table in tables for drive in load(table, include_dead)]
    if OPERATOR_FILE.match(path.name):
        return _keep(_align(path), include_dead)
    return _keep(_from_aligned(parse_table(read_text(path)), path), include_dead)


def dish_zero_share(drive: Drive) -> float:
    """The smallest share of exactly-zero seconds among the dishes on board (0 without a dish)."""
    dishes = [t.downlink_mbps for name, t in drive.paths.items() if name.startswith("starlink")]
    shares = [float(np.mean(s.values[~np.isnan(s.values)] == 0)) for s in dishes if s]
    return min(shares, default=0.0)


def _keep(drives: list[Drive], include_dead: bool) -> list[Drive]:
    if include_dead:
        return drives
    alive = [d for d in drives if dish_zero_share(d) <= DISH_ZERO_SHARE_MAX]
    dropped = len(drives) - len(alive)
    if not dropped:
        return alive
    note = f"; {dropped} of {len(drives)} segments left out, the dish stood at zero"
    return [replace(d, origin=d.origin + note) for d in alive]


def _transport(path: Path) -> str:
    """The transport that names say: of the file, else of the folders above it."""
    for name in (path.name, path.parent.name, path.parent.parent.name):
        found = {"tcp", "udp"} & set(re.split(r"[^a-z0-9]+", name.lower()))
        if found:
            return found.pop()
    return "udp"


def _is_up(path: Path) -> bool:
    """Whether the names of a file or its folder say uplink."""
    words = re.split(r"[^a-z0-9]+", f"{path.parent.name} {path.name}".lower())
    return bool({"ul", "up", "uplink"} & set(words))


def _aligned_tables(folder: Path) -> list[Path]:
    return sorted(folder.glob("aligned_*_1s.csv*"))


def _from_aligned(table: Table, path: Path) -> list[Drive]:
    stamps = table.times("time_cdt")
    segments = table.column("segment")
    here = [short for short in PATHS if short in table.columns]
    values = {short: table.numbers(short, empty_ok=True, minimum=0.0) for short in here}
    starts = [0, *(i for i in range(1, len(table)) if segments[i] != segments[i - 1])]
    drives = []
    for first, end in zip(starts, [*starts[1:], len(table)], strict=True):
        rows = slice(first, end)
        times_s = since(stamps[first], stamps[rows])
        part = Table(table.name, {"time_cdt": segments[rows]}, table.lines[rows])
        require_increasing(part, "time_cdt", times_s)
        own = {k: v[rows] for k, v in values.items()}
        drives.append(_drive(path, int(segments[first]), stamps[first], times_s, own))
    return drives


def _drive(
    place: Path, number: int, start: datetime, times_s: Values, values: dict[str, Values]
) -> Drive:
    transport, is_up = _transport(place), _is_up(place)
    name = f"satcell-{transport}-{'ul-' if is_up else ''}{number:02d}"
    logged = {PATHS[k]: Series(times_s, v) for k, v in values.items() if not np.isnan(v).all()}
    tcp = ("TCP: what one connection reached, not what the network had.",)
    return Drive(
        name=name,
        origin=f"SatCell (CoNEXT 2023), {name}",
        paths={
            key: PathTrace(uplink_mbps=rates) if is_up else PathTrace(downlink_mbps=rates)
            for key, rates in logged.items()
        },
        start=start.replace(tzinfo=CDT),
        notes=tcp if transport == "tcp" else (),
    )


def _upstream_folder(folder: Path) -> Path | None:
    """Where files of operators lie, in or below ``folder``."""
    for place in (folder, *(folder / "3-Thrpt-Comp" / one for one in UPSTREAM)):
        if any((place / f"{short}_all.csv").is_file() for short in PATHS):
            return place
    return None


def _align(place: Path) -> list[Drive]:
    """Join the upstream files on the second: all phones that are there, and a dish if any is.

    ``place`` is their folder, or one of them.
    """
    folder = place if place.is_file() else _upstream_folder(place)
    if folder is None:
        raise DataError(f"{place}: holds neither an aligned table nor <operator>_all.csv; check it")
    files = (
        {OPERATOR_FILE.match(place.name)[1]: place}  # type: ignore[index]
        if place.is_file()
        else {s: folder / f"{s}_all.csv" for s in PATHS if (folder / f"{s}_all.csv").exists()}
    )
    logs = {short: _upstream(file) for short, file in files.items()}
    phones = [set(logs[phone]) for phone in PHONES if phone in logs]
    dishes: list[set[datetime]] = [set(logs[dish]) for dish in ("mob", "rm") if dish in logs]
    seconds = sorted(set.intersection(*phones, *([set().union(*dishes)] if dishes else [])))
    second = timedelta(seconds=1)
    breaks = [i for i in range(1, len(seconds)) if seconds[i] - seconds[i - 1] != second]
    drives: list[Drive] = []
    for first, end in zip([0, *breaks], [*breaks, len(seconds)], strict=True):
        run = seconds[first:end]
        if len(run) < SHORTEST_S:
            continue
        values = {s: np.array([log.get(t, np.nan) for t in run]) for s, log in logs.items()}
        where = next(iter(files.values()))
        drives.append(_drive(where, len(drives) + 1, run[0], since(run[0], run), values))
    if not drives:
        raise DataError(f"{place}: no {SHORTEST_S} s in which all were logged; give other files")
    return drives


def _upstream(path: Path) -> dict[datetime, float]:
    """Throughput in Mbit/s by second of one operator's file; the first of doubled seconds counts.

    The zone that every time carries (CDT) is cut off: Python's parser does not know it.
    """
    text = read_text(path)
    table = parse_table(Text(text.name, re.sub(r" CDT(?=,)", "", text.body)), ("time",))
    values = table.numbers("throughput", minimum=0.0)
    log: dict[datetime, float] = {}
    for stamp, value in zip(table.times("time"), values, strict=True):
        log.setdefault(stamp, float(value))
    return log
