"""From published quantiles over run means to the levels that yield them, and the check of it.

The levels of a downlink with ``target_run_means`` are scaled, point by point, until the run means
of many synthetic runs have the wanted quantiles. Each check is on seeds that took no part in it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from skyweave.errors import DataError
from skyweave.model.drive import Values
from skyweave.synthesis.generator import SAMPLE_S, drive_path, normal_cdf, relative, whole_kbits
from skyweave.synthesis.preset import Coverage, PathPreset, Preset, Quantity, RunMeans

FIT_SEEDS = range(1_000_000, 1_004_000)
CHECK_SEEDS = range(2_000_000, 2_004_000)
"""Far from each other and from the seeds of studies, examples and tests."""
ROUNDS = 80
Progress = Callable[[Sequence[int]], Iterator[int]]


@dataclass(frozen=True)
class RunMeanCheck:
    """One wanted quantile beside the synthetic one, Mbit/s.

    ``low`` and ``high`` are the synthetic quantiles two standard errors of ``p`` below and above
    it; ``share`` is the share of runs at or below the wanted value, ``share_error`` the standard
    error of that by the number of runs checked.
    """

    path: str
    p: float
    wanted: float
    found: float
    low: float
    high: float
    share: float
    share_error: float
    source: str


def targeted(preset: Preset) -> dict[str, tuple[PathPreset, Coverage, RunMeans]]:
    """The paths whose downlink is given by run means."""
    found = {}
    for name, path in preset.paths.items():
        down = path.downlink_mbps
        if down.coverage and down.target_run_means:
            found[name] = (path, down.coverage, down.target_run_means)
    return found


def fit_run_means(
    preset: Preset, seeds: Sequence[int] = FIT_SEEDS, progress: Progress = iter
) -> Preset:
    """``preset`` with the levels of all downlinks that have ``target_run_means``.

    Neither the levels that are in the preset nor the paths beside it matter to the result. Raises
    :class:`DataError` if there is none.
    """
    wanted = targeted(preset)
    if not wanted:
        raise DataError(f"preset '{preset.name}' has no target_run_means; nothing to calibrate")
    paths = dict(preset.paths)
    for name, (path, coverage, target) in wanted.items():
        shares, factors = _draws(preset, name, coverage, target, seeds, progress)
        downlink = _scaled(path.downlink_mbps, target, shares, factors)
        paths[name] = path.model_copy(update={"downlink_mbps": downlink})
    return Preset.model_validate(preset.model_copy(update={"paths": paths}).model_dump())


def _draws(
    preset: Preset,
    name: str,
    coverage: Coverage,
    target: RunMeans,
    seeds: Sequence[int],
    progress: Progress,
) -> tuple[Values, Values]:
    """Where on the table each second of each run reads its level, and what multiplies it there.

    Both have the shape (runs, seconds).
    """
    count = math.ceil(target.run_s / SAMPLE_S)
    shares, factors = np.empty((len(seeds), count)), np.empty((len(seeds), count))
    for row, seed in enumerate(progress(seeds)):
        one = drive_path(preset, name, seed, count)
        cover = one.coverage(coverage)
        within = one.latent("downlink", one.path.downlink_mbps.dynamics, shared=True)
        shares[row] = normal_cdf(cover)
        factors[row] = relative(coverage, cover, within) * ~one.outages(cover)
    return shares, factors


def _scaled(quantity: Quantity, target: RunMeans, shares: Values, factors: Values) -> Quantity:
    """The levels by fixed-point scaling from the targets; the last point follows the one before.

    The largest run mean is ruled by chance, so that p = 1 is scaled like its neighbour.
    """
    p = np.array([point.p for point in target.quantiles])
    wanted = np.array([point.value for point in target.quantiles])
    levels = wanted.copy()
    for _ in range(ROUNDS):
        rates = whole_kbits(np.interp(shares, p, levels)) * factors
        found = np.quantile(rates.mean(axis=1), p)
        ratio = np.divide(wanted, found, out=np.ones_like(wanted), where=wanted > 0)
        ratio[-1] = wanted[-1] / levels[-1] * levels[-2] / wanted[-2]
        levels = np.maximum.accumulate(levels * np.sqrt(np.clip(ratio, 0.25, 4)))
    points = tuple(
        point.model_copy(update={"value": float(f"{level:.4g}"), "source": _derived(target)})
        for point, level in zip(target.quantiles, levels.tolist(), strict=True)
    )
    return quantity.model_copy(update={"quantiles": points})


def _derived(target: RunMeans) -> str:
    return f"derived from target_run_means: level of the road, {target.run_s:g} s runs"


def run_means(preset: Preset, name: str, seeds: Sequence[int], progress: Progress = iter) -> Values:
    """The means of synthetic runs of one path, Mbit/s, outages included; shape (len(seeds),)."""
    _, _, target = targeted(preset)[name]
    count = math.ceil(target.run_s / SAMPLE_S)
    found = []
    for seed in progress(seeds):
        rate, _, up = drive_path(preset, name, seed, count).downlink()
        found.append(float(np.mean(rate * up)))
    return np.array(found)


def check_run_means(
    preset: Preset, seeds: Sequence[int] = CHECK_SEEDS, progress: Progress = iter
) -> list[RunMeanCheck]:
    """Each wanted quantile (but p = 0 and 1) beside that of fresh synthetic runs."""
    checks = []
    for name, (_, _, target) in targeted(preset).items():
        means = run_means(preset, name, seeds, progress)
        for point in target.quantiles[1:-1]:
            error = math.sqrt(point.p * (1 - point.p) / len(means))
            around = np.clip(point.p + error * np.array([0, -2, 2]), 0, 1)
            found, low, high = np.quantile(means, around).tolist()
            share = float(np.mean(means <= point.value))
            checks.append(
                RunMeanCheck(
                    name, point.p, point.value, found, low, high, share, error, point.source
                )
            )
    return checks
