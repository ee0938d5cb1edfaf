"""Fitting a preset to measured drives, and laying the two side by side.

What is fitted: the downlink's quantile table, the outage share and lengths, how the downlink moves
and how far paths move together. Uplink, RTT and loss stay as the preset has them. Nothing random
takes part in the fit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from skyweave.data.metrics import (
    SLOT_PHASE_S,
    SLOT_S,
    STANDARD_PERCENTS,
    SlotProfile,
    autocorrelation,
    correlation,
    outage_share,
    quantiles,
    run_lengths,
    slot_profile,
)
from skyweave.errors import DataError
from skyweave.model.drive import Drive, Values
from skyweave.synthesis.copula import hermite_coefficients, latent_correlation
from skyweave.synthesis.fitting import non_negative_fit
from skyweave.synthesis.generator import SHARED_FROM_S, synthesise
from skyweave.synthesis.preset import Dynamics, Outage, PathPreset, Point, Preset, Quantity
from skyweave.synthesis.slotfit import (
    Pieces,
    edge_spread_s,
    slot_weight_of,
    with_clocks,
    without_outages,
)

TABLE = (0, 0.005, 0.01, 0.02, *(round(0.05 * k, 2) for k in range(1, 20)), 0.98, 0.99, 0.995, 1)
TAUS_S = (0.3, 1.5, 6.0, 25.0, 120.0, 900.0)
LAGS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 45, 60, 90, 120, 180, 240, 300)
REPORT_LAGS = (1, 5, 15)
DURATION_POINTS = 20
FIRST_CHECK_SEED = 1001
"""Seeds of the side-by-side start here; studies and examples use smaller ones."""


def fit(
    drives: Sequence[Drive], base: Preset, label: str, taus_s: Sequence[float] = TAUS_S
) -> Preset:
    """``base`` with its downlinks refitted to ``drives``; ``label`` becomes the sources' name.

    ``taus_s``: the time constants that the parts of a downlink's latent may have, in seconds.
    Paths of ``base`` that no drive has stay as they are. Raises :class:`DataError` if none has any.
    """
    pieces = {name: _downlinks(drives, name) for name in base.paths}
    known = [name for name in base.paths if pieces[name]]
    if not known:
        wanted = ", ".join(base.paths)
        raise DataError(f"no drive has a downlink of {wanted}; give the data set of the preset")
    paths = dict(base.paths)
    for name in known:
        paths[name] = _fit_path(base.paths[name], pieces[name], label, taus_s)
    for name, loading in _loadings(drives, paths, known).items():
        paths[name] = paths[name].model_copy(update={"shared_loading": loading})
    return Preset.model_validate(base.model_copy(update={"paths": paths}).model_dump())


def _downlinks(drives: Sequence[Drive], path: str) -> Pieces:
    found = [(drive.paths[path].downlink_mbps, drive) for drive in drives if path in drive.paths]
    return [(series, drive) for series, drive in found if series is not None]


def _fit_path(path: PathPreset, pieces: Pieces, label: str, taus_s: Sequence[float]) -> PathPreset:
    values = [series.values for series, _ in pieces]
    source = f"fitted to {label}"
    share = round(outage_share(np.concatenate(values)), 6)
    table = _table(values, share, source)
    shape = shape_of(table, share)
    measured = autocorrelation([without_outages(piece) for piece in values], LAGS)
    wanted = latent_correlation(measured, shape, shape)
    step = 1 - float(wanted[0])
    timed = with_clocks(pieces) if path.kind == "starlink" else []
    slot_weight = slot_weight_of(timed, step)
    dynamics = dynamics_of(wanted, slot_weight, source, taus_s)
    if slot_weight:
        dynamics = dynamics.model_copy(update={"edge_spread_s": edge_spread_s(timed)})
    downlink = Quantity(quantiles=table, dynamics=dynamics)
    lengths = np.concatenate([run_lengths(piece == 0) for piece in values])
    durations = path.outage.durations_s
    if len(lengths):
        chunks = np.array_split(np.sort(lengths), min(DURATION_POINTS, len(lengths)))
        durations = tuple(round(float(chunk.mean()), 1) for chunk in chunks)
    outage = Outage(share=share, durations_s=durations, source=source)
    uplink = _after_outage(path.uplink_mbps, share)
    return path.model_copy(
        update={"downlink_mbps": downlink, "outage": outage, "uplink_mbps": uplink}
    )


def _table(values: list[Values], share: float, source: str) -> tuple[Point, ...]:
    """The quantile table: 0 up to the outage share, then what was measured."""
    joined = np.concatenate(values)
    joined = joined[~np.isnan(joined)]
    least = float(joined[joined > 0].min())
    grid = sorted({*TABLE, share})
    known = np.percentile(joined, [100 * p for p in grid])
    points = []
    for p, value in zip(grid, known.tolist(), strict=True):
        kept = 0.0 if p < share else max(value, least)
        points.append(Point(p=p, value=round(kept, 3), source=source))
    return tuple(points)


def shape_of(table: Sequence[Point], share: float = 0.0) -> Values:
    """Hermite coefficients of the table's part above the outage share."""
    known, values = [point.p for point in table], [point.value for point in table]
    return hermite_coefficients(lambda u: np.interp(share + (1 - share) * u, known, values))


