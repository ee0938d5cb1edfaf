"""Measured series from files: ping logs, CSV with a clock, iperf3 JSON, and what ``data`` imports.

What a file is shows in its content. Where it holds several series, ``column`` names one.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC
from pathlib import Path
from typing import Any

import numpy as np

from skyweave.data.importers import FORMATS, detect, load
from skyweave.data.importers.base import Table, Text, as_text, parse_table, read_bytes
from skyweave.errors import DataError, suggest
from skyweave.forecast import pings
from skyweave.forecast.measurement import Kind, Measurement, join, measurement
from skyweave.forecast.pings import unix_s
from skyweave.model.drive import Drive, Values
from skyweave.model.parsing import parse_json

HEAD_CHARACTERS = 4096
QUANTITIES: dict[str, Kind] = {
    "rtt_ms": "rtt",
    "downlink_mbps": "throughput",
    "uplink_mbps": "throughput",
}
HINTS: dict[Kind, tuple[str, ...]] = {
    "rtt": ("rtt", "ping", "latency", "delay"),
    "throughput": ("mbps", "throughput", "bandwidth"),
}
"""Parts of a CSV column's name that say what it holds."""
TIME_HINTS = ("time", "epoch", "date", "utc")
"""Beginnings of the name of a CSV column that holds the clock."""
OWN = ("table", "ping", "iperf3")
"""Formats that are read here, column by column, and not as drives."""
LEAST_UNIX_S, LEAST_UNIX_MS = 1e8, 1e11
"""Numbers below the first (1973) are no Unix time, from the second on they are milliseconds."""


def read_measurement(
    path: Path, kind: Kind | None = None, column: str | None = None, time: str | None = None
) -> Measurement:
    """One series of a file, or of a folder that ``skyweave data`` imports.

    ``column`` is a column of a CSV, or ``<path>.<quantity>`` of imported drives, all of which are
    joined; ``time`` a CSV's column of ISO dates (UTC if they name no zone) or Unix times (s or ms).
    Without them, and without ``kind``, names decide. Raises :class:`DataError` if they cannot, for
    a series without a clock, and for broken files.
    """
    if path.is_dir():
        return _from_drives(path, kind, column)
    raw = read_bytes(path)
    head = raw[:HEAD_CHARACTERS].decode("utf-8", errors="replace").lstrip("\ufeff")
    if head.lstrip().startswith("{"):
        return _iperf3(as_text(str(path), raw), kind or "throughput")
    if pings.sniff(head):
        if kind == "throughput" or column:
            raise DataError(f"{path}: is a ping log; leave out --column and --kind throughput")
        return pings.read(as_text(str(path), raw))
    header = [cell.strip() for cell in _header(head).split(",")]
    known = any(one.sniff(path, head) for name, one in FORMATS.items() if name not in OWN)
    if known and (column is None or column not in header):
        return _from_drives(path, kind, column)
    return _csv(parse_table(as_text(str(path), raw)), kind, column, time)


def _header(head: str) -> str:
    rows = (row for row in head.splitlines() if row.strip() and not row.startswith("#"))
    return next(rows, "")


def _from_drives(path: Path, kind: Kind | None, column: str | None) -> Measurement:
    """A series of all drives that know their UTC."""
    found = detect(path)
    if path.is_dir() and found is not None and found.name == "nuwins":
        raise DataError(f"{path}: its tests ran one after the other; name one of its logs")
    drives = load(path)
    names = sorted(
        f"{name}.{quantity}"
        for name, quantity in {(n, q) for d in drives for n in d.paths for q in QUANTITIES}
        if (kind in (None, QUANTITIES[quantity]))
        and any(_logged(drive, name, quantity) for drive in drives)
    )
    column = _chosen(str(path), names, column)
    name, _, quantity = column.rpartition(".")
    parts = [part for drive in drives if (part := _stretch(drive, name, quantity)) is not None]
    return join(f"{path.name}, {column}", parts)


