"""The weather as a source: the ``current`` table of an answer in Open-Meteo's format (JSON)."""

from __future__ import annotations

import json
import math
import threading
import time
import urllib.request
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from skyweave.errors import DataError
from skyweave.model.files import read_regular
from skyweave.model.validated import complaint
from skyweave.printing import visible
from skyweave.triggers.sources.source import Keep, Series, Source, Warn, pace

MOST_BYTES = 256 * 1024
"""The longest answer that is read."""
TIMEOUT_S = 10.0
FIELDS = {
    "temperature_c": "temperature_2m",
    "precipitation_mm": "precipitation",
    "rain_mm": "rain",
    "snowfall_cm": "snowfall",
    "cloud_percent": "cloud_cover",
    "wind_kmh": "wind_speed_10m",
}
"""Series, and what Open-Meteo calls them; units are its defaults."""


class Weather(Source):
    """A weather report, read again and again from a file or a URL."""

    kind: Literal["weather"]
    file: str | None = None
    url: Annotated[str, Field(max_length=2000, pattern="^https?://")] | None = None
    every_s: Annotated[float, Field(ge=10, le=86_400, allow_inf_nan=False)] = 600.0

    offers: ClassVar[dict[str, Series]] = {
        "temperature_c": Series("number", "2 m above the ground"),
        "precipitation_mm": Series("number", "rain, showers and snow of the last interval"),
        "rain_mm": Series("number", "rain of the last interval"),
        "snowfall_cm": Series("number", "snow of the last interval"),
        "cloud_percent": Series("number", "share of the sky that is covered"),
        "wind_kmh": Series("number", "10 m above the ground"),
    }

    @model_validator(mode="after")
    def _has_one_place(self) -> Self:
        if (self.file is None) == (self.url is None):
            raise complaint("kind", "give either file or url")
        return self

    def run(self, keep: Keep, stop: threading.Event, warn: Warn) -> None:
        """Read reports; see :class:`~skyweave.triggers.sources.source.Source`."""

        def look() -> None:
            try:
                keep(time.time(), self.read())
            except DataError as error:
                warn(str(error))

        pace(self.every_s, stop, look)

    def read(self) -> dict[str, float | None]:
        """Return the report that is there now; :class:`DataError` if there is none."""
        where = self.file if self.file is not None else str(self.url)
        try:
            if self.file is not None:
                body = read_regular(Path(self.file), MOST_BYTES)
            else:
                with urllib.request.urlopen(where, timeout=TIMEOUT_S) as answer:
                    body = answer.read(MOST_BYTES + 1)
        except (OSError, ValueError) as error:
            why = visible(str(error))[:200]
            raise DataError(f"{where}: no weather available ({why}); check file or url") from None
        return parse(body, where)


def parse(body: bytes, where: str) -> dict[str, float | None]:
    """Read a report; what is missing or no finite number is null.

    Raises :class:`DataError` for what is no report at all.
    """
    try:
        if len(body) > MOST_BYTES:
            raise ValueError(f"more than {MOST_BYTES:,} bytes")
        current: Any = json.loads(body)["current"]
        found = {name: _number(current.get(field)) for name, field in FIELDS.items()}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise DataError(
            f"{where}: is no weather report; give JSON with a table 'current', as Open-Meteo has it"
        ) from None
    return found


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value) if math.isfinite(value) else None
    except OverflowError:
        return None