def _after_outage(quantity: Quantity, share: float) -> Quantity:
    """An assumed table with zeros where the fitted outage share now lies."""
    points = [point for point in quantity.quantiles if point.p > share]
    least = Point(p=share, value=0.0, source="zero at the outage share")
    head = [Point(p=0.0, value=0.0, source="outage")] if share > 0 else []
    kept = (*head, least, *points)
    return quantity.model_copy(update={"quantiles": kept})


def dynamics_of(
    measured: Values, slot_weight: float, source: str, taus_s: Sequence[float] = TAUS_S
) -> Dynamics:
    """Non-negative weights of the AR(1) parts that follow the measured autocorrelation best."""
    lags = np.array(LAGS, dtype=float)
    known = ~np.isnan(measured)
    slots = slot_weight * np.clip(1 - lags / SLOT_S, 0, None)
    parts = np.exp(-lags[:, None] / np.array(taus_s))[known]
    weights = non_negative_fit(parts, (measured - slots)[known], total=1 - slot_weight)
    kept = [(tau, weight) for tau, weight in zip(taus_s, weights, strict=True) if weight > 0.005]
    scale = (1 - slot_weight) / sum(weight for _, weight in kept)
    rounded = [round(weight * scale, 4) for _, weight in kept]
    rounded[0] = round(rounded[0] + 1 - slot_weight - sum(rounded), 4)
    taus = tuple(tau for tau, _ in kept)
    return Dynamics(slot_weight=slot_weight, taus_s=taus, weights=tuple(rounded), source=source)


def _loadings(
    drives: Sequence[Drive], paths: dict[str, PathPreset], known: list[str]
) -> dict[str, float]:
    """Loadings on the common factor that explain the correlations among the cellular paths.

    Starlink keeps 0: over the whole of SatCell its correlation with any operator is 0.00 to 0.07.
    """
    names = [name for name in known if paths[name].kind == "cellular"]
    wanted: dict[tuple[str, str], float] = {}
    for a, b in combinations(names, 2):
        left, right = _together(drives, a, b)
        if not len(left):
            continue
        shapes = [shape_of(paths[n].downlink_mbps.quantiles, paths[n].outage.share) for n in (a, b)]
        latent = float(latent_correlation(np.array(correlation(left, right)), *shapes))
        common = _slow_overlap(paths[a].downlink_mbps.dynamics, paths[b].downlink_mbps.dynamics)
        wanted[a, b] = wanted[b, a] = latent / max(common, 0.05)
    loading = dict.fromkeys(names, 0.7 if len(names) > 1 else 0.0)
    for _ in range(500):
        for a in names:
            others = [b for b in names if (a, b) in wanted]
            squares = sum(loading[b] ** 2 for b in others)
            if squares:
                fitted = sum(wanted[a, b] * loading[b] for b in others) / squares
                loading[a] = float(np.clip(fitted, 0, 0.99))
    return {name: round(value, 4) for name, value in loading.items()}


