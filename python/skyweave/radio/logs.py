"""Logs of all cells that a phone measured, as the ICNP 2021 reconfiguration data set has them.

https://github.com/cathyli93/icnp21-reconfig-dataset, ``radio_measurement/*.csv``: one row per
report with ``lat, lon, timestamp, freq, cid, rsrp, rsrq, type`` (degrees, Unix seconds, EARFCN,
physical cell identity, dBm, dB, role), written with MobileInsight, plain or gzip.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from skyweave.data.importers.base import Table, parse_table, read_text
from skyweave.errors import ConfigError
from skyweave.model import limits
from skyweave.model.drive import Values
from skyweave.radio.cells import CellGrid, Integers
from skyweave.radio.equations import decibels, milliwatts

COLUMNS = ("lat", "lon", "timestamp", "freq", "cid", "rsrp")
LOWEST_DBM, HIGHEST_DBM = -140.0, -44.0
"""RSRP that a phone can report (3GPP TS 36.133 §9.1.4); the logs also hold -30 and -167."""
HOLD_S = 2
"""Ours: phones skip a cell for a second or so (the median pause is 1 s), it is still there then."""
LONGEST_S = 86_400
"""A log of more than a day has a broken clock."""
MAX_EARFCN, MAX_PCI = 262_143, 503
"""3GPP TS 36.101 §5.7.3 and TS 36.211 §6.11."""


def read_cells(path: Path, operator: str | None = None, hold_s: int = HOLD_S) -> CellGrid:
    """The cells of one log second by second.

    A second holds the mean power of the reports in it; a cell that was not reported keeps its last
    value for ``hold_s`` more seconds. The operator is that of the folder if not given. Raises
    :class:`DataError` for broken files, :class:`ConfigError` for a negative ``hold_s``.
    """
    if hold_s < 0:
        raise ConfigError(f"hold_s {hold_s}: a value cannot be held for less than 0 seconds")
    table = parse_table(read_text(path), COLUMNS)
    times = table.numbers("timestamp", minimum=0.0)
    second = np.floor(times - times.min()).astype(np.int64)
    count = int(second.max()) + 1
    if count > LONGEST_S:
        row = int(np.argmax(second))
        raise table.bad(row, "timestamp: a day or more after the first", "split or repair the file")
    levels = table.numbers("rsrp")
    sane = (levels >= LOWEST_DBM) & (levels <= HIGHEST_DBM)
    if not sane.any():
        what = f"rsrp: no row is between {LOWEST_DBM:g} and {HIGHEST_DBM:g} dBm"
        raise table.bad(0, what, "give RSRP in dBm")
    keys = np.stack([_integers(table, "freq", MAX_EARFCN), _integers(table, "cid", MAX_PCI)])
    cells, row_cell = np.unique(keys[:, sane], axis=1, return_inverse=True)
    limits.checked(cells.shape[1] * count, f"{path}: {cells.shape[1]} cells over {count} s")
    rsrp = _per_second(row_cell.ravel(), second[sane], levels[sane], (cells.shape[1], count))
    return CellGrid(
        operator=operator or path.resolve().parent.name,
        earfcn=cells[0],
        pci=cells[1],
        rsrp_dbm=held(rsrp, hold_s),
        lat_deg=_positions(table, "lat", 90.0, second, count),
        lon_deg=_positions(table, "lon", 180.0, second, count),
        start=datetime.fromtimestamp(float(times.min()), UTC),
        dropped=int((~sane).sum()),
    )


def held(values: Values, most: int) -> Values:
    """Fill gaps along the last axis with the value before, ``most`` samples at the longest."""
    count = values.shape[-1]
    index = np.where(np.isnan(values), -1, np.arange(count))
    last = np.maximum.accumulate(index, axis=-1)
    near = (last >= 0) & (np.arange(count) - last <= most)
    return np.where(near, np.take_along_axis(values, np.maximum(last, 0), axis=-1), np.nan)


def _integers(table: Table, column: str, most: int) -> Integers:
    values = table.numbers(column, minimum=0.0, maximum=float(most))
    broken = np.flatnonzero(values % 1)
    if len(broken):
        row = int(broken[0])
        what = f"{column}: {values[row]:g} is not a whole number"
        raise table.bad(row, what, "correct or remove the row")
    return values.astype(np.int64)


def _per_second(
    cell: Integers, second: Integers, levels_dbm: Values, shape: tuple[int, int]
) -> Values:
    """Mean power of the reports of each cell in each second, in dBm; NaN where there is none."""
    flat = cell * shape[1] + second
    size = shape[0] * shape[1]
    reports = np.bincount(flat, minlength=size)
    power = np.bincount(flat, milliwatts(levels_dbm), size)
    mean = np.divide(power, reports, out=np.full(size, np.nan), where=reports > 0)
    return decibels(mean).reshape(shape)


def _positions(table: Table, column: str, most: float, second: Integers, count: int) -> Values:
    """Mean of a coordinate in each second, between them on a straight line."""
    values = table.numbers(column, minimum=-most, maximum=most)
    rows = np.bincount(second, minlength=count)
    known = np.flatnonzero(rows)
    means = np.bincount(second, values, count)[known] / rows[known]
    return np.interp(np.arange(count), known, means)
