"""The Earth from straight above a point (orthographic projection), as far as a map needs it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Globe:
    """A view onto the point below; the Earth is a disc of radius 1."""

    lat: float
    lon: float

    def project(self, lat: Floats, lon: Floats) -> tuple[Floats, Floats, npt.NDArray[np.bool_]]:
        """Return x, y, and whether the point is on this side (Snyder 1987, equations 20-3 to 5)."""
        phi, away = np.radians(lat), np.radians(np.asarray(lon) - self.lon)
        sin0, cos0 = np.sin(np.radians(self.lat)), np.cos(np.radians(self.lat))
        x = np.cos(phi) * np.sin(away)
        y = cos0 * np.sin(phi) - sin0 * np.cos(phi) * np.cos(away)
        toward = sin0 * np.sin(phi) + cos0 * np.cos(phi) * np.cos(away)
        return x, y, toward >= 0

    def line(self, lat: Floats, lon: Floats) -> tuple[Floats, Floats]:
        """A line with what is on the far side left out (NaN)."""
        x, y, near = self.project(lat, lon)
        return np.where(near, x, np.nan), np.where(near, y, np.nan)

    def area(self, lat: Floats, lon: Floats) -> Floats | None:
        """A closed outline to be filled, rows of x and y; None if it is on the far side.

        Points of the far side move to the limb, straight outwards: what the disc shows is whole.
        """
        x, y, near = self.project(lat, lon)
        if not near.any():
            return None
        limb = np.where(near, 1.0, np.maximum(np.hypot(x, y), 1e-12))
        return np.column_stack((x / limb, y / limb))


def middle(points: list[tuple[float, float]]) -> tuple[float, float]:
    """The latitude and longitude in the middle of points on the sphere; the first if undefined."""
    total = sum(_vector(*point) for point in points)
    if np.linalg.norm(total) < 1e-6:
        return points[0]
    x, y, z = np.asarray(total) / np.linalg.norm(total)
    return float(np.degrees(np.arcsin(z))), float(np.degrees(np.arctan2(y, x)))


def great_circle(a: tuple[float, float], b: tuple[float, float]) -> tuple[Floats, Floats]:
    """Latitudes and longitudes along the shorter arc between two points, a step every degree."""
    u, v = _vector(*a), _vector(*b)
    angle = float(np.arccos(np.clip(u @ v, -1, 1)))
    if angle < 1e-9:
        return np.array([a[0], b[0]]), np.array([a[1], b[1]])
    share = np.linspace(0, 1, 2 + int(np.degrees(angle)))[:, None]
    x, y, z = ((np.sin((1 - share) * angle) * u + np.sin(share * angle) * v) / np.sin(angle)).T
    return np.degrees(np.arcsin(np.clip(z, -1, 1))), np.degrees(np.arctan2(y, x))


def graticule(spacing: int) -> Iterator[tuple[Floats, Floats]]:
    """Meridians and parallels, ``spacing`` degrees apart; meridians end short of the poles."""
    along = np.arange(-180.0, 181.0)
    for lat in range(-90 + spacing, 90, spacing):
        yield np.full(along.shape, float(lat)), along
    reach = np.arange(-90.0 + spacing, 91.0 - spacing)
    for lon in range(-180, 180, spacing):
        yield reach, np.full(reach.shape, float(lon))


def _vector(lat: float, lon: float) -> Floats:
    phi, lam = np.radians([lat, lon])
    return np.array([np.cos(phi) * np.cos(lam), np.cos(phi) * np.sin(lam), np.sin(phi)])
