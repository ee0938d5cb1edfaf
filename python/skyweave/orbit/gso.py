"""The geostationary arc as a terminal sees it; what the core keeps clear of it is drawn here."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from skyweave.orbit.places import Place

Floats = npt.NDArray[np.float64]
GSO_RADIUS_KM = 42_164.2
"""As the core has it (ITU-R S.1503-3)."""


def gso_arc(site: Place) -> Floats:
    """Unit vectors (east, north, up) from a place to the arc above its horizon, west to east."""
    lat, lon = np.radians([site.lat, site.lon])
    up = np.array([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)])
    east = np.array([-np.sin(lon), np.cos(lon), 0.0])
    # WGS84 (NIMA TR8350.2): semi-major axis 6378.137 km, flattening 1/298.257223563.
    e2 = (2 - 1 / 298.257223563) / 298.257223563
    normal = 6378.137 / np.sqrt(1 - e2 * np.sin(lat) ** 2)
    height = site.height_m / 1e3
    here = (normal + height) * up - np.array([0, 0, normal * e2 * np.sin(lat)])
    angle = lon + np.radians(np.arange(-90, 90.1, 0.25))
    arc = np.column_stack((np.cos(angle), np.sin(angle), np.zeros_like(angle))) * GSO_RADIUS_KM
    line = arc - here
    line /= np.linalg.norm(line, axis=1, keepdims=True)
    seen = line @ np.column_stack((east, np.cross(up, east), up))
    return np.asarray(seen[seen[:, 2] > 0])


def angles_deg(arc: Floats, azimuth_deg: Floats, elevation_deg: Floats) -> Floats:
    """The angle between each direction and the nearest point of the arc; 180 without an arc."""
    flat = _direction(azimuth_deg, elevation_deg)
    if not len(arc):
        return np.full(flat.shape[:-1], 180.0)
    nearest = (flat @ arc.T).max(axis=-1)
    return np.asarray(np.degrees(np.arccos(np.clip(nearest, -1, 1))))


def _direction(azimuth_deg: Floats, elevation_deg: Floats) -> Floats:
    azimuth, elevation = np.radians(azimuth_deg), np.radians(elevation_deg)
    flat = np.cos(elevation)
    return np.stack((flat * np.sin(azimuth), flat * np.cos(azimuth), np.sin(elevation)), axis=-1)
