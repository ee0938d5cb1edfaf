"""Synthetic drives: Starlink and cellular paths that move like measured ones.

Each quantity of a path is a Gaussian latent of unit variance, turned into Mbit/s or ms by a
quantile table. The latent is the sum of AR(1) parts with different time constants and, for
Starlink, a part that is redrawn at each 15 s slot (seconds 12, 27, 42, 57 of the minute). The slow
parts (:data:`SHARED_FROM_S` and slower) of several paths follow a common factor as strongly as
their ``shared_loading`` says. An on/off process takes the whole path out now and then.

A downlink with coverage is a product: the level of the stretch of road (a latent of its own, far
slower than a run) times how the seconds of a run lie about their mean. One latent for both cannot
have dead runs and lively good ones: a table steep enough for the first shakes the seconds of the
runs in between, and one flat enough for those has no dead runs.

Time is sampled each second: the sets that the presets are calibrated on are 1 s averages, and
anything finer would be invented. Every random source has a generator of its own, derived from
(seed, preset, path, purpose), so that adding a path never changes another one.
"""

from __future__ import annotations

import hashlib
import math
from datetime import UTC, datetime, timedelta
from itertools import accumulate

import numpy as np
import numpy.typing as npt

from skyweave.data.metrics import SLOT_PHASE_S, SLOT_S
from skyweave.errors import ConfigError
from skyweave.model.drive import Drive, PathTrace, Series, Values
from skyweave.model.limits import WEEK_S
from skyweave.synthesis.outages import outages
from skyweave.synthesis.preset import (
    Coverage,
    Dynamics,
    Loss,
    PathPreset,
    Preset,
    Quantity,
    at,
    load_preset,
)

SAMPLE_S = 1.0
SHARED_FROM_S = 20.0
"""Parts of a latent with at least this time constant follow the common factor (terrain, towns)."""
EPOCH = datetime(2024, 6, 21, 12, 0, 0, tzinfo=UTC)
"""Where the clock of synthetic drives starts, before the random second of each drive."""


def synthesise(preset: str | Preset, seed: int, duration_s: float = 600.0) -> Drive:
    """A drive of ``duration_s`` seconds (rounded up to whole ones) from a preset.

    The same preset, seed and duration give the same drive on every machine; a longer drive begins
    like a shorter one. ``Drive.start`` begins at a random second of the 15 s cycle and capacity
    jumps fall on its clock. Raises :class:`ConfigError` for unknown presets and useless numbers.
    """
    if isinstance(preset, str):
        preset = load_preset(preset)
    if seed < 0:
        raise ConfigError(f"seed {seed} is negative; give a whole number from 0")
    if not 0 < duration_s <= WEEK_S:
        raise ConfigError(
            f"duration_s {duration_s:g} makes no drive; give seconds above 0, a week at most"
        )
    count = math.ceil(duration_s / SAMPLE_S)
    start = _start(preset, seed)
    slots = slot_numbers(start, count + 1)
    return Drive(
        name=f"{preset.name}-{seed}",
        origin=f"synthetic: preset {preset.name}, seed {seed}",
        paths={
            name: SyntheticPath(preset, name, path, seed, slots).trace()
            for name, path in preset.paths.items()
        },
        start=start,
        synthetic=True,
    )


def _start(preset: Preset, seed: int) -> datetime:
    return EPOCH + timedelta(seconds=int(stream(seed, preset.name, "", "start").integers(60)))


def slot_numbers(start: datetime, count: int) -> npt.NDArray[np.int64]:
    """Which 15 s slot each second lies in, 0 for the first; shape (count,)."""
    clock = start.second - SLOT_PHASE_S + np.arange(count)
    return clock // SLOT_S - (start.second - SLOT_PHASE_S) // SLOT_S


def drive_path(preset: Preset, name: str, seed: int, count: int) -> SyntheticPath:
    """The draws of one path of the drive of ``seed`` and ``count`` seconds."""
    return SyntheticPath(
        preset, name, preset.paths[name], seed, slot_numbers(_start(preset, seed), count + 1)
    )


