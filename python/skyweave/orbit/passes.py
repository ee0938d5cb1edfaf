"""When satellites rise over a terminal, how high they come, when they set."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from skyweave.errors import ConfigError
from skyweave.orbit.catalogue import load_constellation
from skyweave.orbit.moment import check_start, usable
from skyweave.orbit.path import orbit_path, start_of
from skyweave.orbit.spec import OrbitSpec

MARGIN_S = 1800.0
"""Passes are looked for this far beyond the span, so that those over its edges are whole."""


@dataclass(frozen=True)
class Pass:
    """One satellite over the terminal; above the mask and off the geostationary arc throughout."""

    satellite: str
    rise: datetime | None
    """None: long before the span (higher than low orbits)."""
    culmination: datetime
    azimuth_deg: float
    """At culmination, from north through east."""
    elevation_deg: float
    """At culmination."""
    set: datetime | None


@dataclass(frozen=True)
class Passes:
    """The passes that reach into [start, end), by their rise."""

    start: datetime
    end: datetime
    total: int
    shown: tuple[Pass, ...]
    notes: tuple[str, ...]


def find_passes(spec: OrbitSpec, duration_s: float, first: int) -> Passes:
    """Find passes within ``duration_s`` of flight and describe the ``first`` ones.

    Raises as :func:`skyweave.orbit.orbit_path`, which also says what was left out.
    """
    if not 0 < duration_s <= 366 * 86_400:
        raise ConfigError(f"--duration {duration_s:g}: give seconds above 0, a year at most")
    constellation = load_constellation(spec.constellation)
    start = start_of(spec, constellation)
    check_start(start)
    end = start + timedelta(seconds=duration_s)
    notes = orbit_path(spec.model_copy(update={"step_s": 1.0, "start": start}), 1.0).notes
    whole = (start.timestamp() - MARGIN_S, end.timestamp() + MARGIN_S)
    found = constellation.passes(
        whole, spec.terminal.coordinates, spec.min_elevation_deg, spec.gso_avoidance_deg
    )
    within = (found["set_unix_s"] > start.timestamp()) & (found["rise_unix_s"] < end.timestamp())
    within &= usable(spec, constellation, start)[found["satellite"].astype(int)]
    names = constellation.names
    shown = []
    for row in within.nonzero()[0][:first].tolist():
        satellite = int(found["satellite"][row])
        top_s = float(found["culmination_unix_s"][row])
        look = constellation.look_angles(top_s, spec.terminal.coordinates)
        shown.append(
            Pass(
                satellite=names[satellite],
                rise=_edge(found["rise_unix_s"][row], whole[0]),
                culmination=datetime.fromtimestamp(top_s, UTC),
                azimuth_deg=float(look["azimuth_deg"][satellite]),
                elevation_deg=float(found["culmination_deg"][row]),
                set=_edge(found["set_unix_s"][row], whole[1]),
            )
        )
    return Passes(start, end, int(within.sum()), tuple(shown), notes)


def _edge(unix_s: float, cut_s: float) -> datetime | None:
    return None if abs(unix_s - cut_s) < 1e-3 else datetime.fromtimestamp(float(unix_s), UTC)
