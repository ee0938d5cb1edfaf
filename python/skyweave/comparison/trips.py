"""Round trips from ping logs, laid over the rates of the same network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from skyweave.data import load
from skyweave.data.join import utc_of
from skyweave.errors import DataError
from skyweave.model.drive import Drive, Series, Values

LEAST_SHARE = 0.5
"""A log that covers less of a drive stands for its usual round trip alone."""


def read_trips(file: Path) -> list[Drive]:
    """The drives of a file that hold round trips; :class:`DataError` if none does."""
    drives = [drive for drive in load(file) if any(path.rtt_ms for path in drive.paths.values())]
    if not drives:
        raise DataError(f"{file}: holds no round trips; give a ping log ('ping -D HOST')")
    return drives


def with_trips(drive: Drive, name: str, logs: Sequence[Drive]) -> tuple[Drive, str]:
    """Return a drive whose path has the round trips of ping logs, and what was done, in words.

    Where logs and drive were never at the same time, the path gets the median of the logs: one
    number for the whole drive.
    """
    start, pings = utc_of(drive), [_trips(one) for one in logs]
    for log, series in zip(logs, pings, strict=True):
        began = utc_of(log)
        if start is None or began is None:
            continue
        times_s = series.times_s + (began - start).total_seconds()
        inside = (times_s > -series.spacing_s) & (times_s < drive.duration_s)
        if not inside.any() or np.isnan(series.values[inside]).all():
            continue
        span_s = float(times_s[inside][-1] - max(times_s[inside][0], 0.0))
        if span_s >= LEAST_SHARE * drive.duration_s:
            trips = _spread(times_s[inside], series.values[inside], drive.duration_s)
            return _set(drive, name, trips), f"from {log.origin}, second by second"
    usual = float(np.nanmedian(np.concatenate([series.values for series in pings])))
    trips = Series(np.zeros(1), np.full(1, usual))
    return _set(drive, name, _spread(trips.times_s, trips.values, drive.duration_s)), (
        f"{usual:.1f} ms, the median of {logs[0].origin}, which covers other seconds"
    )


def _trips(drive: Drive) -> Series:
    return next(path.rtt_ms for path in drive.paths.values() if path.rtt_ms is not None)


def _spread(times_s: Values, values: Values, duration_s: float) -> Series:
    """The series from 0 to the end of a drive; what was not measured is not logged."""
    times_s, first = np.unique(np.maximum(times_s, 0.0), return_index=True)
    values = values[first]
    if times_s[0] > 0:
        times_s, values = np.insert(times_s, 0, 0.0), np.insert(values, 0, np.nan)
    step_s = float(np.median(np.diff(times_s))) if len(times_s) > 1 else 1.0
    missing = np.arange(times_s[-1] + step_s, duration_s, max(step_s, 1.0))
    return Series(
        np.concatenate([times_s, missing]), np.concatenate([values, np.full(len(missing), np.nan)])
    )


def _set(drive: Drive, name: str, trips: Series) -> Drive:
    path = replace(drive.paths[name], rtt_ms=trips)
    return replace(drive, paths={**drive.paths, name: path})
