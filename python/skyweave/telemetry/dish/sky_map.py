"""Obstruction maps: pixels, directions, and the two frames that dishes draw them in.

A map is azimuthal-equidistant: the angle from its centre grows with the distance in pixels, up to
:data:`MAX_THETA_DEG` at the edge. ``FRAME_EARTH`` (dishes that stand still) has the zenith in its
centre and north at the top. ``FRAME_UT`` (dishes that move) has the dish's boresight in its centre
and turns with the body, whose attitude is the quaternion of the status.

Directions are unit vectors (north, east, down). What ``FRAME_UT`` looks like was fitted on
the maps of a moving dish (LEOViz's sample); ``FRAME_EARTH`` was never tried on a real one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from skyweave.telemetry.dish.errors import DishError

Frame = Literal["FRAME_UNKNOWN", "FRAME_EARTH", "FRAME_UT"]
Floats = npt.NDArray[np.float64]
Quaternion = tuple[float, float, float, float]
"""Scalar, x, y, z: turns the dish's body axes into north, east, down."""
SIZE = 123
"""Rows and columns of the maps of all dishes so far."""
MAX_THETA_DEG = 80.0
MOST_SIDE = 1024
UPRIGHT = np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, -1.0]])
"""The axes of ``FRAME_EARTH``: zenith in the centre, north at the top, east at the right."""


@dataclass(frozen=True)
class SkyMap:
    """One obstruction map; ``snr`` is -1 where nothing is known, else 0 (obstructed) to 1."""

    snr: Floats
    frame: Frame
    max_theta_deg: float = MAX_THETA_DEG

    @property
    def known(self) -> npt.NDArray[np.bool_]:
        """Pixels through which the dish has looked."""
        return np.asarray(self.snr >= 0)


def parse_map(message: Any) -> SkyMap:
    """Read a ``DishGetObstructionMapResponse``; :class:`DishError` for one that makes no sense."""
    rows, columns = int(message.num_rows), int(message.num_cols)
    if not (
        1 < rows <= MOST_SIDE and 1 < columns <= MOST_SIDE and rows * columns == len(message.snr)
    ):
        raise DishError(
            f"the obstruction map has {len(message.snr)} values for {rows} rows of {columns}; "
            "ask again, or record without --satellites"
        )
    snr = np.asarray(message.snr, dtype=np.float64).reshape(rows, columns)
    field = message.DESCRIPTOR.fields_by_name.get("map_reference_frame")
    frame: Frame = "FRAME_UNKNOWN"
    if field is not None:
        known = field.enum_type.values_by_number.get(message.map_reference_frame)
        if known is not None and known.name in ("FRAME_EARTH", "FRAME_UT"):
            frame = known.name
    theta = float(getattr(message, "max_theta_deg", 0.0))
    if not 0 < theta <= 180:
        theta = MAX_THETA_DEG
    return SkyMap(np.nan_to_num(snr, nan=-1.0), frame, theta)


def body_axes(quaternion: Quaternion) -> Floats:
    """Return the matrix whose columns are the dish's body axes in north, east, down.

    The third column is the boresight. The quaternion need not have length 1.
    """
    w, x, y, z = np.asarray(quaternion) / np.linalg.norm(quaternion)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )


def facing(azimuth_deg: float, elevation_deg: float) -> Quaternion:
    """Return the attitude of a dish whose boresight points there; azimuth 0: tilted northwards."""
    half = np.radians(90 - elevation_deg) / 2
    azimuth = np.radians(azimuth_deg)
    w, x, y = np.cos(half), np.sin(half) * np.sin(azimuth), -np.sin(half) * np.cos(azimuth)
    root = np.sqrt(0.5)  # the tilt, times the turn of LEVEL (0, root, -root, 0)
    return (-root * (x - y), root * w, -root * w, -root * (x + y))


def axes_of(frame: Frame, quaternion: Quaternion | None) -> Floats | None:
    """Return the axes that a map is drawn about; None where they are not known."""
    if frame == "FRAME_EARTH":
        return UPRIGHT
    if frame == "FRAME_UT" and quaternion is not None and np.linalg.norm(quaternion) > 0.5:
        return body_axes(quaternion)
    return None


def directions(
    rows: npt.ArrayLike, columns: npt.ArrayLike, axes: Floats, side: int = SIZE,
    max_theta_deg: float = MAX_THETA_DEG,
) -> Floats:  # fmt: skip
    """Return the direction of each pixel; shape (n, 3)."""
    centre = (side - 1) / 2
    down = np.asarray(rows, dtype=np.float64) - centre
    right = np.asarray(columns, dtype=np.float64) - centre
    theta = np.radians(np.hypot(down, right) * max_theta_deg / centre)
    turn = np.arctan2(right, down)
    in_body = np.stack(
        [-np.sin(theta) * np.sin(turn), -np.sin(theta) * np.cos(turn), np.cos(theta)], axis=-1
    )
    return np.asarray(in_body @ axes.T)


def pixels(
    towards: Floats, axes: Floats, side: int = SIZE, max_theta_deg: float = MAX_THETA_DEG
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return row and column of each direction, the reverse of :func:`directions`; -1 outside."""
    centre = (side - 1) / 2
    body = np.atleast_2d(towards) @ axes
    theta = np.degrees(np.arccos(np.clip(body[:, 2], -1, 1)))
    turn = np.arctan2(-body[:, 0], -body[:, 1])
    radius = theta * centre / max_theta_deg
    rows = np.rint(centre + radius * np.cos(turn)).astype(np.int64)
    columns = np.rint(centre + radius * np.sin(turn)).astype(np.int64)
    outside = (theta > max_theta_deg) | (rows < 0) | (columns < 0)
    outside |= (rows >= side) | (columns >= side)
    return np.where(outside, -1, rows), np.where(outside, -1, columns)


def direction(azimuth_deg: npt.ArrayLike, elevation_deg: npt.ArrayLike) -> Floats:
    """Return unit vectors (north, east, down) of azimuths and elevations; shape (n, 3)."""
    azimuth, elevation = np.radians(azimuth_deg), np.radians(elevation_deg)
    level = np.cos(elevation)
    return np.stack([level * np.cos(azimuth), level * np.sin(azimuth), -np.sin(elevation)], axis=-1)
