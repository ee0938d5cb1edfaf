"""The sky over a terminal at one moment: what the map and the sky plot show."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

import numpy as np
import numpy.typing as npt

from skyweave._skyweave import Constellation
from skyweave.errors import ConfigError
from skyweave.orbit.catalogue import load_constellation, load_gateways
from skyweave.orbit.gso import angles_deg, gso_arc
from skyweave.orbit.path import OrbitPath, orbit_path, serve_config, start_of
from skyweave.orbit.places import Place
from skyweave.orbit.spec import OrbitSpec

TRACK_S = 15.0
"""How long tracks are where there are no slots."""
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Moment:
    """Second 0 of a run; satellites are places in the constellation."""

    spec: OrbitSpec
    at: datetime
    constellation: Constellation
    usable: npt.NDArray[np.bool_]
    """Neither too old nor decayed."""
    path: OrbitPath
    """The first slot, for the RTT and for why there is none."""
    way: tuple[int, ...]
    """The serving satellite and those behind it, down to the other end; empty in an outage."""
    gateways: tuple[Place, ...]
    """All gateways of a bent pipe."""

    @property
    def unix_s(self) -> float:
        """The moment in Unix time."""
        return self.at.timestamp()

    @property
    def rtt_ms(self) -> float:
        """The RTT at this moment; NaN without a path."""
        return float(self.path.rtt_ms[0])

    @property
    def outage(self) -> str:
        """Why nothing serves; '' if something does."""
        return "" if self.way else next((one.reason for one in self.path.outages), "no-satellite")

    @cached_property
    def high(self) -> npt.NDArray[np.bool_]:
        """Which usable satellites stand above the terminal's mask."""
        elevation = self.look(self.unix_s)["elevation_deg"]
        return np.asarray(elevation >= self.spec.min_elevation_deg)

    @cached_property
    def free(self) -> npt.NDArray[np.bool_]:
        """Which of these are far enough from the geostationary arc."""
        free = self.high.copy()
        if self.spec.gso_avoidance_deg:
            look = self.look(self.unix_s)
            angle = angles_deg(
                gso_arc(self.spec.terminal),
                look["azimuth_deg"][free],
                look["elevation_deg"][free],
            )
            free[free] = angle >= self.spec.gso_avoidance_deg
        return free

    def look(self, unix_s: float) -> dict[str, Floats]:
        """Azimuth, elevation, range from the terminal; NaN for what is not usable."""
        found = self.constellation.look_angles(unix_s, self.spec.terminal.coordinates)
        return {name: np.where(self.usable, column, np.nan) for name, column in found.items()}

    def span_s(self) -> tuple[float, float]:
        """The edges of the slot around the moment, in seconds of flight from it."""
        length = self.spec.slot_s or TRACK_S
        past = (self.unix_s - self.spec.slot_offset_s) % length if self.spec.slot_s else 0.0
        return (
            -past * self.spec.acceleration,
            (length - past) * self.spec.acceleration,
        )

    def landing(self) -> Place | None:
        """Where the way comes down: the far end, or the nearest gateway that sees the satellite."""
        if not self.way or self.spec.via == "isl":
            return self.spec.to if self.way else None
        seen = []
        for place in self.gateways:
            look = self.constellation.look_angles(self.unix_s, place.coordinates)
            elevation, range_km = look["elevation_deg"][self.way[0]], look["range_km"][self.way[0]]
            if elevation >= self.spec.gateway_min_elevation_deg:
                seen.append((float(range_km), place))
        return min(seen, key=lambda one: one[0], default=(0.0, None))[1]


def moment(spec: OrbitSpec, *, seed: int = 0) -> Moment:
    """Look at second 0 of a run. Raises as :func:`skyweave.orbit.orbit_path` does."""
    constellation = load_constellation(spec.constellation)
    at = start_of(spec, constellation)
    check_start(at)
    slot_s = spec.slot_s or TRACK_S
    spec = spec.model_copy(update={"start": at, "step_s": slot_s})
    path = orbit_path(spec, slot_s, seed=seed)
    way: tuple[int, ...] = ()
    if path.serving[0] and not np.isnan(path.rtt_ms[0]):
        first = constellation.names.index(path.serving[0])
        way = tuple(constellation.way(serve_config(spec, at, slot_s, seed=seed), first, 0.0))
    gateways = spec.gateways
    if isinstance(gateways, str):
        gateways = load_gateways(gateways)
    return Moment(spec, at, constellation, usable(spec, constellation, at), path, way, gateways)


def check_start(at: datetime) -> None:
    """Refuse what leaves no room for tracks and margins in the Unix time of the core."""
    if not 1971 <= at.year <= 2200:
        raise ConfigError(f"--start {at:%FT%TZ}: give a time between 1971 and 2200")


def usable(spec: OrbitSpec, constellation: Constellation, at: datetime) -> npt.NDArray[np.bool_]:
    """Which satellites can be relied on at a moment: neither too old nor decayed."""
    fresh = constellation.ages_days(at.timestamp()) <= spec.max_age_days
    aloft = ~np.isnan(constellation.ecef_km(at.timestamp())).any(axis=1)
    return np.asarray(fresh & aloft)
