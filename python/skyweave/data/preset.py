"""What a synthetic drive is made from: a TOML file in which every number says where it is from."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated, Literal, Self

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from skyweave.drive import Values
from skyweave.errors import ConfigError, suggest

FOLDER = Path(__file__).parent / "presets"
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
NonNegative = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Point(_Model):
    """One quantile: ``value`` (Mbit/s or ms) at share ``p``, and where it is from."""

    p: Share
    value: NonNegative
    source: str = Field(min_length=1)


class Dynamics(_Model):
    """How a Gaussian latent moves: unit variance, split over parts.

    ``slot_weight`` is redrawn at each 15 s slot; each of ``weights`` is an AR(1) with the time
    constant of the same place in ``taus_s``. All weights together are 1.
    """

    slot_weight: Share = 0.0
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


class Quantity(_Model):
    """Marginal distribution (over all seconds, outages included) and movement of one quantity."""

    quantiles: tuple[Point, ...] = Field(min_length=2)
    dynamics: Dynamics
    coupling: Annotated[float, Field(ge=-1, le=1)] = 0.0
    """Correlation of the latent with that of the path's downlink."""

    @model_validator(mode="after")
    def _rises(self) -> Self:
        shares = [point.p for point in self.quantiles]
        values = [point.value for point in self.quantiles]
        if shares[0] != 0 or shares[-1] != 1:
            raise ValueError("quantiles begin at p = 0 and end at p = 1")
        if shares != sorted(set(shares)) or values != sorted(values):
            raise ValueError("quantiles rise in p and never fall in value")
        return self

    def at(self, share: Values) -> Values:
        """The quantile function, linear between the points; shape of ``share``."""
        known = [point.p for point in self.quantiles]
        return np.interp(share, known, [point.value for point in self.quantiles])


class Outage(_Model):
    """Stretches in which a path delivers nothing, both directions at once.

    They take ``share`` of all seconds; their lengths in seconds are drawn from ``durations_s``
    (equally likely), the gaps between them are exponential.
    """

    share: Annotated[float, Field(ge=0, lt=1)]
    durations_s: tuple[Positive, ...] = (1.0,)
    source: str = Field(min_length=1)


class Loss(_Model):
    """Share of packets lost by the radio: ``base``, and ``boundary`` in slot-boundary seconds.

    A slot boundary is lossy with probability ``boundary_share``.
    """

    base: Share
    boundary: Share = 0.0
    boundary_share: Share = 0.0
    source: str = Field(min_length=1)


class PathPreset(_Model):
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
        for name in ("downlink_mbps", "uplink_mbps"):
            for point in getattr(self, name).quantiles:
                if point.p < self.outage.share and point.value > 0:
                    raise ValueError(f"{name}: p = {point.p:g} lies in the outage share, not 0")
        return self


class Preset(_Model):
    """A region or data set from which drives are synthesised, 1 s a sample."""

    name: str = Field(pattern=r"^[a-z][a-z0-9_-]*$")
    title: str
    note: str
    paths: dict[str, PathPreset] = Field(min_length=1)


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
    try:
        with place.open("rb") as file:
            return Preset.model_validate(tomllib.load(file))
    except OSError as error:
        raise ConfigError(f"{place}: cannot be read ({error.strerror}); check the path") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{place}: is not TOML ({error}); correct that line") from None
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "preset"
        raise ConfigError(f"{place}: {where}: {first['msg']}; correct it") from None


def preset_text(preset: Preset) -> str:
    """The preset as TOML, one number a line with its source, as :func:`load_preset` reads it."""
    lines = [f"{key} = {_text(getattr(preset, key))}" for key in ("name", "title", "note")]
    for name, path in preset.paths.items():
        lines += ["", f"[paths.{name}]", f'kind = "{path.kind}"']
        lines.append(f"shared_loading = {path.shared_loading:g}")
        lines += _record(f"paths.{name}.outage", path.outage)
        lines += _record(f"paths.{name}.loss_ratio", path.loss_ratio)
        for key in ("downlink_mbps", "uplink_mbps", "rtt_ms"):
            quantity: Quantity = getattr(path, key)
            lines += ["", f"[paths.{name}.{key}]", f"coupling = {quantity.coupling:g}"]
            lines.append("quantiles = [")
            lines += [
                f"  {{ p = {q.p:g}, value = {q.value:g}, source = {_text(q.source)} }},"
                for q in quantity.quantiles
            ]
            lines.append("]")
            lines += _record(f"paths.{name}.{key}.dynamics", quantity.dynamics)
    return "\n".join(lines) + "\n"


def _record(header: str, model: BaseModel) -> list[str]:
    lines = ["", f"[{header}]"]
    for key, value in model.model_dump().items():
        if isinstance(value, str):
            lines.append(f"{key} = {_text(value)}")
        elif isinstance(value, tuple):
            lines.append(f"{key} = [{', '.join(f'{v:.6g}' for v in value)}]")
        else:
            lines.append(f"{key} = {value:.6g}")
    return lines


def _text(value: str) -> str:
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ").strip() + '"'
