"""Logs of the two directions of one network, as one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from skyweave.data.join import on_one_clock
from skyweave.data.sense.columns import direction_of
from skyweave.data.sense.words import words_of
from skyweave.model.drive import Drive, PathTrace, Series
from skyweave.model.frames import QUANTITIES


def paired(logs: Sequence[tuple[str, Drive]]) -> list[Drive]:
    """The logs of a network under one name, those of its two directions as one."""
    first = logs[0][0]
    found: list[tuple[str, Drive]] = []
    for name, drive in logs:
        drive = replace(drive, paths={first: drive.paths[name]})
        for place, (other_name, other) in enumerate(found):
            both = _both_ways(first, (other_name, other), (name, drive))
            if both is not None:
                found[place] = other_name, both
                break
        else:
            found.append((name, drive))
    return [drive for _, drive in found]


def _both_ways(first: str, one: tuple[str, Drive], other: tuple[str, Drive]) -> Drive | None:
    """Two logs of the same seconds as one, where one went down and one up; ``None``: they do not.

    Logs without a clock belong together by their names: ``lte.down`` and ``lte.up``.
    """
    (name, a), (other_name, b) = one, other
    parts = [_measured(drive.paths[first]) for drive in (a, b)]
    if parts[0].keys() & parts[1].keys() or (a.start is None) != (b.start is None):
        return None
    if a.start is None and _stem(name) != _stem(other_name):
        return None
    moved = replace(b, paths={f"{first} ": b.paths[first]})
    shared = on_one_clock([a, moved], a.name)
    if shared is None:
        return None
    down, up = (_measured(path) for path in shared.paths.values())
    return replace(shared, paths={first: PathTrace.of({**down, **up})})


def _measured(path: PathTrace) -> dict[str, Series]:
    return {key: series for key in QUANTITIES if (series := getattr(path, key)) is not None}


def _stem(name: str) -> list[str]:
    """The words of a name without those of its direction."""
    return [word for word in words_of(name) if direction_of([word]) is None]
