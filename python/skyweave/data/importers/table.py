"""Any CSV with a column of times and columns of rates or round trips, found by name and by sense.

``timestamp,mbps`` is enough. Commas, semicolons or tabs part the columns; one file may hold several
networks, as columns (``starlink_mbps,verizon_mbps``) or as rows with a column that names them. What
each column was taken for stands in the notes of the drive; :mod:`skyweave.data.sense` decides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from skyweave.data.importers.base import Table, parse_table, read_text
from skyweave.data.sense.clock import Clock, clock_columns, read_clock
from skyweave.data.sense.columns import Meaning, direction_of, meaning
from skyweave.data.sense.units import in_mbps, in_ms
from skyweave.data.sense.words import words_of
from skyweave.errors import DataError
from skyweave.model.drive import Drive, PathTrace, Series, Values

GROUPS = ("network", "operator", "carrier", "provider", "isp", "path", "interface", "iface")
"""Names of a column that says which network a row is of."""
MOST_NETWORKS = 32
MOST_NUMBER = 1e18
"""The largest rate, amount or round trip in any unit: a counter of an exabyte."""
_PARTED_BY = ",;\t"


def sniff(_path: Path, head: str) -> bool:
    """A header with a column of times and at least one of a rate or of round trips."""
    row = next((row for row in head.splitlines() if row.strip() and not row.startswith("#")), "")
    names = [cell.strip().strip('"') for cell in row.split(_delimiter(row))]
    return bool(clock_columns(names)) and any(meaning(name) for name in names)


def load(path: Path, columns: Mapping[str, str] | None = None) -> list[Drive]:
    """The drive in a table: one path for each network, called as the file calls it.

    A file that names no network has one path, called as the file. ``columns`` renames columns
    first. Raises :class:`DataError` for tables that no drive can be found in.
    """
    text = read_text(path)
    first = next((row for _, row in text.lines() if row.strip() and not row.startswith("#")), "")
    table = _points(parse_table(text, delimiter=_delimiter(first)), _delimiter(first))
    if columns:
        cells = {columns.get(name, name): own for name, own in table.columns.items()}
        table = replace(table, columns=cells)
    stem = path.name.removesuffix(".gz").rpartition(".")[0] or path.name
    clocks = clock_columns(list(table.columns))
    if not clocks:
        raise table.bad(0, "no column is called time", "rename it, or map it: --column OWN=time_s")
    parts = _by_network(table)
    notes: dict[str, None] = {}
    starts, paths = {}, {}
    for network, rows in parts.items():
        clock = read_clock(rows, clocks)
        starts[network] = clock
        notes[clock.words] = None
        for name, trace, said in _paths(rows, clocks, clock, network or "", stem):
            if name in paths:
                raise table.bad(0, f"two columns hold the same of '{name}'", "remove or map one")
            paths[name] = (trace, clock)
            notes |= dict.fromkeys(said)
    if not paths:
        raise table.bad(0, "no column holds a rate", "name it with its unit, for example mbps")
    return [_drive(path, stem, paths, tuple(notes))]


def _delimiter(row: str) -> str:
    return max(_PARTED_BY, key=row.count)


def _points(table: Table, delimiter: str) -> Table:
    """Where semicolons part the columns, a comma within a number is its point."""
    if delimiter == ",":
        return table
    cells: dict[str, Sequence[str]] = {
        name: [_pointed(cell) for cell in column] for name, column in table.columns.items()
    }
    return replace(table, columns=cells)


def _pointed(cell: str) -> str:
    pointed = cell.replace(",", ".")
    try:
        float(pointed)
    except ValueError:
        return cell
    return pointed


def _by_network(table: Table) -> dict[str | None, Table]:
    """The rows of each network; one entry, ``None``, if no column names them."""
    column = next((name for name in table.columns if name.strip().lower() in GROUPS), None)
    if column is None:
        return {None: table}
    rows: dict[str | None, list[int]] = {}
    for row, cell in enumerate(table.columns[column]):
        rows.setdefault(cell.strip() or "unnamed", []).append(row)
    if len(rows) > MOST_NETWORKS:
        what = f"'{column}' names {len(rows)} networks, and {MOST_NETWORKS} may be"
        raise table.bad(0, what, "rename that column if it does not name the network")
    return {
        name: Table(
            table.name,
            {key: [cells[i] for i in own] for key, cells in table.columns.items() if key != column},
            [table.lines[i] for i in own],
        )
        for name, own in rows.items()
    }


def _paths(
    table: Table, clocks: Sequence[str], clock: Clock, network: str, stem: str
) -> list[tuple[str, PathTrace, list[str]]]:
    """The paths that the columns of a table hold, with what each column was taken for."""
    series: dict[str, dict[str, Series]] = {}
    said: dict[str, list[str]] = {}
    for column in table.columns:
        meant = None if column in clocks else meaning(column)
        if meant is None:
            continue
        if meant.measure in ("rate", "volume") and meant.is_up is None:
            meant = replace(meant, is_up=bool(direction_of(words_of(stem))))
        name = "-".join(filter(None, (network, meant.network))) or stem
        own = series.setdefault(name, {})
        values, words = _values(table, column, meant, clock)
        if np.isnan(values).all():
            continue
        if meant.quantity in own:
            what = f"'{column}' and another column both hold the {meant.quantity} of '{name}'"
            raise table.bad(0, what, "remove one, or map it: --column OWN=NAME")
        own[meant.quantity] = _series(clock.times_s, values)
        said.setdefault(name, []).append(f"'{column}' is {words}")
    return [(name, PathTrace.of(own), said[name]) for name, own in series.items() if said.get(name)]


def _values(table: Table, column: str, meant: Meaning, clock: Clock) -> tuple[Values, str]:
    """The numbers of a column in our unit, and what they were taken for."""
    if meant.measure == "loss":
        factor = meant.factor or 1.0
        share = factor * table.numbers(column, empty_ok=True, minimum=0.0, maximum=1 / factor)
        return share, f"loss, {meant.unit}"
    values = table.numbers(column, empty_ok=True, minimum=0.0, maximum=MOST_NUMBER)
    if meant.measure == "rtt":
        return in_ms(values, meant)
    if meant.measure == "volume" and (again := np.flatnonzero(np.diff(clock.times_s) <= 0)).size:
        what = f"{column}: {meant.unit} of a row with the time of the one before it"
        raise table.bad(int(again[0]) + 1, what, "log with a finer clock")
    return in_mbps(values, meant, clock.times_s)


def _series(times_s: Values, values: Values) -> Series:
    """A series up to its last value, with the mean of rows that have the same time."""
    end = int(np.flatnonzero(~np.isnan(values))[-1]) + 1
    times_s, values = times_s[:end], values[:end]
    if len(times_s) < 2 or np.diff(times_s).min() > 0:
        return Series(times_s, values)
    own, row = np.unique(times_s, return_inverse=True)
    known = ~np.isnan(values)
    count = np.bincount(row[known], minlength=len(own))
    total = np.bincount(row[known], weights=values[known], minlength=len(own))
    return Series(own, np.divide(total, count, out=np.full(len(own), np.nan), where=count > 0))


def _drive(
    path: Path, stem: str, paths: dict[str, tuple[PathTrace, Clock]], notes: tuple[str, ...]
) -> Drive:
    """The drive of the paths of a file, all from the first second that all of them have."""
    from skyweave.data.join import on_one_clock

    clocks = [clock for _, clock in paths.values()]
    if len({clock.start for clock in clocks}) > 1 and not all(clock.start for clock in clocks):
        raise DataError(f"{path}:1: the networks of this file have different kinds of time")
    drives = [
        Drive(stem, path.name, {name: trace}, clock.start) for name, (trace, clock) in paths.items()
    ]
    joined = drives[0] if len(drives) == 1 else on_one_clock(drives, stem)
    if joined is None:
        raise DataError(f"{path}:1: its networks were never logged at the same time; cut it up")
    return replace(joined, origin=path.name, notes=notes)