class SyntheticPath:
    """The draws of one path; each method uses a generator of its own.

    ``slots``: the slot of each second, and of the one after the last.
    """

    def __init__(
        self, preset: Preset, name: str, path: PathPreset, seed: int, slots: npt.NDArray[np.int64]
    ) -> None:
        self.preset, self.name, self.path, self.seed = preset, name, path, seed
        self.slots, self.next_slots = slots[:-1], slots[1:]
        self.count = len(self.slots)

    def trace(self) -> PathTrace:
        """All series of the path on the times 0, 1, 2, … s."""
        path = self.path
        downlink, base, up = self.downlink()
        uplink = self.rate(path.uplink_mbps, self.coupled("uplink", path.uplink_mbps, base))
        rtt_ms = path.rtt_ms.at(normal_cdf(self.coupled("rtt", path.rtt_ms, base)))
        times_s = np.arange(self.count, dtype=float) * SAMPLE_S
        return PathTrace(
            downlink_mbps=Series(times_s, downlink * up),
            uplink_mbps=Series(times_s, uplink * up),
            rtt_ms=Series(times_s, np.round(rtt_ms, 3)),
            loss_ratio=Series(times_s, self.loss(path.loss_ratio)),
        )

    def downlink(self) -> tuple[Values, Values, npt.NDArray[np.bool_]]:
        """Mbit/s outside of outages, the latent that other quantities see, and where it is up."""
        down = self.path.downlink_mbps
        within = self.latent("downlink", down.dynamics, shared=True)
        if down.coverage is None:
            return self.rate(down, within), within, ~self.outages(None)
        cover = self.coverage(down.coverage)
        seen = math.sqrt(down.coverage.weight) * cover
        seen += math.sqrt(1 - down.coverage.weight) * within
        rate = whole_kbits(down.at(normal_cdf(cover)) * relative(down.coverage, cover, within))
        return rate, seen, ~self.outages(cover)

    def coverage(self, coverage: Coverage) -> Values:
        """The latent of the road's coverage, part of which all paths share; shape (count,)."""
        own = autoregressive(self.rng("coverage"), coverage.tau_s, self.count)
        common = stream(self.seed, self.preset.name, "", f"coverage/{coverage.tau_s:g}")
        factor = autoregressive(common, coverage.tau_s, self.count)
        return coverage.loading * factor + math.sqrt(1 - coverage.loading**2) * own

    def rng(self, purpose: str) -> np.random.Generator:
        """The generator of one purpose of this path."""
        return stream(self.seed, self.preset.name, self.name, purpose)

    def latent(self, purpose: str, dynamics: Dynamics, shared: bool = False) -> Values:
        """A standard normal latent with the given movement; shape (count,)."""
        total = np.zeros(self.count)
        if dynamics.slot_weight:
            total += math.sqrt(dynamics.slot_weight) * self.slot_levels(purpose, dynamics)
        for tau_s, weight in zip(dynamics.taus_s, dynamics.weights, strict=True):
            part = autoregressive(self.rng(f"{purpose}/{tau_s:g}"), tau_s, self.count)
            loading = self.path.shared_loading
            if shared and loading and tau_s >= SHARED_FROM_S:
                common = stream(self.seed, self.preset.name, "", f"common/{tau_s:g}")
                factor = autoregressive(common, tau_s, self.count)
                part = loading * factor + math.sqrt(1 - loading**2) * part
            total += math.sqrt(weight) * part
        return total

    def slot_levels(self, purpose: str, dynamics: Dynamics) -> Values:
        """The part of a latent that each slot draws anew; shape (count,).

        The edges of a path lie a part of a second off, the same for all of its quantities; a second
        with an edge in it has the mean of both slots.
        """
        draws = self.rng(f"{purpose}/slots").standard_normal(int(self.next_slots[-1]) + 1)
        levels = draws[self.slots]
        if not dynamics.edge_spread_s:
            return levels
        late_s = dynamics.edge_spread_s * (float(self.rng("edge").random()) - 0.5)
        if late_s < 0:
            return levels + late_s * (levels - draws[self.next_slots])
        return levels + late_s * (np.concatenate([levels[:1], levels[:-1]]) - levels)

    def coupled(self, purpose: str, quantity: Quantity, base: Values) -> Values:
        """A latent for another quantity that follows the downlink's as far as it says."""
        own = self.latent(purpose, quantity.dynamics)
        return quantity.coupling * base + math.sqrt(1 - quantity.coupling**2) * own

    def rate(self, quantity: Quantity, latent: Values) -> Values:
        """Mbit/s outside of outages: the table above the outage share, in whole kbit/s.

        Rounding keeps the last bits of the C library's exp and erfc out of the result.
        """
        share = self.path.outage.share
        return whole_kbits(quantity.at(share + (1 - share) * normal_cdf(latent)))

    def outages(self, cover: Values | None) -> npt.NDArray[np.bool_]:
        """Which seconds are out: the path's own outages and those of all cellular paths."""
        own, common = self.path.outage, self.preset.common_outage
        if common is None or self.path.kind != "cellular":
            return outages(self.rng("outage"), own, self.count, cover)
        rest = (own.share - common.share) / (1 - common.share)
        own = own.model_copy(update={"share": rest})
        together = outages(stream(self.seed, self.preset.name, "", "outage"), common, self.count)
        return together | outages(self.rng("outage"), own, self.count, cover)

    def loss(self, loss: Loss) -> Values:
        """Loss share by second: the base, and more in the first second of some slots."""
        values = np.full(self.count, loss.base)
        if loss.boundary_share:
            lossy = self.rng("loss").random(int(self.slots[-1]) + 1) < loss.boundary_share
            first = np.concatenate([[False], np.diff(self.slots) > 0])
            values[first & lossy[self.slots]] = loss.boundary
        return values


def relative(coverage: Coverage, cover: Values, within: Values) -> Values:
    """Each second's ratio to the level of the road, from both latents; shape (count,)."""
    return at(coverage.relative, normal_cdf(within * np.exp(-coverage.calming * cover)))


def whole_kbits(values: Values) -> Values:
    """Mbit/s in whole kbit/s, at least one, so that exactly 0 always means outage."""
    return np.maximum(np.round(values, 3), 0.001)


def autoregressive(
    rng: np.random.Generator, tau_s: float, count: int, step_s: float = SAMPLE_S
) -> Values:
    """A stationary AR(1) of unit variance with the correlation exp(-lag/tau); shape (count,)."""
    keep = math.exp(-step_s / tau_s)
    noise = rng.standard_normal(count)
    noise[1:] *= math.sqrt(1 - keep**2)
    steps = accumulate(noise.tolist(), lambda last, new: keep * last + new)
    return np.fromiter(steps, dtype=float, count=count)


def normal_cdf(latent: Values) -> Values:
    """The standard normal distribution function, elementwise."""
    return np.array([0.5 * math.erfc(-z / math.sqrt(2)) for z in latent.tolist()])


def stream(seed: int, preset: str, path: str, purpose: str) -> np.random.Generator:
    """A generator of its own for each (seed, preset, path, purpose)."""
    digest = hashlib.sha256(f"{preset}\0{path}\0{purpose}".encode()).digest()
    words = np.frombuffer(digest, dtype="<u4").tolist()
    return np.random.Generator(np.random.PCG64DXSM(np.random.SeedSequence([seed, *words])))
