"""What a study file says about a path through satellites."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from skyweave.model.validated import StudyModel, complaint
from skyweave.orbit.places import Place

Degrees = Annotated[float, Field(ge=0, le=90)]
Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Policy = Literal["highest-elevation", "longest-visibility", "shortest-path", "random"]


class OrbitSpec(StudyModel):
    """A terminal, the satellites over it, and the way behind them."""

    constellation: str = "starlink"
    """A built-in constellation or shell, or a file of elements (.tle, .txt, .json, .csv; .gz)."""
    terminal: Place
    to: Place | None = None
    """The far end of links between satellites (via = "isl")."""
    gateways: tuple[Place, ...] | str = ()
    """Places, or a CSV file with the columns name, lat, lon (via = "gateway")."""
    via: Literal["gateway", "isl"] = "gateway"
    start: datetime | None = None
    """UTC of second 0. Without it, a whole minute: for a file after the median epoch of its
    elements, for a built-in constellation its epoch, 2025-01-01."""
    min_elevation_deg: Degrees = 25.0
    gateway_min_elevation_deg: Degrees = 25.0
    """The mask of the gateways, or of the far end."""
    gso_avoidance_deg: Degrees = 0.0
    """The angle that the terminal keeps from the geostationary arc."""
    policy: Policy = "highest-elevation"
    slot_s: Annotated[float, Field(ge=0.1, allow_inf_nan=False)] | None = 15.0
    """Satellites change at slot edges; ``"none"``: when they are lost, looked at each step."""
    slot_offset_s: Seconds = 12.0
    """Slots begin where Unix time leaves this remainder: at :12, :27, :42 and :57."""
    gap_s: Seconds = 0.0
    """How long nothing gets through after a handover."""
    acceleration: Annotated[float, Field(ge=1e-3, le=1e5)] = 1.0
    """The satellites move this many times faster; slots, gaps and steps stay in run seconds."""
    step_s: Annotated[float, Field(ge=1e-3, allow_inf_nan=False)] = 1.0
    """Spacing of the series of RTTs, and how precisely the edges of outages are known."""
    extra_rtt_ms: Annotated[float, Field(ge=0, le=1e6)] = 0.0
    """Processing, scheduling, the way behind the gateway: added to the RTT of propagation."""
    isl_max_range_km: Annotated[float, Field(ge=1, le=100_000)] = 5000.0
    """The longest link between satellites (xeoverse: 5,000 km)."""
    isl_atmosphere_km: Annotated[float, Field(ge=0, le=1000)] = 80.0
    """Least height of links between satellites above the ground (Hypatia: 80 km)."""
    max_age_days: Annotated[float, Field(gt=0, le=1e6)] = 60.0
    """Elements farther than this from the run are not used."""

    @field_validator("slot_s", mode="before")
    @classmethod
    def _free(cls, value: Any) -> Any:
        return None if value == "none" else value  # TOML has no null

    @field_validator("gateways", mode="before")
    @classmethod
    def _is_file(cls, value: Any) -> Any:
        if isinstance(value, str) and not value.removesuffix(".gz").endswith(".csv"):
            raise ValueError(f"gateways = '{value}' is no CSV file; for places give a list")
        return value

    @field_validator("start")
    @classmethod
    def _in_utc(cls, value: datetime | None) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)

    @model_validator(mode="after")
    def _has_other_end(self) -> OrbitSpec:
        if self.via == "isl" and self.to is None:
            raise complaint("via", 'via = "isl" needs the far end: give to = "tokyo" or the like')
        if self.via == "gateway" and not self.gateways:
            raise complaint("via", 'via = "gateway" needs gateways: give places or a CSV file')
        return self
