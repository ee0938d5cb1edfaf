"""What of a recorded folder can be given away: without what tells where the dish stands.

Fitting the tracks of a map to orbits finds a dish to 10 to 20 km, so maps and attitude count as a
location, as coordinates do. With the location, coordinates are rounded to a tenth of a degree.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from skyweave.data.writers import write_bytes
from skyweave.errors import DataError
from skyweave.telemetry.dish import history, status
from skyweave.telemetry.dish.record import PIXELS
from skyweave.telemetry.probes import pinger
from skyweave.telemetry.store import hours, parquet_bytes, read

KINDS = {"status": status.SCHEMA, "history": history.SCHEMA, "probes": pinger.SCHEMA}
"""What is exported; ``pixels`` only with the location."""


def export(folder: Path, out: Path, location: bool = False) -> list[Path]:
    """Write each kind of rows as one Parquet file into ``out``.

    Raises :class:`DataError <skyweave.errors.DataError>` if there is nothing to export.
    """
    kinds = KINDS | ({"pixels": PIXELS} if location else {})
    written = []
    for kind, schema in kinds.items():
        if not folder.is_dir() or not hours(folder, kind):
            continue
        rows = read(folder, kind, schema)
        if kind == "status":
            rows = _coarse(rows) if location else rows.drop(*status.ATTITUDE, *status.PLACE)
        file = out / f"{kind}.parquet"
        write_bytes(file, parquet_bytes(rows))
        written.append(file)
    if not written:
        raise DataError(f"{folder}: holds nothing to export; name a folder of 'dish record'")
    return written


def _coarse(rows: pl.DataFrame) -> pl.DataFrame:
    lat, lon, height = status.PLACE
    return rows.with_columns(
        pl.col(lat, lon).round(1), ((pl.col(height) / 100).round() * 100).alias(height)
    )
