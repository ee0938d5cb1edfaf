"""What a fake dish sees: a schedule of satellites from orbits, and rates of a drive."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from skyweave._skyweave import shell_names
from skyweave.errors import ConfigError
from skyweave.model.drive import PathTrace, Series
from skyweave.orbit import OrbitPath, OrbitSpec, orbit_path
from skyweave.orbit.catalogue import load_constellation
from skyweave.telemetry.dish.sky_map import direction

Floats = npt.NDArray[np.float64]
STEPS = 2
"""Pieces of a slot in which a satellite flies straight on."""
BLOCK_SLOTS = 240
"""Slots that a schedule is computed for at a time: an hour of 15 s."""
CAUSES = {"no-satellite": "NO_SATS", "no-gateway": "NO_DOWNLINK", "no-route": "NO_DOWNLINK",
          "handover": "NO_SCHEDULE"}  # fmt: skip
IDLE_MBPS = (0.07, 0.05)
"""What a dish without users carries, down and up (`dish_grpc_raw`)."""


@dataclass(frozen=True)
class Second:
    """One second of the dish's life."""

    satellite: str
    """'' without one."""
    latency_ms: float | None
    """None where no ping came back."""
    down_mbps: float
    up_mbps: float
    cause: str
    """Why nothing gets through; '' if something does."""


class World:
    """The sky and the road of one dish; the same at every look."""

    def __init__(
        self, spec: OrbitSpec, start_unix_s: float, drive: PathTrace | None = None,
        folders: tuple[Path, ...] = (),
    ) -> None:  # fmt: skip
        """A drive plays from ``start_unix_s`` on, again and again."""
        slot_s = spec.slot_s
        if slot_s is None:
            raise ConfigError("--slot none: a fake dish needs slots; give seconds")
        if spec.constellation in shell_names():  # its elements never expire
            spec = spec.model_copy(update={"max_age_days": 1e6})
        self.spec = spec
        self.start_unix_s = start_unix_s
        self.drive = drive
        self._folders = folders
        self._constellation = load_constellation(spec.constellation, folders)
        self._places = {name: place for place, name in enumerate(self._constellation.names)}
        self._block_s = BLOCK_SLOTS * slot_s
        self.path = lru_cache(maxsize=4)(self._path)
        self.at = lru_cache(maxsize=4096)(self._at)
        self.towards = lru_cache(maxsize=4096)(self._towards)
        self._position = lru_cache(maxsize=4096)(self._look)

    def serving(self, unix_s: float) -> str:
        """Return the satellite that serves; '' without one."""
        path, since = self._when(unix_s)
        place = int(np.searchsorted(path.serving_times_s, since, side="right")) - 1
        return path.serving[place]

    def outages(self, begin_unix_s: float, end_unix_s: float) -> list[tuple[float, float]]:
        """Return when nothing gets through, as Unix seconds within a span."""
        found, at = [], begin_unix_s
        while at < end_unix_s:
            path, since = self._when(at)
            zero, until = at - since, min(at - since + self._block_s, end_unix_s)
            for one in path.outages:
                start, end = max(zero + one.start_s, at), min(zero + one.end_s, until)
                if start < end:
                    found.append((start, end))
            at = zero + self._block_s
        return found

    def _towards(self, unix_s: float) -> Floats | None:
        """Return the direction of the serving satellite (north, east, down); None without one.

        On the line between two positions in the slot: within a hundredth of a degree of the orbit.
        """
        name = self.serving(unix_s)
        if not name:
            return None
        since, step = unix_s - self.spec.slot_offset_s, (self.spec.slot_s or 0) / STEPS
        first = (since // step) * step
        part = (since - first) / step
        begin, end = (
            self._position(name, self.spec.slot_offset_s + moment)
            for moment in (first, first + step)
        )
        between = (1 - part) * begin + part * end
        return np.asarray(between / np.linalg.norm(between))

    def _look(self, name: str, unix_s: float) -> Floats:
        found = self._constellation.look_angles(unix_s, self.spec.terminal.coordinates)
        place = self._places[name]
        return direction(found["azimuth_deg"][place], found["elevation_deg"][place])

    def _at(self, second: int) -> Second:
        """Return what is at a whole second of Unix time."""
        path, since = self._when(second)
        gone = [one for one in path.outages if one.start_s < since + 1 and one.end_s > since]
        whole = any(one.start_s <= since and one.end_s >= since + 1 for one in gone)
        name = self.serving(second)
        latency = float(path.rtt_ms[min(int(since / self.spec.step_s), len(path.rtt_ms) - 1)])
        alive = not whole and np.isfinite(latency)
        down, up = self._rates(second) if alive else (0.0, 0.0)
        return Second(
            satellite=name,
            latency_ms=latency if alive else None,
            down_mbps=down,
            up_mbps=up,
            cause="" if alive else CAUSES[gone[0].reason] if gone else "NO_PINGS",
        )

    def _rates(self, second: int) -> tuple[float, float]:
        if self.drive is None:
            return IDLE_MBPS
        since = second - self.start_unix_s
        down, up = (
            _value(series, since) if series is not None else idle
            for series, idle in zip(
                (self.drive.downlink_mbps, self.drive.uplink_mbps), IDLE_MBPS, strict=True
            )
        )
        return down, up

    def _when(self, unix_s: float) -> tuple[OrbitPath, float]:
        """Return the schedule around a moment, and the seconds since it began."""
        block = int((unix_s - self.spec.slot_offset_s) // self._block_s)
        path = self.path(block)
        return path, unix_s - path.start.timestamp()

    def _path(self, block: int) -> OrbitPath:
        begin = datetime.fromtimestamp(block * self._block_s + self.spec.slot_offset_s, UTC)
        spec = self.spec.model_copy(update={"start": begin})
        return orbit_path(spec, self._block_s, seed=block % 2**31, folders=self._folders)


def _value(series: Series, since_s: float) -> float:
    """Return the value that holds at a moment of a series that plays again and again."""
    place = int(np.searchsorted(series.times_s, since_s % series.duration_s, side="right")) - 1
    value = float(series.values[place])
    return value if np.isfinite(value) else 0.0
