"""From the description of an orbit to what a path over it does."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from skyweave import _skyweave
from skyweave._skyweave import Constellation
from skyweave.errors import ConfigError
from skyweave.model.forecast import Forecast, ForecastSeries
from skyweave.model.windows import ForecastWindow, Window
from skyweave.orbit.catalogue import BUILT_IN_EPOCH, load_constellation, load_gateways
from skyweave.orbit.places import Place
from skyweave.orbit.spec import OrbitSpec

STALE_DAYS = 14.0
"""SGP4 drifts by kilometres within days; beyond this a note says so."""
Reason = Literal["no-satellite", "no-gateway", "no-route", "handover"]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Handover:
    """One satellite followed another, at once or after an outage."""

    time_s: float
    before: str
    """The satellite that served last."""
    after: str


class Outage(Window):
    """Nothing gets through in [start, end)."""

    reason: Reason


@dataclass(frozen=True)
class OrbitPath:
    """A path through satellites over time; all times are seconds after ``start``."""

    start: datetime
    duration_s: float
    times_s: Floats
    """0, ``step_s``, 2 ``step_s``, … below the duration."""
    rtt_ms: Floats
    """At these times; NaN without a path. In the gap of a handover, the new satellite's."""
    serving_times_s: Floats
    """With slots: 0 and each slot edge. Without: 0 and whenever the satellite changed."""
    serving: tuple[str, ...]
    """The satellite that was chosen then, until the next of these times; '' is none."""
    handovers: tuple[Handover, ...]
    outages: tuple[Outage, ...]
    """In order and without overlap; edges lie on steps, slot edges and ends of gaps."""
    notes: tuple[str, ...]
    """What a reader should know: stale elements, satellites left out."""

    def forecast(self) -> Forecast:
        """Return what a sender may know of it ahead: its outages, and its round-trip times.

        In seconds after ``start``, as the median, for it is certain; in an outage the round-trip
        time is the last one before it.
        """
        outages = (ForecastWindow(start_s=one.start_s, end_s=one.end_s) for one in self.outages)
        known = np.flatnonzero(np.isfinite(self.rtt_ms))
        changed = known[np.diff(self.rtt_ms[known], prepend=np.inf) != 0]
        rtt_ms = None
        if len(changed):
            rtt_ms = ForecastSeries(
                times_s=tuple(self.times_s[changed].tolist()),
                quantiles=(0.5,),
                values=tuple((value,) for value in self.rtt_ms[changed].tolist()),
            )
        return Forecast(outages=tuple(outages), rtt_ms=rtt_ms)


def orbit_path(
    spec: OrbitSpec, duration_s: float, *, seed: int = 0, folders: Sequence[Path] = ()
) -> OrbitPath:
    """Follow a terminal for ``duration_s``; files are looked for in ``folders`` in order.

    ``seed`` decides what the policy ``random`` takes, nothing else. Raises :class:`ConfigError`
    and :class:`DataError <skyweave.errors.DataError>`.
    """
    constellation = load_constellation(spec.constellation, folders)
    start = start_of(spec, constellation)
    config = serve_config(spec, start, duration_s, seed=seed, folders=folders)
    try:
        found = constellation.serve(config)
    except ValueError as error:
        raise ConfigError(f"orbit of '{spec.constellation}': {error}") from None
    return _path(start, duration_s, constellation.names, found)


def serve_config(
    spec: OrbitSpec,
    start: datetime,
    duration_s: float,
    *,
    seed: int = 0,
    folders: Sequence[Path] = (),
) -> str:
    """Return a run as the core takes it (``orbit::ServeConfig``)."""
    config = {
        "start_unix_s": start.timestamp(),
        "duration_s": duration_s,
        "terminal": _place(spec.terminal),
        "via": _via(spec, folders),
        "seed": seed,
        "stale_days": STALE_DAYS,
    }
    for name in _PLAIN:
        config[name] = getattr(spec, name)
    return json.dumps(config)


def fibre_rtt_ms(a: Place, b: Place, stretch: float = 1.0) -> float:
    """Round-trip time through fibre (index 1.468) along the great circle, times ``stretch``."""
    return _skyweave.fibre_rtt_ms(a.coordinates, b.coordinates, stretch)


_PLAIN = (
    "min_elevation_deg", "gso_avoidance_deg", "policy", "slot_s", "slot_offset_s", "gap_s",
    "acceleration", "step_s", "extra_rtt_ms", "max_age_days",
)  # fmt: skip


def start_of(spec: OrbitSpec, constellation: Constellation) -> datetime:
    """Return second 0: the spec's start, else a whole minute at the epoch of the elements."""
    if spec.start is not None:
        return spec.start
    if spec.constellation in _skyweave.shell_names():
        return BUILT_IN_EPOCH
    minutes = math.ceil(constellation.median_epoch_unix_s / 60)
    return datetime.fromtimestamp(minutes * 60, UTC)


def _place(place: Place) -> dict[str, float]:
    return {"lat_deg": place.lat, "lon_deg": place.lon, "height_m": place.height_m}


def _via(spec: OrbitSpec, folders: Sequence[Path]) -> dict[str, Any]:
    mask = {"min_elevation_deg": spec.gateway_min_elevation_deg}
    if spec.via == "isl" and spec.to is not None:
        limits = {"max_range_km": spec.isl_max_range_km, "atmosphere_km": spec.isl_atmosphere_km}
        return {"kind": "isl", "to": _place(spec.to), **mask, **limits}
    places = spec.gateways
    if isinstance(places, str):
        places = load_gateways(places, folders)
    return {"kind": "gateway", "gateways": [_place(place) for place in places], **mask}


def _path(start: datetime, duration_s: float, names: list[str], found: dict[str, Any]) -> OrbitPath:
    """Put the columns of the core into Python's words; -1 is no satellite."""

    def named(column: str) -> list[str]:
        return [names[index] if index >= 0 else "" for index in found[column].tolist()]

    changes = zip(
        found["handover_times_s"].tolist(),
        named("handover_before"),
        named("handover_after"),
        strict=True,
    )
    gone = zip(
        found["outage_starts_s"].tolist(),
        found["outage_ends_s"].tolist(),
        found["outage_reasons"],
        strict=True,
    )
    return OrbitPath(
        start=start,
        duration_s=duration_s,
        times_s=found["times_s"],
        rtt_ms=found["rtt_ms"],
        serving_times_s=found["serving_times_s"],
        serving=tuple(named("serving")),
        handovers=tuple(Handover(*change) for change in changes),
        outages=tuple(Outage(start_s=a, end_s=b, reason=why) for a, b, why in gone),
        notes=_notes(found, len(names)),
    )


def _notes(found: dict[str, Any], total: int) -> tuple[str, ...]:
    said = {
        "stale": f"have elements more than {STALE_DAYS:g} days from the run: positions are rough",
        "too_old": "were left out: their elements are too far from the run (max_age_days)",
        "decayed": "were left out: SGP4 has no orbit for them at that time (decayed)",
    }
    return tuple(
        f"{found[key]} of {total} satellites {what}." for key, what in said.items() if found[key]
    )
