"""Small grids of cells, written down by hand."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np

from skyweave.radio import CellGrid


def grid(operator, cells, lat=None, lon=None, start=datetime(2021, 4, 25, tzinfo=UTC)) -> CellGrid:
    """A grid of ``{(earfcn, pci): [RSRP in dBm each second]}``."""
    keys = sorted(cells)
    rsrp_dbm = np.array([cells[key] for key in keys], dtype=np.float64)
    count = rsrp_dbm.shape[1]
    return CellGrid(
        operator,
        np.array([earfcn for earfcn, _ in keys]),
        np.array([pci for _, pci in keys]),
        rsrp_dbm,
        np.full(count, 34.0) if lat is None else np.asarray(lat, np.float64),
        np.full(count, -118.5) if lon is None else np.asarray(lon, np.float64),
        start,
    )
