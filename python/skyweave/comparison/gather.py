"""From log files to drives of several networks on one clock, with what each was taken for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import Literal

from skyweave.comparison.networks import Kind, Network, distinct, network_of
from skyweave.comparison.pairing import paired
from skyweave.comparison.trips import read_trips, with_trips
from skyweave.data import load
from skyweave.data.gaps import without_gaps
from skyweave.data.join import join, on_one_clock
from skyweave.data.offsets import doubts
from skyweave.data.sense.words import words_of
from skyweave.errors import DataError
from skyweave.model.drive import Drive

MOST_FILES = 1000


@dataclass(frozen=True)
class Reading:
    """How files are read.

    ``columns`` as :func:`skyweave.data.load` takes them, ``shift_s`` is added to the clock of each
    file, ``kinds`` and ``pings`` (logs of round trips) are those of the networks in their order.
    """

    columns: Mapping[str, str] | None = None
    align: Literal["utc", "start"] = "utc"
    shift_s: Sequence[float] = ()
    kinds: Sequence[Kind] = ()
    pings: Sequence[Path] = ()


@dataclass(frozen=True)
class Gathered:
    """Drives whose paths have the keys of ``networks``; ``took``: what each file was taken for."""

    drives: list[Drive]
    networks: list[Network]
    took: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def gather(files: Sequence[Path], reading: Reading | None = None) -> Gathered:
    """Read files and lay their networks over each other.

    Raises :class:`DataError` for files that are no log of rates, for one network alone, and where
    :func:`skyweave.data.join.join` does.
    """
    if not 0 < len(files) <= MOST_FILES:
        raise DataError(f"{len(files)} files were given; give 1 to {MOST_FILES}, or their folder")
    reading = reading or Reading()
    per_file("--shift", reading.shift_s, len(files))
    took: dict[str, list[str]] = {}
    whole: list[Drive] = []
    trips: list[Drive] = []
    for number, file in enumerate(files):
        drives = [
            _shifted(drive, reading.shift_s, number)
            for drive in load(file, columns=reading.columns)
        ]
        took.setdefault(_took(file, drives), []).append(file.name)
        trips += [drive for drive in drives if not rated(drive)]
        whole += [piece for drive in drives if rated(drive) for piece in without_gaps(drive)]
    found = _gathered(whole, reading, [_of_files(names, said) for said, names in took.items()])
    return _with_pings(found, reading.pings, trips)


def gather_drives(drives: Sequence[Drive], kinds: Sequence[Kind] = ()) -> Gathered:
    """Take drives that have several networks each, or one each on clocks of their own."""
    return _gathered(
        list(drives), Reading(kinds=kinds), [f"{one.name}: {one.origin}" for one in drives]
    )


def _gathered(whole: list[Drive], reading: Reading, took: list[str]) -> Gathered:
    """Lay drives over each other, unless all networks are in each of them."""
    notes = [note for drive in whole for note in drive.notes if note.endswith(".")]
    whole = [replace(drive, notes=()) for drive in whole]
    names = list(dict.fromkeys(name for drive in whole for name in _names(drive)))
    if len(names) < 2:
        given = ", ".join(dict.fromkeys(drive.origin for drive in whole[:3])) or "the files"
        held = names[0] if names else "no network with rates"
        raise DataError(
            f"{given}: {held} alone has nothing to be compared with; give the log of a second one"
        )
    if not all(len(rated(drive)) > 1 for drive in whole):
        joined = join(_logs(whole), reading.align == "start")
        doubted = [said for drive in joined.drives for said in doubts(drive)]
        whole, notes = joined.drives, [*notes, *joined.notes, *doubted]
    return _as_networks(whole, reading.kinds, took, notes)


def per_file(option: str, values: Sequence[object], files: int) -> None:
    """Refuse a list of another length than that of what it belongs to."""
    if values and len(values) != files:
        raise DataError(f"{option}: has {len(values)} values for {files}; give one for each")


def rated(drive: Drive) -> list[str]:
    """The paths of a drive that have a rate."""
    return [
        name
        for name, path in drive.paths.items()
        if path.downlink_mbps is not None or path.uplink_mbps is not None
    ]


def _shifted(drive: Drive, shift_s: Sequence[float], number: int) -> Drive:
    if not shift_s or drive.start is None:
        return drive
    return replace(drive, start=drive.start + timedelta(seconds=shift_s[number]))


def _with_pings(found: Gathered, files: Sequence[Path], trips: Sequence[Drive]) -> Gathered:
    """Give networks the round trips of ping logs: of those named for each, or found by name."""
    per_file("--ping", files, len(found.networks))
    logs: dict[str, list[Drive]] = {}
    for network, file in zip(found.networks, files, strict=False):
        logs.setdefault(network.key, []).extend(read_trips(file))
    for log in trips:
        key = network_of(next(iter(log.paths))).key
        if key not in {network.key for network in found.networks}:
            known = ", ".join(network.label for network in found.networks)
            raise DataError(
                f"{log.origin}: holds round trips of none of the networks ({known}); name it with "
                "--ping, one log for each network in that order"
            )
        logs.setdefault(key, []).append(log)
    drives, said = [], []
    for drive in found.drives:
        for key in logs.keys() & drive.paths.keys():
            drive, words = with_trips(drive, key, logs[key])
            said.append(f"{key}: round trips {words}.")
        drives.append(drive)
    return replace(found, drives=drives, notes=[*found.notes, *dict.fromkeys(sorted(said))])


def _of_files(names: Sequence[str], said: str) -> str:
    """Say it of all files that it is true of."""
    more = f" and {len(names) - 2} more" if len(names) > 2 else ""
    return f"{', '.join(names[:2])}{more}: {said}"


def _took(file: Path, drives: Sequence[Drive]) -> str:
    """Say what a file was taken for: its columns, or where its drives are from."""
    said = dict.fromkeys("; ".join(drive.notes) or drive.origin for drive in drives)
    first, *others = said
    more = f" (and {len(others)} more)" if others else ""
    first = first.removesuffix(".")
    if "TCP:" not in first and "tcp" in words_of(f"{file.name} {first}"):
        more += ". TCP: what one connection reached, which is less than a capacity"
    return f"{first}{more}"


def _names(drive: Drive) -> list[str]:
    """What its networks are called: as its paths, or as the drive where a format has no names."""
    return [drive.name if name == "link" else name for name in rated(drive)]


def _logs(drives: Sequence[Drive]) -> dict[str, list[Drive]]:
    """Each network alone, by its key; by the name of its file where logs of one key overlap."""
    alone = [
        (name, replace(drive, paths={name: drive.paths[path]}))
        for drive in drives
        for path, name in zip(rated(drive), _names(drive), strict=True)
    ]
    by_key: dict[str, list[tuple[str, Drive]]] = {}
    for name, drive in alone:
        by_key.setdefault(network_of(name).key, []).append((name, drive))
    logs = {key: paired(own) for key, own in by_key.items()}
    if len(by_key) > 1 and not any(_overlap(drives) for drives in logs.values()):
        return logs
    logs = {}
    for name, drive in alone:
        logs.setdefault(name, []).append(drive)
    return logs


def _overlap(drives: Sequence[Drive]) -> bool:
    """Tell whether two logs have a second in common."""
    clocked = sorted((d for d in drives if d.start is not None), key=lambda d: str(d.start))
    return any(on_one_clock([one, other], "") is not None for one, other in pairwise(clocked))


def _as_networks(
    drives: Sequence[Drive], kinds: Sequence[Kind], took: list[str], notes: list[str]
) -> Gathered:
    """The drives with the keys of their networks as names of paths."""
    names = list(dict.fromkeys(name for drive in drives for name in rated(drive)))
    per_file("--kind", kinds, len(names))
    networks = distinct(network_of(name) for name in names)
    if kinds:
        networks = [replace(one, kind=kind) for one, kind in zip(networks, kinds, strict=True)]
    keys = dict(zip(names, (one.key for one in networks), strict=True))
    renamed = [
        replace(drive, paths={keys[name]: drive.paths[name] for name in rated(drive)})
        for drive in drives
    ]
    return Gathered(renamed, networks, took, list(dict.fromkeys(notes)))
