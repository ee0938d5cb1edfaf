"""Outlines of land for maps: Natural Earth, 1:110m, in the public domain.

``coastlines.json`` states its source; ``scripts/coastlines.py`` makes it.
"""

from __future__ import annotations

import json
from functools import cache
from importlib import resources

import numpy as np
import numpy.typing as npt


@cache
def outlines() -> tuple[npt.NDArray[np.float64], ...]:
    """Closed outlines, rows of latitude and longitude in degrees; the sphere has no seam."""
    text = (resources.files("skyweave.orbit") / "coastlines.json").read_text(encoding="utf-8")
    flat = json.loads(text)["outlines"]
    return tuple(np.array(one, dtype=float).reshape(-1, 2)[:, ::-1] / 10 for one in flat)
