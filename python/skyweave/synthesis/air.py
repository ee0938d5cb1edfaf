"""What the air does to packets beside the rate: round trips that vary, and losses.

A trace of rates says neither. The model adds both to a path by its kind, from pings of public sets
(``air.toml``, fitted by :mod:`skyweave.synthesis.airfit`): an excess over the path's least round
trip, drawn five times a second, and the share of packets lost by second, half of a lost ping's each
way. What grows with load is the link's own queue: where a set has pings beside a load (60 Mbit/s
down, FjordLink), neither excess nor loss is larger than without it.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal

import numpy as np
from pydantic import Field, ValidationError

from skyweave.data.metrics import SLOT_PHASE_S, SLOT_S
from skyweave.errors import ConfigError
from skyweave.model.drive import Series, Values
from skyweave.model.parsing import read_toml
from skyweave.synthesis.generator import autoregressive, normal_cdf, stream
from skyweave.synthesis.preset import Checked, Dynamics, Share, Table, at

FILE = Path(__file__).parent / "air.toml"
STEP_S = 0.2
"""Between two round trips: pings of PAM'25, the shortest that cellular sets have."""
AirKind = Literal["satellite", "cellular"]


class Excess(Checked):
    """Round trips above the least one, ms: a quantile table read at a Gaussian latent."""

    quantiles: Table
    dynamics: Dynamics


class Losses(Checked):
    """The share of pings lost by second; a packet meets half of it each way.

    ``lossy`` of all seconds lose ``ratio``; a lossy second is followed by another with probability
    ``stays``. Besides, each of seconds 12 and 13 of a 15 s slot is lossy with probability ``edge``.
    """

    lossy: Share
    ratio: Share
    stays: Share = 0.0
    edge: Share = 0.0
    source: str = Field(min_length=1)


class Air(Checked):
    """The air of one kind of network."""

    excess_ms: Excess
    losses: Losses


class _Airs(Checked):
    satellite: Air
    cellular: Air


@dataclass(frozen=True)
class Stretch:
    """What is drawn for: ``key`` and ``seed`` name the draws, ``clock`` the time of second 0."""

    key: str
    seed: int
    duration_s: float
    clock: datetime | None = None


@functools.cache
def load_airs(file: Path = FILE) -> dict[str, Air]:
    """The models by kind of network. Raises :class:`ConfigError` for a file that is none."""
    _, content = read_toml(file)
    try:
        airs = _Airs.model_validate(content)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise ConfigError(f"{file}: {where}: {first['msg']}; correct it") from None
    return {"satellite": airs.satellite, "cellular": airs.cellular}


def round_trips(air: Air, base_ms: float, stretch: Stretch) -> Series:
    """Unloaded round trips in ms each :data:`STEP_S`: the least one plus the excess."""
    count = math.ceil(stretch.duration_s / STEP_S)
    dynamics = air.excess_ms.dynamics
    latent = np.zeros(count)
    for tau_s, weight in zip(dynamics.taus_s, dynamics.weights, strict=True):
        rng = stream(stretch.seed, "air", stretch.key, f"excess/{tau_s:g}")
        latent += math.sqrt(weight) * autoregressive(rng, tau_s, count, STEP_S)
    values: Values = np.round(base_ms + at(air.excess_ms.quantiles, normal_cdf(latent)), 2)
    return Series(np.arange(count, dtype=float) * STEP_S, values)


def loss_ratios(air: Air, stretch: Stretch) -> Series:
    """The share of packets lost in one direction, by second."""
    losses, count = air.losses, math.ceil(stretch.duration_s)
    lossy = _lossy(losses, stretch, count)
    if losses.edge:
        second = stretch.clock.second if stretch.clock else 0
        at_edge = (second - SLOT_PHASE_S + np.arange(count)) % SLOT_S < 2
        lossy |= at_edge & (_draws(stretch, "edge", count) < losses.edge)
    return Series(np.arange(count, dtype=float), np.where(lossy, losses.ratio / 2, 0.0))


def _lossy(losses: Losses, stretch: Stretch, count: int) -> np.typing.NDArray[np.bool_]:
    """Which seconds are lossy: a Markov chain with two states, begun in its stationary one."""
    enters = losses.lossy * (1 - losses.stays) / (1 - losses.lossy) if losses.lossy < 1 else 1.0
    found = np.zeros(count, dtype=bool)
    for place, draw in enumerate(_draws(stretch, "lossy", count).tolist()):
        before = losses.lossy if place == 0 else losses.stays if found[place - 1] else enters
        found[place] = draw < before
    return found


def _draws(stretch: Stretch, purpose: str, count: int) -> Values:
    return stream(stretch.seed, "air", stretch.key, purpose).random(count)
