"""Which satellite served, from the pixels that became known of an obstruction map.

A dish lights the pixels that it looks through, so the new pixels of a slot are the track of one
satellite. Each is turned into a direction in the frame of its map and compared with all satellites
at the middle of the interval in which it appeared: the satellite with the least median angle is the
one, and the angle to the runner-up says how sure that is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from skyweave._skyweave import Constellation
from skyweave.orbit.places import Place
from skyweave.telemetry.dish.sky_map import Frame, axes_of, direction, directions

Floats = npt.NDArray[np.float64]
SLOT_S = 15.0
SLOT_OFFSET_S = 12.0
LEAST_PIXELS = 2
"""One pixel is no track; satellites near the horizon light two or three in a slot."""
LOWEST_DEG = 15.0
"""Satellites below do not serve."""
SURE_DEG = 3.0
MARGIN_DEG = 1.5
"""A satellite is accepted within the first angle and ahead of the next by the second."""
MOST_SPAN_S = 5.0
"""Pixels that appeared somewhere in a longer interval are left out: satellites move 1° a second."""
JUMP_DEG = 8.0
"""Tracks that jump farther in a slot are two: dishes re-target when a link degrades."""


@dataclass(frozen=True)
class Served:
    """One track: who drew it, and how sure that is."""

    start_unix_s: float
    end_unix_s: float
    slot_unix_s: float
    """When the slot began."""
    satellite: str
    error_deg: float
    """Median angle between the pixels and the satellite."""
    margin_deg: float
    """How much farther the runner-up is; infinite without one."""
    runner_up: str
    pixels: int

    @property
    def accepted(self) -> bool:
        """Whether it is close, and alone so."""
        return self.error_deg < SURE_DEG and self.margin_deg > MARGIN_DEG

    @property
    def confidence(self) -> float:
        """From 0 to 1: the margin as a share of margin and error."""
        if np.isinf(self.margin_deg):
            return 1.0
        return self.margin_deg / (self.margin_deg + self.error_deg)


def serving(
    pixels: pl.DataFrame, constellation: Constellation, place: Place,
    clock_offset_s: float = 0.0, slot_s: float = SLOT_S, slot_offset_s: float = SLOT_OFFSET_S,
) -> list[Served]:  # fmt: skip
    """Return who served, a row a track, from ``pixels`` rows of a recorder.

    ``clock_offset_s`` is how far the true time is ahead of the recorder's. Pixels of unknown frame
    or attitude, and those that appeared in too long an interval, are left out.
    """
    found: list[Served] = []
    for slot, (times, towards) in _slots(pixels, clock_offset_s, slot_s, slot_offset_s):
        for first, last in _tracks(times, towards):
            if last - first >= LEAST_PIXELS:
                part = slice(first, last)
                one = _best(times[part], towards[part], constellation, place, slot)
                if one is not None:
                    found.append(one)
    return found


def _slots(
    pixels: pl.DataFrame, clock_offset_s: float, slot_s: float, slot_offset_s: float
) -> Iterator[tuple[float, tuple[Floats, Floats]]]:
    """Yield the beginning of each slot, and its pixels as times and directions in their order."""
    times, towards = [], []
    for row in pixels.sort("time_unix_s").iter_rows(named=True):
        axes = _axes(row)
        if axes is not None and row["time_unix_s"] - row["before_unix_s"] <= MOST_SPAN_S:
            times.append((row["time_unix_s"] + row["before_unix_s"]) / 2 + clock_offset_s)
            towards.append(
                directions([row["row"]], [row["column"]], axes, row["side"], row["max_theta_deg"])[
                    0
                ]
            )
    when, where = np.asarray(times), np.asarray(towards).reshape(-1, 3)
    slots = np.floor((when - slot_offset_s) / slot_s)
    for slot in np.unique(slots):
        inside = slots == slot
        yield float(slot * slot_s + slot_offset_s), (when[inside], where[inside])


def _axes(row: dict[str, Any]) -> Floats | None:
    turn = tuple(row[name] for name in ("q_scalar", "q_x", "q_y", "q_z"))
    frame: Frame = row["frame"]
    return axes_of(frame, None if None in turn else turn)


def _tracks(times: Floats, towards: Floats) -> list[tuple[int, int]]:
    """Cut a slot where the track jumps and goes on elsewhere; single strays are no cut."""
    steps = _angles_deg(towards[1:], towards[:-1])
    moved = np.diff(times)
    cuts = [
        place + 1
        for place in np.flatnonzero(steps > JUMP_DEG + 2 * moved)
        if place + 2 < len(times)
        and _angles_deg(towards[place + 2 : place + 3], towards[place : place + 1])[0] > JUMP_DEG
    ]
    edges: list[int] = [0, *(int(cut) for cut in cuts), len(times)]
    return list(pairwise(edges))


def _best(
    times: Floats, towards: Floats, constellation: Constellation, place: Place, slot: float
) -> Served | None:
    angles = np.empty((len(times), len(constellation)))
    for number, (moment, pixel) in enumerate(zip(times.tolist(), towards, strict=True)):
        look = constellation.look_angles(moment, place.coordinates)
        sky = direction(look["azimuth_deg"], look["elevation_deg"])
        angles[number] = np.degrees(np.arccos(np.clip(sky @ pixel, -1, 1)))
        angles[number, ~(look["elevation_deg"] > LOWEST_DEG)] = np.nan
    seen = np.flatnonzero(np.isfinite(angles).all(axis=0))
    if not len(seen):
        return None
    medians = np.median(angles[:, seen], axis=0)
    order = np.argsort(medians)
    best, names = order[0], constellation.names
    second = order[1] if len(order) > 1 else None
    return Served(
        start_unix_s=float(times[0]),
        end_unix_s=float(times[-1]),
        slot_unix_s=slot,
        satellite=names[seen[best]],
        error_deg=float(medians[best]),
        margin_deg=float("inf") if second is None else float(medians[second] - medians[best]),
        runner_up="" if second is None else names[seen[second]],
        pixels=len(times),
    )


def _angles_deg(a: Floats, b: Floats) -> Floats:
    return np.asarray(np.degrees(np.arccos(np.clip((a * b).sum(axis=-1), -1, 1))))
