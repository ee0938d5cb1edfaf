"""Drives of several logs: what was logged at the same time, on one clock."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Final

from skyweave.data import offsets
from skyweave.data.window import window
from skyweave.errors import DataError
from skyweave.model.drive import Drive

LEAST_OVERLAP_S: Final = 60.0
"""Stretches that all networks share for less than that are left out."""


@dataclass(frozen=True)
class Joined:
    """Drives of several networks each, and sentences on what was left out."""

    drives: list[Drive]
    notes: list[str]


def utc_of(drive: Drive) -> datetime | None:
    """The UTC of second 0; a clock that names no zone is taken as UTC."""
    if drive.start is None:
        return None
    return drive.start.astimezone(UTC) if drive.start.tzinfo else drive.start.replace(tzinfo=UTC)


def on_one_clock(drives: Sequence[Drive], name: str) -> Drive | None:
    """The stretch that all of some drives share, with the paths of all; ``None``: there is none.

    Drives without a start begin together.
    """
    starts = [utc_of(drive) for drive in drives]
    first = min((start for start in starts if start is not None), default=None)
    offsets = [
        0.0 if start is None or first is None else (start - first).total_seconds()
        for start in starts
    ]
    begin_s = max(offsets)
    ends_s = (at + drive.duration_s for at, drive in zip(offsets, drives, strict=True))
    end_s = min(ends_s)
    if end_s <= begin_s:
        return None
    return Drive(
        name=name,
        origin="; ".join(dict.fromkeys(drive.origin for drive in drives)),
        paths={
            path: window(trace, begin_s - at, end_s - at)
            for at, drive in zip(offsets, drives, strict=True)
            for path, trace in drive.paths.items()
        },
        start=None if first is None else first + timedelta(seconds=begin_s),
        synthetic=all(drive.synthetic for drive in drives),
        notes=tuple(dict.fromkeys(note for drive in drives for note in drive.notes)),
    )


def join(logs: Mapping[str, Sequence[Drive]], align_start: bool = False) -> Joined:
    """The drives in which all networks were logged; ``logs`` holds those of each.

    They are laid over each other by their UTC; with ``align_start`` the first log of each network
    begins with the first of the others, the second with the second. Raises :class:`DataError` for
    logs without UTC otherwise, and where no stretch of :data:`LEAST_OVERLAP_S` is shared.
    """
    if align_start:
        return _by_order(logs)
    for drives in logs.values():
        for drive in drives:
            if drive.start is None:
                raise DataError(
                    f"{drive.origin}: has no absolute time, so nothing says which of its seconds "
                    "are those of the other logs; give --align start if all began together"
                )
    found: list[Drive] = []
    notes = []
    for drives in _combinations(logs):
        shared = on_one_clock(drives, drives[0].name)
        if shared is None:
            continue
        if shared.duration_s < LEAST_OVERLAP_S and not _whole(shared, drives):
            names = " and ".join(drive.origin for drive in drives)
            notes.append(
                f"{names} were logged together for {shared.duration_s:.0f} s only, below "
                f"{LEAST_OVERLAP_S:.0f} s: left out."
            )
            continue
        found.append(shared)
    if not found:
        raise DataError(_apart(logs, notes))
    return Joined(_named(found), notes)


def _whole(shared: Drive, drives: Sequence[Drive]) -> bool:
    """Tell whether the stretch is as good as all of the shortest log."""
    return shared.duration_s > 0.9 * min(drive.duration_s for drive in drives)


def _combinations(logs: Mapping[str, Sequence[Drive]]) -> Iterable[list[Drive]]:
    """One log of each network, in every way in which they overlap, in the order of time."""
    found: list[tuple[float, float, list[Drive]]] = [(-math.inf, math.inf, [])]
    for drives in logs.values():
        spans = [(*_span_s(drive), drive) for drive in drives]
        found = [
            (max(since, begin), min(until, end), [*chosen, drive])
            for since, until, chosen in found
            for begin, end, drive in spans
            if max(since, begin) < min(until, end)
        ]
    return [chosen for _, _, chosen in sorted(found, key=lambda one: one[:2])]


def _span_s(drive: Drive) -> tuple[float, float]:
    """When a drive begins and ends, in Unix time."""
    start = utc_of(drive)
    begin_s = 0.0 if start is None else start.timestamp()
    return begin_s, begin_s + drive.duration_s


def _by_order(logs: Mapping[str, Sequence[Drive]]) -> Joined:
    counts = {name: len(drives) for name, drives in logs.items()}
    if len(set(counts.values())) > 1:
        said = ", ".join(f"{count} of {name}" for name, count in counts.items())
        raise DataError(f"--align start: needs as many logs of each network; there are {said}")
    drives = []
    for chosen in zip(*logs.values(), strict=True):
        shared = on_one_clock([replace(one, start=None) for one in chosen], chosen[0].name)
        if shared is not None:
            drives.append(replace(shared, start=utc_of(chosen[0])))
    if not drives:
        raise DataError("--align start: a log is empty; check the files")
    return Joined(_named(drives), [])


def _named(drives: list[Drive]) -> list[Drive]:
    """Drives with names that differ: of their start, or counted."""
    if len(drives) == 1:
        return drives
    stamps = [f"{one.start:%Y%m%dT%H%M%SZ}" if one.start else "" for one in drives]
    if "" in stamps or len(set(stamps)) < len(stamps):
        stamps = [f"drive-{number:03d}" for number in range(1, len(drives) + 1)]
    return [replace(one, name=stamp) for one, stamp in zip(drives, stamps, strict=True)]


def _apart(logs: Mapping[str, Sequence[Drive]], notes: Sequence[str]) -> str:
    """Say when each network was logged, where they never were together."""
    if notes:
        return f"{notes[0].removesuffix('.')}; give logs of the same minutes"
    said = []
    for name, drives in logs.items():
        first = min(utc_of(drive) or datetime.max.replace(tzinfo=UTC) for drive in drives)
        last = max(
            (utc_of(drive) or first) + timedelta(seconds=drive.duration_s) for drive in drives
        )
        said.append(f"{name} from {first:%Y-%m-%d %H:%M:%S} to {last:%Y-%m-%d %H:%M:%S}")
    return (
        f"the networks were never logged at the same time (UTC): {', '.join(said)}"
        f"{offsets.hint(list(logs.values()))}; correct a clock with --shift, or give --align start "
        "if the logs began together"
    )
