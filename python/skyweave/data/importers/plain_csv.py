"""Skyweave's own plain CSV, and any CSV whose columns are mapped onto it.

``time_s`` (seconds; Unix time and dates become the start) and then ``<path>.downlink_mbps``,
``<path>.uplink_mbps``, ``<path>.rtt_ms``, ``<path>.loss_ratio`` in any order and number. An empty
cell means: not logged (NaN). Comment lines ``# key: value`` at the top carry name, origin, start
and synthetic. With ``# sparse: true`` each column has its own sample times: there an empty cell is
no sample, and ``nan`` is "not logged".
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

import numpy as np

from skyweave.data.importers.base import Table, Text, parse_table, read_text, require_increasing
from skyweave.data.sense.clock import LEAST_UNIX_S, read_clock
from skyweave.errors import suggest
from skyweave.model.drive import Drive, PathTrace, Series, Values

TIME = "time_s"
QUANTITIES: dict[str, float] = {
    "downlink_mbps": math.inf,
    "uplink_mbps": math.inf,
    "rtt_ms": math.inf,
    "loss_ratio": 1.0,
}
"""The quantities of a path and the largest value that each may take (the smallest is 0)."""


def sniff(_path: Path, head: str) -> bool:
    """A header with ``time_s`` and at least one ``<path>.<quantity>``."""
    rows = [row for row in head.splitlines() if row.strip() and not row.startswith("#")]
    names = [cell.strip() for cell in rows[0].split(",")] if rows else []
    return TIME in names and any(n.rpartition(".")[2] in QUANTITIES and "." in n for n in names)


def load(path: Path, columns: Mapping[str, str] | None = None) -> list[Drive]:
    """The drive in a plain CSV.

    ``columns`` maps the file's column names onto the plain ones, for example
    ``{"t": "time_s", "sl_dl": "starlink.downlink_mbps"}``; columns not named in it are left out.
    Raises :class:`DataError` for unknown columns, unsorted times and values out of range.
    """
    text = read_text(path)
    facts = _facts(text)
    table = _renamed(parse_table(text), columns)
    start = _start(text, facts)
    times_s = table.numbers(TIME) if _counts(table) else None
    if times_s is None:
        clock = read_clock(table, (TIME,))
        times_s, start = clock.times_s, start or clock.start
    require_increasing(table, TIME, times_s)
    if times_s[0] != 0 and facts:
        raise table.bad(0, f"{TIME}: a drive begins at 0", "subtract the first time")
    sparse = facts.get("sparse") == "true"
    drive = Drive(
        name=facts.get("name", path.name.removesuffix(".gz").removesuffix(".csv")),
        origin=facts.get("origin", f"plain CSV {path.name}"),
        paths=_paths(table, times_s - times_s[0], sparse),
        start=start,
        synthetic=facts.get("synthetic") == "true",
    )
    return [drive]


def _counts(table: Table) -> bool:
    """Whether times count seconds from somewhere, and are neither dates nor Unix time."""
    try:
        return not float(table.column(TIME)[0] or "0") >= LEAST_UNIX_S
    except ValueError:
        return not table.column(TIME)[0].strip()[:1].isdigit()


def _facts(text: Text) -> dict[str, str]:
    """The ``# key: value`` lines at the top."""
    facts = {}
    for _, row in text.lines():
        if not row.startswith("#"):
            break
        key, colon, value = row[1:].partition(":")
        if colon:
            facts[key.strip()] = value.strip()
    return facts


def _start(text: Text, facts: dict[str, str]) -> datetime | None:
    if "start" not in facts:
        return None
    try:
        return datetime.fromisoformat(facts["start"])
    except ValueError:
        what = f"start '{facts['start']}' is not a date and time"
        raise text.bad(1, what, "write YYYY-MM-DDTHH:MM:SS") from None


def _renamed(table: Table, columns: Mapping[str, str] | None) -> Table:
    if columns is None:
        return table
    cells = {plain: table.column(own) for own, plain in columns.items()}
    return Table(table.name, cells, table.lines)


def _paths(table: Table, times_s: Values, sparse: bool) -> dict[str, PathTrace]:
    series: dict[str, dict[str, Series]] = {}
    for column in table.columns:
        if column == TIME:
            continue
        path, dot, quantity = column.rpartition(".")
        if not dot or not path or quantity not in QUANTITIES:
            hint = suggest(quantity, QUANTITIES)
            what = f"column '{column}' is not <path>.<quantity>"
            raise table.bad(0, what, f"rename or map it ({hint})")
        series.setdefault(path, {})[quantity] = _series(table, column, times_s, sparse)
    if not series:
        raise table.bad(0, f"there is nothing but {TIME}", "add a <path>.downlink_mbps column")
    return {path: PathTrace.of(parts) for path, parts in series.items()}


def _series(table: Table, column: str, times_s: Values, sparse: bool) -> Series:
    top = QUANTITIES[column.rpartition(".")[2]]
    if not sparse:
        values = table.numbers(column, empty_ok=True, minimum=0.0, maximum=top)
        if np.isnan(values).all():
            raise table.bad(0, f"{column}: no row has a value", "remove the column")
        return Series(times_s, values)
    cells = table.column(column)
    rows = [row for row, cell in enumerate(cells) if cell.strip()]
    if not rows or times_s[rows[0]] != 0:
        raise table.bad(0, f"{column}: has no sample at time 0", "give it one")
    own = [cells[row].strip().replace("nan", "") for row in rows]
    picked = Table(table.name, {column: own}, [table.lines[row] for row in rows])
    values = picked.numbers(column, empty_ok=True, minimum=0.0, maximum=top)
    return Series(times_s[rows], values)