def _logged(drive: Drive, name: str, quantity: str) -> bool:
    return name in drive.paths and getattr(drive.paths[name], quantity) is not None


def _stretch(drive: Drive, name: str, quantity: str) -> Measurement | None:
    """A drive's series on UTC; None if it has no clock or next to no values."""
    if drive.start is None or not _logged(drive, name, quantity):
        return None
    series = getattr(drive.paths[name], quantity)
    if np.isfinite(series.values).sum() < 2:
        return None
    start = drive.start if drive.start.tzinfo else drive.start.replace(tzinfo=UTC)
    times = start.timestamp() + series.times_s
    return measurement(drive.name, QUANTITIES[quantity], times, series.values)


def _chosen(name: str, known: Sequence[str], column: str | None) -> str:
    """The column that was asked for, or the only one there is."""
    if column is not None:
        if column in known:
            return column
        raise DataError(f"{name}: there is no series '{column}'; {suggest(column, known)}")
    if len(known) != 1:
        listed = ", ".join(known) or "none"
        raise DataError(f"{name}: one series is wanted, here are: {listed}; say --column")
    return known[0]


def _csv(table: Table, kind: Kind | None, column: str | None, time: str | None) -> Measurement:
    clocks = [name for name in table.columns if name.casefold().startswith(TIME_HINTS)]
    if time is None and not clocks:
        raise DataError(f"{table.name}:1: no column is called time; name it with --time-column")
    if column is None:
        hints = [hint for k in HINTS if kind in (None, k) for hint in HINTS[k]]
        named = [n for n in table.columns if any(hint in n.casefold() for hint in hints)]
        column = _chosen(table.name, named, None)
    table.column(column)  # refuses what is not there
    kind = kind or _kind(table.name, column)
    values = table.numbers(column, empty_ok=True, minimum=0.0)
    if kind == "rtt":
        values = np.where(np.isnan(values), np.inf, values)  # a probe that nobody answered
    name = f"{Path(table.name).name}, {column}"
    return measurement(name, kind, _clock(table, time or clocks[0]), values)


def _kind(name: str, column: str) -> Kind:
    for kind, hints in HINTS.items():
        if any(hint in column.casefold() for hint in hints):
            return kind
    raise DataError(f"{name}: '{column}' may be anything; say --kind rtt or --kind throughput")


def _clock(table: Table, column: str) -> Values:
    """A column of dates or numbers as Unix time."""
    cells = table.column(column)
    if "-" in cells[0].strip()[1:] and ":" in cells[0]:
        stamps = table.times(column)  # refuses what is no date, with its line
        return np.array([unix_s(stamp.isoformat()) for stamp in stamps])
    times = table.numbers(column)
    if times.min() < LEAST_UNIX_S:
        row = int(times.argmin())
        what = f"{column}: {cells[row]} is no Unix time, it would lie before 1973"
        raise table.bad(row, what, "give UTC dates or seconds since 1970")
    return times / 1e3 if times.min() >= LEAST_UNIX_MS else times


def _iperf3(text: Text, kind: Kind) -> Measurement:
    """Rate or smoothed round trip by interval; iperf3 notes its start to the second only."""
    facts: dict[str, Any] = parse_json(text, "copy the file again")
    try:
        start = float(facts["start"]["timestamp"]["timesecs"])
        times, values = [], []
        for part in (one for one in facts["intervals"] if not one["sum"].get("omitted")):
            rate = kind == "throughput"
            times.append(start + part["sum"]["start" if rate else "end"])
            values.append(
                part["sum"]["bits_per_second"] / 1e6 if rate else part["streams"][0]["rtt"] / 1e3
            )
    except (KeyError, IndexError, TypeError) as error:
        what = f"{error} is missing, so this is no iperf3 JSON with {kind} by interval"
        raise text.bad(1, what, "write it with 'iperf3 --json' at the sender") from None
    return measurement(Path(text.name).name, kind, np.array(times), np.array(values))
