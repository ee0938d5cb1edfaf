"""What a synthetic drive is made from: a TOML file in which every number says where it is from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, Self

import numpy as np
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from skyweave.errors import ConfigError, suggest
from skyweave.model.drive import Values
from skyweave.model.parsing import read_toml

FOLDER = Path(__file__).parent / "presets"
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
NonNegative = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Checked(BaseModel):
    """Read from TOML: unknown keys are refused, nothing changes later."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Point(Checked):
    """One quantile: ``value`` (Mbit/s or ms) at share ``p``, and where it is from."""

    p: Share
    value: NonNegative
    source: str = Field(min_length=1)


class Dynamics(Checked):
    """How a Gaussian latent moves: unit variance, split over parts.

    ``slot_weight`` is redrawn at each 15 s slot; each of ``weights`` is an AR(1) with the time
    constant of the same place in ``taus_s``. All weights together are 1. Slot edges of a drive lie
    off the second of its clock by one draw, uniform over ``edge_spread_s`` about it, and the second
    that an edge divides has the mean of both levels: clocks of measured drives err, and a rate over
    a second knows no sharper edge. 0: all edges on the second.
    """

    slot_weight: Share = 0.0
    edge_spread_s: Annotated[float, Field(ge=0, le=2, allow_inf_nan=False)] = 0.0
    taus_s: tuple[Positive, ...] = ()
    weights: tuple[Share, ...] = ()
    source: str = Field(min_length=1)

    @model_validator(mode="after")
    def _sums_to_one(self) -> Self:
        if len(self.taus_s) != len(self.weights):
            raise ValueError("taus_s and weights differ in length")
        total = self.slot_weight + sum(self.weights)
        if abs(total - 1) > 1e-6:
            raise ValueError(f"slot_weight and weights sum to {total:g}, not 1")
        return self


def _rising(points: tuple[Point, ...]) -> tuple[Point, ...]:
    shares = [point.p for point in points]
    values = [point.value for point in points]
    if shares[0] != 0 or shares[-1] != 1:
        raise ValueError("quantiles begin at p = 0 and end at p = 1")
    if shares != sorted(set(shares)) or values != sorted(values):
        raise ValueError("quantiles rise in p and never fall in value")
    return points


Table = Annotated[tuple[Point, ...], Field(min_length=2), AfterValidator(_rising)]
"""A quantile function by points from p = 0 to p = 1."""


def at(table: Table, share: Values) -> Values:
    """The quantile function of a table, linear between the points; shape of ``share``."""
    return np.interp(share, [point.p for point in table], [point.value for point in table])


class Coverage(Checked):
    """The level of a stretch of road, about which the seconds of a run move.

    The level has a latent of its own: an AR(1) of time constant ``tau_s`` that follows the common
    coverage of all paths as strongly as ``loading`` says. A second's value is the level times
    ``relative`` (a table of ratios to the mean of the run, read at the quantity's own latent, which
    is exp(-``calming``·z) times as wide where coverage is z: good runs are steadier). Quantities
    that are coupled to this one see both latents, coverage with the share ``weight`` of the
    variance.
    """

    tau_s: Positive
    loading: Annotated[float, Field(ge=-1, le=1)] = 0.0
    weight: Share
    calming: NonNegative = 0.0
    relative: Table
    source: str = Field(min_length=1)


class RunMeans(Checked):
    """Quantiles over the means of runs of ``run_s`` seconds, outages included: an input."""

    run_s: Positive
    quantiles: Table


class Quantity(Checked):
    """Distribution and movement of one quantity.

    Without ``coverage``, ``quantiles`` are of seconds, outages included. With it they are of the
    levels of stretches of road, outages apart, and are what ``skyweave data calibrate`` derives
    from ``target_run_means``.
    """

    quantiles: Table
    dynamics: Dynamics
    coupling: Annotated[float, Field(ge=-1, le=1)] = 0.0
    """Correlation of the latent with that of the path's downlink."""
    coverage: Coverage | None = None
    target_run_means: RunMeans | None = None

    @model_validator(mode="after")
    def _target_has_levels(self) -> Self:
        if self.target_run_means and not self.coverage:
            raise ValueError("target_run_means needs coverage: seconds alone do not give run means")
        if self.target_run_means:
            wanted = [point.p for point in self.target_run_means.quantiles]
            if wanted != [point.p for point in self.quantiles]:
                raise ValueError("target_run_means and quantiles differ in p")
        return self

    def at(self, share: Values) -> Values:
        """The quantile function, linear between the points; shape of ``share``."""
        return at(self.quantiles, share)


class Outage(Checked):
    """Stretches in which a path delivers nothing, both directions at once.

    They take ``share`` of all seconds; their lengths in seconds are drawn from ``durations_s``
    (equally likely), the gaps between them are exponential. Where the path has coverage z (a
    standard normal), outages begin exp(-``coverage_slope``·z) times as often as at z = 0.
    """

    share: Annotated[float, Field(ge=0, lt=1)]
    durations_s: tuple[Positive, ...] = (1.0,)
    coverage_slope: NonNegative = 0.0
    source: str = Field(min_length=1)