def _together(drives: Sequence[Drive], a: str, b: str) -> tuple[Values, Values]:
    """The downlinks of two paths over the drives that have both, outages as NaN."""
    both = [d for d in drives if _downlinks([d], a) and _downlinks([d], b)]
    if not both:
        return np.empty(0), np.empty(0)
    left = np.concatenate([s.values for s, _ in _downlinks(both, a)])
    right = np.concatenate([s.values for s, _ in _downlinks(both, b)])
    return without_outages(left), without_outages(right)


def _slow_overlap(a: Dynamics, b: Dynamics) -> float:
    """How much correlation a loading of 1 on both sides would give."""
    left = dict(zip(a.taus_s, a.weights, strict=True))
    right = dict(zip(b.taus_s, b.weights, strict=True))
    slow = [tau for tau in left if tau in right and tau >= SHARED_FROM_S]
    return float(sum(np.sqrt(left[tau] * right[tau]) for tau in slow))


@dataclass(frozen=True)
class PathSummary:
    """What is compared of one path's downlink: Mbit/s, shares and ratios."""

    samples: int
    percentiles_mbps: dict[int, float]
    outage: float
    autocorrelation: dict[int, float]
    slot: SlotProfile | None


@dataclass(frozen=True)
class Comparison:
    """Measured and synthetic drives side by side; correlations by pair of paths."""

    real: dict[str, PathSummary]
    synthetic: dict[str, PathSummary]
    real_correlation: dict[tuple[str, str], float]
    synthetic_correlation: dict[tuple[str, str], float]


Progress = Callable[[Sequence[int]], Iterator[int]]


def compare(
    drives: Sequence[Drive], preset: Preset, repeats: int = 4, progress: Progress = iter
) -> Comparison:
    """The drives beside synthetic ones of the same lengths, ``repeats`` for each.

    Seeds start at :data:`FIRST_CHECK_SEED`; ``progress`` wraps the loop over them.
    """
    lengths = [drive.duration_s for drive in drives] * repeats
    seeds = range(FIRST_CHECK_SEED, FIRST_CHECK_SEED + len(lengths))
    made = [synthesise(preset, s, lengths[s - FIRST_CHECK_SEED]) for s in progress(seeds)]
    names = [name for name in preset.paths if _downlinks(drives, name)]
    return Comparison(
        real={name: summarise(drives, name, None) for name in names},
        synthetic={name: summarise(made, name, SLOT_PHASE_S) for name in names},
        real_correlation=correlations(drives, names),
        synthetic_correlation=correlations(made, names),
    )


def summarise(drives: Sequence[Drive], path: str, phase_s: int | None) -> PathSummary:
    """The compared numbers of one path over all drives that have it."""
    pieces = _downlinks(drives, path)
    values = [series.values for series, _ in pieces]
    joined = np.concatenate(values)
    acf = autocorrelation(values, REPORT_LAGS)
    timed = [(series, drive.start) for series, drive in pieces if drive.start is not None]
    return PathSummary(
        samples=int((~np.isnan(joined)).sum()),
        percentiles_mbps=dict(zip(STANDARD_PERCENTS, quantiles(joined).tolist(), strict=True)),
        outage=outage_share(joined),
        autocorrelation=dict(zip(REPORT_LAGS, acf.tolist(), strict=True)),
        slot=slot_profile(timed, phase_s),
    )


def correlations(drives: Sequence[Drive], names: Sequence[str]) -> dict[tuple[str, str], float]:
    """Pearson correlation of the downlinks of each pair, over the drives that have both."""
    result = {}
    for a, b in combinations(names, 2):
        both = [drive for drive in drives if a in drive.paths and b in drive.paths]
        left, right = _downlinks(both, a), _downlinks(both, b)
        if both:
            result[a, b] = correlation(
                np.concatenate([s.values for s, _ in left]),
                np.concatenate([s.values for s, _ in right]),
            )
    return result
