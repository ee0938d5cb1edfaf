"""Satellites in view as a source: what element sets say of the sky over a place now."""

from __future__ import annotations

import threading
import time
from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field

from skyweave._skyweave import Constellation
from skyweave.orbit.catalogue import load_constellation
from skyweave.orbit.path import STALE_DAYS
from skyweave.orbit.places import Place
from skyweave.triggers.sources.source import Every, Keep, Series, Source, Warn, pace


class Satellites(Source):
    """The sky over a terminal, computed."""

    kind: Literal["satellites"]
    terminal: Place
    constellation: str
    """A built-in name, or a file of elements of the day."""
    min_elevation_deg: Annotated[float, Field(ge=0, lt=90)] = 25.0
    every_s: Every = 5.0

    offers: ClassVar[dict[str, Series]] = {
        "visible": Series("number", "satellites above the least elevation"),
        "highest_deg": Series("number", "elevation of the highest; without one: nothing"),
        "nearest_km": Series("number", "distance of the nearest; without one: nothing"),
        "age_days": Series("number", "how old the elements are: SGP4 drifts by kilometres in days"),
    }

    def run(self, keep: Keep, stop: threading.Event, warn: Warn) -> None:
        """Look at the sky; see :class:`~skyweave.triggers.sources.source.Source`."""
        sky = load_constellation(self.constellation)

        def look() -> None:
            now = time.time()
            found = self._seen(sky, now)
            if (found["age_days"] or 0.0) > STALE_DAYS:
                warn(f"{self.constellation}: elements older than {STALE_DAYS:g} days are rough")
            keep(now, found)

        pace(self.every_s, stop, look)

    def _seen(self, sky: Constellation, unix_s: float) -> dict[str, float | None]:
        """Return what is in view at a moment."""
        look = sky.look_angles(unix_s, self.terminal.coordinates)
        above = look["elevation_deg"] >= self.min_elevation_deg
        some = bool(above.any())
        return {
            "visible": float(above.sum()),
            "highest_deg": float(look["elevation_deg"][above].max()) if some else None,
            "nearest_km": float(look["range_km"][above].min()) if some else None,
            "age_days": float(np.median(sky.ages_days(unix_s))),
        }
