"""Sources of samples, a kind a file: each has options, a schema of series, and a way to run.

A new one is a file with a subclass of :class:`~.source.Source` and its name in :data:`AnySource`.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from skyweave.triggers.sources.dish import Dish, Movement, Serving
from skyweave.triggers.sources.probes import Probes
from skyweave.triggers.sources.satellites import Satellites
from skyweave.triggers.sources.source import Keep, Series, Source, Warn
from skyweave.triggers.sources.weather import Weather

AnySource = Annotated[
    Probes | Dish | Movement | Serving | Satellites | Weather, Field(discriminator="kind")
]
KINDS: dict[str, type[Source]] = {
    "probes": Probes, "dish": Dish, "movement": Movement, "serving": Serving,
    "satellites": Satellites, "weather": Weather,
}  # fmt: skip

__all__ = [
    "KINDS", "AnySource", "Dish", "Keep", "Movement", "Probes", "Satellites", "Series", "Serving",
    "Source", "Warn", "Weather",
]  # fmt: skip
