"""Round-trip times of described links from geometry: satellites, or fibre on the ground."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Annotated

import numpy as np
from pydantic import Field

from skyweave._skyweave import shell_names
from skyweave.errors import ConfigError
from skyweave.model.drive import Series, Values
from skyweave.model.validated import Amount, StudyModel
from skyweave.model.windows import OutageWindow
from skyweave.orbit import OrbitPath, OrbitSpec, Place, fibre_rtt_ms, orbit_path
from skyweave.study.language.randomness import stream


class OrbitDelay(StudyModel):
    """A path through satellites; each seed begins at a random moment within ``spread_s``.

    The moment depends on the seed alone, so that all paths of a drive look at the same sky.
    """

    orbit: OrbitSpec
    spread_s: Amount = 0.0


class Fibre(StudyModel):
    """Two places, and how many times the great circle the cable between them is long."""

    places: tuple[Place, Place]
    stretch: Annotated[float, Field(ge=1, allow_inf_nan=False)] = 1.0


class FibreDelay(StudyModel):
    """A cable along the ground: index of refraction 1.468."""

    fibre: Fibre

    @property
    def rtt_ms(self) -> float:
        """The round-trip time of light in it."""
        return fibre_rtt_ms(*self.fibre.places, self.fibre.stretch)


@dataclass(frozen=True)
class Followed:
    """What a path through satellites does during a drive."""

    rtt_ms: Series
    outages: tuple[OutageWindow, ...]
    start: datetime
    notes: tuple[str, ...]


def follow(
    name: str, delay: OrbitDelay, seed: int, duration_s: float, folders: Sequence[Path]
) -> Followed:
    """Follow the satellites of path ``name`` from the moment that the seed chooses.

    Raises :class:`ConfigError` when no satellite serves at any time.
    """
    orbit = delay.orbit
    if delay.spread_s > 0:
        at_start = orbit_path(orbit, orbit.step_s, folders=folders).start
        later_s = math.floor(stream("orbit start", seed).uniform(0, delay.spread_s))
        orbit = orbit.model_copy(update={"start": at_start + timedelta(seconds=later_s)})
    path = orbit_path(orbit, duration_s, seed=seed, folders=folders)
    if np.isnan(path.rtt_ms).all():
        reason = path.outages[0].reason if path.outages else "no path"
        raise ConfigError(
            f"path '{name}': no satellite serves it in {duration_s:g} s from {path.start:%FT%TZ} "
            f"on ({reason}); choose another terminal, a lower mask or another time"
        )
    outages = tuple(OutageWindow(start_s=one.start_s, end_s=one.end_s) for one in path.outages)
    notes = tuple(f"Path '{name}': {note}" for note in path.notes)
    return Followed(_series(path), outages, path.start, notes)


def missing_file(delay: OrbitDelay, folders: Sequence[Path]) -> str | None:
    """Return the file of elements that the path needs and no folder holds."""
    name = delay.orbit.constellation
    if name in shell_names() or any((folder / name).is_file() for folder in (*folders, Path())):
        return None
    return name


def _series(path: OrbitPath) -> Series:
    """Return the round-trip times: they change at steps, and where an outage ends."""
    edges = np.array([one.end_s for one in path.outages])
    seconds = np.arange(math.ceil(path.duration_s), dtype=float)
    times: Values = np.union1d(path.times_s, np.append(seconds, edges[edges < path.duration_s]))
    at = np.searchsorted(path.times_s, times, side="right") - 1
    return Series(times, path.rtt_ms[at])
