"""Drives as tables of polars, and back."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

import numpy as np
import polars as pl

from skyweave.errors import DataError
from skyweave.model.drive import Drive, PathTrace, Series

TIME: Final = "time_s"
QUANTITIES: Final[Sequence[str]] = ("downlink_mbps", "uplink_mbps", "rtt_ms", "loss_ratio")


def to_frame(drive: Drive) -> pl.DataFrame:
    """``time_s`` and ``<path>.<quantity>``: null: no sample at that time, NaN: not logged."""
    columns = {
        f"{name}.{quantity}": series
        for name, path in drive.paths.items()
        for quantity in QUANTITIES
        if (series := getattr(path, quantity)) is not None
    }
    times = [series.times_s for series in columns.values()]
    frame = pl.DataFrame({TIME: np.unique(np.concatenate(times)) if times else np.empty(0)})
    for name, series in columns.items():
        own = pl.DataFrame({TIME: series.times_s, name: series.values})
        frame = frame.join(own, on=TIME, how="left", maintain_order="left")
    return frame


def from_frame(frame: pl.DataFrame, name: str, origin: str, start: datetime | None) -> Drive:
    """The drive in a table as :func:`to_frame` makes it; times may begin anywhere and rise.

    Raises :class:`DataError` for other columns, falling times and negative values.
    """
    if TIME not in frame.columns:
        raise DataError(f"frame: has no column '{TIME}'; rename the one with seconds")
    paths: dict[str, dict[str, Series]] = {}
    for column in frame.columns:
        if column == TIME:
            continue
        path, _, quantity = column.rpartition(".")
        if not path or quantity not in QUANTITIES:
            known = ", ".join(QUANTITIES)
            raise DataError(f"frame: column '{column}' is not <path>.<quantity> ({known})")
        paths.setdefault(path, {})[quantity] = _series(frame, column)
    if not paths:
        raise DataError(f"frame: there is nothing but '{TIME}'; add <path>.downlink_mbps")
    return Drive(name, origin, {key: PathTrace.of(own) for key, own in paths.items()}, start)


def _series(frame: pl.DataFrame, column: str) -> Series:
    rows = frame.select(TIME, column).drop_nulls()
    if not len(rows):
        raise DataError(f"frame: column '{column}' has no value; remove it")
    times_s = rows[TIME].cast(float).to_numpy()
    values = rows[column].cast(float).to_numpy()
    first = float(frame[TIME].cast(float).min() or 0.0)  # type: ignore[arg-type]
    times_s = times_s - first
    if (np.diff(times_s) <= 0).any() or not np.isfinite(times_s).all():
        raise DataError(f"frame: the times of '{column}' do not rise; sort them, remove doubles")
    if (values < 0).any() or np.isinf(values).any():
        raise DataError(f"frame: '{column}' is negative or infinite somewhere; correct it")
    if times_s[0] > 0:  # a series begins with its drive
        times_s, values = np.insert(times_s, 0, 0.0), np.insert(values, 0, np.nan)
    return Series(times_s, values)
