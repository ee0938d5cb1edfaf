"""Two operators on one drive: what the other one offered at the nearest place.

Operators are often measured on different days. Cells stand still, so that what was heard at a place
on one day stands for what would have been heard there on another; fading and load do not.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from skyweave.errors import ConfigError, DataError
from skyweave.model.drive import Values
from skyweave.radio.cells import CellGrid, Integers

WITHIN_M = 25.0
"""Ours: farther away the other operator counts as not measured. About the width of a crossing."""
SAME_PLACE_M = 5.0
"""Ours: what a phone's satellite positions cannot distinguish."""
EARTH_RADIUS_M = 6_371_008.8
"""Mean radius of the Earth (IUGG)."""
CHUNK = 512
"""Seconds compared at a time, so that long drives fit into memory."""


@dataclass(frozen=True)
class Joined:
    """One operator moved to the clock and the track of another.

    ``distance_m``, shape (seconds,), is how far from the track the nearest point was; beyond the
    stated distance nothing counts as heard.
    """

    grid: CellGrid
    distance_m: Values
    within_m: float

    @property
    def share(self) -> float:
        """Share (0 to 1) of the seconds with a point near enough."""
        return float(np.mean(self.distance_m <= self.within_m))


def join(track: CellGrid, other: CellGrid, within_m: float = WITHIN_M) -> Joined:
    """For each second of ``track`` what ``other`` heard at the nearest of its points.

    A car at a red light would meet the same second of the other's log again and again. Instead it
    meets all that the other heard within :data:`SAME_PLACE_M` of that point, one after another and
    each for an equal part of the stay.
    Raises :class:`ConfigError` unless ``within_m`` is above 0, and :class:`DataError` if no point
    is within it.
    """
    if not within_m > 0:
        raise ConfigError(f"within_m {within_m:g}: the distance of a join must be above 0 m")
    index, distance_m = nearest(track, other)
    near = distance_m <= within_m
    if not near.any():
        raise DataError(
            f"{other.operator} was never within {within_m:g} m of the track of {track.operator} "
            f"(nearest {distance_m.min():.0f} m); give drives on the same roads or a larger within"
        )
    return Joined(other.at(np.where(near, unfrozen(index, other), -1)), distance_m, within_m)


def unfrozen(index: Integers, other: CellGrid) -> Integers:
    """``index`` with its repetitions replaced by the other seconds of the same place, in turn."""
    x, y = _metres(other, np.radians(float(np.mean(other.lat_deg))))
    first = np.flatnonzero(np.diff(index, prepend=-1))
    result = index.copy()
    for begin, end in pairwise([*first.tolist(), len(index)]):
        here = index[begin]
        if end - begin > 1:
            same = np.flatnonzero(np.hypot(x - x[here], y - y[here]) <= SAME_PLACE_M)
            stay = int(end - begin)
            # Few points last longer instead of alternating: a flicker was never measured.
            turn = np.arange(stay) * min(len(same), stay) // stay
            result[begin:end] = same[(np.searchsorted(same, here) + turn) % len(same)]
    return result


def nearest(track: CellGrid, other: CellGrid) -> tuple[Integers, Values]:
    """Index of the nearest point of ``other`` and its distance in m, both shape (seconds,)."""
    middle = np.radians(float(np.mean(track.lat_deg)))
    x, y = _metres(track, middle)
    other_x, other_y = _metres(other, middle)
    index = np.empty(track.seconds, np.int64)
    distance_m = np.empty(track.seconds)
    for first in range(0, track.seconds, CHUNK):
        part = slice(first, first + CHUNK)
        apart = np.hypot(x[part, None] - other_x, y[part, None] - other_y)
        index[part] = apart.argmin(axis=1)
        distance_m[part] = apart.min(axis=1)
    return index, distance_m


def _metres(grid: CellGrid, middle_rad: float) -> tuple[Values, Values]:
    """Positions on a plane that is true at ``middle_rad``; exact enough over tens of km."""
    x = EARTH_RADIUS_M * np.cos(middle_rad) * np.radians(grid.lon_deg)
    return x, EARTH_RADIUS_M * np.radians(grid.lat_deg)