class Loss(Checked):
    """Share of packets lost by the radio: ``base``, and ``boundary`` in slot-boundary seconds.

    A slot boundary is lossy with probability ``boundary_share``.
    """

    base: Share
    boundary: Share = 0.0
    boundary_share: Share = 0.0
    source: str = Field(min_length=1)


class PathPreset(Checked):
    """One path. ``shared_loading`` is how strongly its slow parts follow the common factor that
    all paths of the preset see (0: not at all)."""

    kind: Literal["starlink", "cellular"]
    shared_loading: Annotated[float, Field(ge=-1, le=1)] = 0.0
    outage: Outage
    downlink_mbps: Quantity
    uplink_mbps: Quantity
    rtt_ms: Quantity
    loss_ratio: Loss

    @model_validator(mode="after")
    def _outage_fits(self) -> Self:
        if self.outage.coverage_slope and not self.downlink_mbps.coverage:
            raise ValueError("outage: coverage_slope needs a downlink with coverage")
        for name in ("uplink_mbps", "rtt_ms"):
            if getattr(self, name).coverage:
                raise ValueError(f"{name}: only the downlink has coverage; others couple to it")
        for name in ("downlink_mbps", "uplink_mbps"):
            quantity: Quantity = getattr(self, name)
            for point in () if quantity.coverage else quantity.quantiles:
                if point.p < self.outage.share and point.value > 0:
                    raise ValueError(f"{name}: p = {point.p:g} lies in the outage share, not 0")
        return self


class Preset(Checked):
    """A region or data set from which drives are synthesised, 1 s a sample."""

    name: str = Field(pattern=r"^[a-z][a-z0-9_-]*$")
    title: str
    note: str
    common_outage: Outage | None = None
    """Outages of all cellular paths at once; part of each one's own share."""
    paths: dict[str, PathPreset] = Field(min_length=1)

    @model_validator(mode="after")
    def _common_is_part(self) -> Self:
        common = self.common_outage.share if self.common_outage else 0.0
        for name, path in self.paths.items():
            if path.kind == "cellular" and path.outage.share < common:
                raise ValueError(f"common_outage takes more than the outages of {name}")
        return self


def preset_names() -> list[str]:
    """The presets that come with Skyweave."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def load_preset(name: str | Path) -> Preset:
    """A preset by name, or from a TOML file. Raises :class:`ConfigError`."""
    place = Path(name)
    if place.suffix != ".toml":
        place = FOLDER / f"{name}.toml"
        if str(name) not in preset_names():
            hint = suggest(str(name), preset_names())
            raise ConfigError(f"preset '{name}' is unknown; {hint}")
    _, content = read_toml(place)
    try:
        return Preset.model_validate(content)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "preset"
        raise ConfigError(f"{place}: {where}: {first['msg']}; correct it") from None


def preset_text(preset: Preset) -> str:
    """The preset as TOML, one number a line with its source, as :func:`load_preset` reads it."""
    lines = [f"{key} = {_text(getattr(preset, key))}" for key in ("name", "title", "note")]
    if preset.common_outage:
        lines += record_lines("common_outage", preset.common_outage)
    for name, path in preset.paths.items():
        lines += ["", f"[paths.{name}]", f'kind = "{path.kind}"']
        lines.append(f"shared_loading = {path.shared_loading:g}")
        lines += record_lines(f"paths.{name}.outage", path.outage)
        lines += record_lines(f"paths.{name}.loss_ratio", path.loss_ratio)
        for key in ("downlink_mbps", "uplink_mbps", "rtt_ms"):
            lines += _quantity(f"paths.{name}.{key}", getattr(path, key))
    return "\n".join(lines) + "\n"


def _quantity(header: str, quantity: Quantity) -> list[str]:
    lines = ["", f"[{header}]", f"coupling = {quantity.coupling:g}"]
    lines += point_lines("quantiles", quantity.quantiles)
    if quantity.target_run_means:
        lines += record_lines(f"{header}.target_run_means", quantity.target_run_means)
    if quantity.coverage:
        lines += record_lines(f"{header}.coverage", quantity.coverage)
    return lines + record_lines(f"{header}.dynamics", quantity.dynamics)


def record_lines(header: str, model: BaseModel) -> list[str]:
    """A table of TOML with the fields of a model, points one a line."""
    lines = ["", f"[{header}]"]
    for key in type(model).model_fields:
        value = getattr(model, key)
        if isinstance(value, str):
            lines.append(f"{key} = {_text(value)}")
        elif isinstance(value, tuple) and isinstance(value[0] if value else None, Point):
            lines += point_lines(key, value)
        elif isinstance(value, tuple):
            lines.append(f"{key} = [{', '.join(f'{v:.6g}' for v in value)}]")
        elif key not in ("coverage_slope", "edge_spread_s") or value:
            lines.append(f"{key} = {value:.6g}")
    return lines


def point_lines(key: str, points: tuple[Point, ...]) -> list[str]:
    """A list of quantiles in TOML, one a line."""
    shown = [
        f"  {{ p = {q.p:g}, value = {q.value:g}, source = {_text(q.source)} }}," for q in points
    ]
    return [f"{key} = [", *shown, "]"]


def _text(value: str) -> str:
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ").strip() + '"'
