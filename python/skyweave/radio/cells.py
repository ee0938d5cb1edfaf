"""What one receiver heard: every cell's RSRP second by second, and where that was."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
import numpy.typing as npt

from skyweave.errors import DataError
from skyweave.model.drive import Series, Values

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class CellGrid:
    """All cells that one operator's receiver heard, on a grid of whole seconds.

    A cell is a carrier (``earfcn``) with a physical cell identity (``pci``), both of shape
    (cells,). ``rsrp_dbm`` has shape (cells, seconds), NaN where the cell was not heard; positions
    have shape (seconds,). ``start`` is the UTC of second 0 where the seconds follow each other.
    ``dropped`` counts the reports that were left out because no receiver can have measured them.
    """

    operator: str
    earfcn: Integers
    pci: Integers
    rsrp_dbm: Values
    lat_deg: Values
    lon_deg: Values
    start: datetime | None = None
    dropped: int = 0

    @property
    def seconds(self) -> int:
        """Length of the grid."""
        return int(self.rsrp_dbm.shape[1])

    @property
    def visible(self) -> Integers:
        """How many cells were heard, shape (seconds,)."""
        return np.asarray((~np.isnan(self.rsrp_dbm)).sum(axis=0), np.int64)

    def series(self, earfcn: int, pci: int) -> Series:
        """The RSRP of one cell in dBm over time; :class:`DataError` if it was never heard."""
        found = np.flatnonzero((self.earfcn == earfcn) & (self.pci == pci))
        if not len(found):
            raise DataError(f"{self.operator}: cell {pci} on carrier {earfcn} was never heard")
        return Series(np.arange(self.seconds, dtype=np.float64), self.rsrp_dbm[found[0]])

    def at(self, index: Integers) -> CellGrid:
        """The grid whose second i is second ``index[i]`` of this one; nothing heard where < 0."""
        there = index >= 0
        rsrp_dbm = np.where(there, self.rsrp_dbm[:, index], np.nan)
        return CellGrid(
            self.operator, self.earfcn, self.pci, rsrp_dbm,
            np.where(there, self.lat_deg[index], np.nan),
            np.where(there, self.lon_deg[index], np.nan),
            dropped=self.dropped,
        )  # fmt: skip


def pooled(grids: Sequence[CellGrid]) -> CellGrid:
    """All seconds of several drives of one operator behind one another; a cell is one row.

    :class:`DataError` if there are none, or of more than one operator.
    """
    operators = sorted({grid.operator for grid in grids})
    if len(operators) != 1:
        raise DataError(f"drives of one operator can be pooled, not of {operators or 'none'}")
    keys = sorted({key for grid in grids for key in _keys(grid)})
    row = {key: number for number, key in enumerate(keys)}
    parts = []
    for grid in grids:
        part = np.full((len(keys), grid.seconds), np.nan)
        part[[row[key] for key in _keys(grid)]] = grid.rsrp_dbm
        parts.append(part)
    return CellGrid(
        operator=operators[0],
        earfcn=np.array([earfcn for earfcn, _ in keys], np.int64),
        pci=np.array([pci for _, pci in keys], np.int64),
        rsrp_dbm=np.concatenate(parts, axis=1),
        lat_deg=np.concatenate([grid.lat_deg for grid in grids]),
        lon_deg=np.concatenate([grid.lon_deg for grid in grids]),
        start=grids[0].start if len(grids) == 1 else None,
        dropped=sum(grid.dropped for grid in grids),
    )


def _keys(grid: CellGrid) -> list[tuple[int, int]]:
    return list(zip(grid.earfcn.tolist(), grid.pci.tolist(), strict=True))
