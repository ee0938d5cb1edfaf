"""Seconds that a log skips: said, counted as not logged, and left out where they are many."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Final

import numpy as np

from skyweave.data.window import window
from skyweave.model.drive import Drive, Series

GAP_S: Final = 3.0
"""A longer step between two samples is a gap, if it is also three times the usual one."""
CUT_S: Final = 60.0
"""A longer gap ends a drive: the log was off, not the network."""
_RATES = ("downlink_mbps", "uplink_mbps")


def without_gaps(drive: Drive) -> list[Drive]:
    """The stretches of a drive between gaps of more than :data:`CUT_S`, each with its notes.

    In shorter gaps no rate was logged: there the value before does not go on.
    """
    off_s: list[tuple[float, float]] = []
    notes: list[str] = []
    paths = {}
    for name, path in drive.paths.items():
        changed = {}
        for quantity in _RATES:
            series = getattr(path, quantity)
            if series is None:
                continue
            at = gaps(series)
            short = at[np.diff(series.times_s)[at] <= CUT_S]
            long = np.setdiff1d(at, short)
            changed[quantity] = _opened(series, short)
            notes += _said(drive, name, series, short, long)
            ends_s = series.times_s[long] + series.spacing_s
            off_s += zip(ends_s.tolist(), series.times_s[long + 1].tolist(), strict=True)
        paths[name] = replace(path, **changed)  # type: ignore[arg-type]
    whole = replace(drive, paths=paths, notes=(*drive.notes, *dict.fromkeys(notes)))
    return _pieces(whole, off_s) if off_s else [whole]


def gaps(series: Series) -> np.typing.NDArray[np.int64]:
    """The samples, by their index, after which a gap begins."""
    least_s = max(GAP_S, 3 * series.spacing_s)
    return np.flatnonzero(np.diff(series.times_s) > least_s)


def _opened(series: Series, at: np.typing.NDArray[np.int64]) -> Series:
    """The series with "not logged" from the end of the sample before each gap."""
    times_s = np.insert(series.times_s, at + 1, series.times_s[at] + series.spacing_s)
    return Series(times_s, np.insert(series.values, at + 1, np.nan))


def _said(
    drive: Drive,
    name: str,
    series: Series,
    short: np.typing.NDArray[np.int64],
    long: np.typing.NDArray[np.int64],
) -> list[str]:
    said = []
    steps = np.diff(series.times_s)
    for at, what in ((short, "count as 0 Mbit/s"), (long, f"over {CUT_S:.0f} s, are left out")):
        if not len(at):
            continue
        second = float(series.times_s[at[0]])
        when = f"second {second:g}"
        if drive.start is not None:
            when = f"{drive.start + timedelta(seconds=second):%Y-%m-%d %H:%M:%S}"
        lost_s = float((steps[at] - series.spacing_s).sum())
        times = "1 gap" if len(at) == 1 else f"{len(at)} gaps"
        verb = what if len(at) > 1 else what.replace("count", "counts").replace("are", "is")
        said.append(f"{name}: {times} in the log, {lost_s:.0f} s in all, first at {when}: {verb}.")
    return said


def _pieces(drive: Drive, off_s: list[tuple[float, float]]) -> list[Drive]:
    """The stretches in which no log was off."""
    found = []
    since_s = 0.0
    for begin_s, end_s in sorted(off_s):
        if begin_s > since_s:
            found.append((since_s, begin_s))
        since_s = max(since_s, end_s)
    if drive.duration_s > since_s:
        found.append((since_s, drive.duration_s))
    return [
        replace(
            drive,
            name=f"{drive.name}-{number}",
            start=drive.start and drive.start + timedelta(seconds=begin_s),
            paths={name: window(path, begin_s, end_s) for name, path in drive.paths.items()},
        )
        for number, (begin_s, end_s) in enumerate(found, start=1)
    ]
