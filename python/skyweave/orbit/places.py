"""Places on the Earth: a name that is known, or coordinates."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import Field, model_validator

from skyweave.errors import suggest
from skyweave.model.validated import StudyModel

# City centres to a hundredth of a degree, about 1 km.
PLACES: dict[str, tuple[float, float]] = {
    "accra": (5.56, -0.20),
    "amsterdam": (52.37, 4.90),
    "anchorage": (61.22, -149.90),
    "auckland": (-36.85, 174.76),
    "bangalore": (12.97, 77.59),
    "barcelona": (41.39, 2.17),
    "berlin": (52.52, 13.40),
    "bogota": (4.71, -74.07),
    "boston": (42.36, -71.06),
    "brussels": (50.85, 4.35),
    "cape-town": (-33.92, 18.42),
    "chicago": (41.88, -87.63),
    "copenhagen": (55.68, 12.57),
    "dallas": (32.78, -96.80),
    "denver": (39.74, -104.99),
    "dubai": (25.20, 55.27),
    "dublin": (53.35, -6.26),
    "edinburgh": (55.95, -3.19),
    "frankfurt": (50.11, 8.68),
    "helsinki": (60.17, 24.94),
    "hong-kong": (22.32, 114.17),
    "honolulu": (21.31, -157.86),
    "jakarta": (-6.21, 106.85),
    "johannesburg": (-26.20, 28.05),
    "lagos": (6.52, 3.38),
    "lima": (-12.05, -77.04),
    "lisbon": (38.72, -9.14),
    "london": (51.51, -0.13),
    "los-angeles": (34.05, -118.24),
    "madrid": (40.42, -3.70),
    "manila": (14.60, 120.98),
    "mexico-city": (19.43, -99.13),
    "miami": (25.76, -80.19),
    "milan": (45.46, 9.19),
    "montreal": (45.50, -73.57),
    "mumbai": (19.08, 72.88),
    "nairobi": (-1.29, 36.82),
    "new-york": (40.71, -74.01),
    "osaka": (34.69, 135.50),
    "oslo": (59.91, 10.75),
    "osnabrueck": (52.28, 8.05),
    "paris": (48.86, 2.35),
    "perth": (-31.95, 115.86),
    "prague": (50.08, 14.44),
    "reykjavik": (64.15, -21.94),
    "rome": (41.90, 12.50),
    "san-francisco": (37.77, -122.42),
    "santiago": (-33.45, -70.67),
    "sao-paulo": (-23.55, -46.63),
    "seattle": (47.61, -122.33),
    "seoul": (37.57, 126.98),
    "singapore": (1.35, 103.82),
    "stockholm": (59.33, 18.07),
    "sydney": (-33.87, 151.21),
    "taipei": (25.03, 121.57),
    "tokyo": (35.68, 139.69),
    "toronto": (43.65, -79.38),
    "vancouver": (49.28, -123.12),
    "victoria-bc": (48.43, -123.37),
    "vienna": (48.21, 16.37),
    "warsaw": (52.23, 21.01),
    "washington": (38.91, -77.04),
    "zurich": (47.38, 8.54),
}
_OTHER_SPELLINGS = {"osnabrück": "osnabrueck", "são-paulo": "sao-paulo", "zürich": "zurich"}


class Place(StudyModel):
    """A place: ``"chicago"``, ``"41.88,-87.63"``, ``"41.88,-87.63,180"`` or a table."""

    lat: Annotated[float, Field(ge=-90, le=90)]
    """Degrees, north positive (WGS84)."""
    lon: Annotated[float, Field(ge=-180, le=360)]
    """Degrees, east positive."""
    height_m: Annotated[float, Field(ge=-500, le=100_000)] = 0.0
    """Above the ellipsoid."""
    name: str = ""

    @model_validator(mode="before")
    @classmethod
    def _from_text(cls, value: Any) -> Any:
        return _parse(value) if isinstance(value, str) else value

    @property
    def coordinates(self) -> tuple[float, float, float]:
        """Latitude, longitude and height, as the core takes them."""
        return (self.lat, self.lon, self.height_m)

    def __str__(self) -> str:
        return self.name or f"{self.lat:g},{self.lon:g}"


def _parse(text: str) -> dict[str, Any]:
    """Return the fields of a place that is written as one word."""
    parts = text.split(",")
    if 2 <= len(parts) <= 3:
        try:
            numbers = [float(part) for part in parts]
        except ValueError:
            numbers = []
        if numbers:
            return dict(zip(("lat", "lon", "height_m"), numbers, strict=False))
    key = re.sub(r"[\s_-]+", "-", text.strip().casefold())
    key = _OTHER_SPELLINGS.get(key, key)
    if key not in PLACES:
        hint = suggest(key, PLACES)
        raise ValueError(f"no place is called '{text}'; {hint} (or give \"lat,lon\")")
    lat, lon = PLACES[key]
    return {"lat": lat, "lon": lon, "name": key}
