"""What measured drives say about runs: within them, between them, and of operators together.

The presets whose run means are published take the movement within a run from here, because no
published number describes it; the tests hold the presets against it. A run is a stretch of
:data:`RUN_S` seconds; what is left at the end of a drive is passed over. "Ratios" are seconds over
the mean of the run, outages apart. Nothing random takes part.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import NormalDist

import numpy as np

from skyweave.data.metrics import run_lengths
from skyweave.model.drive import Drive, Values
from skyweave.synthesis.fitting import non_negative_fit

RUN_S = 120
LEAST_UP_S = 60
"""Runs with fewer seconds outside of outages say nothing about ratios."""
RATIO_POINTS = (0, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 1)
TAUS_S = (0.3, 1.5, 6.0, 25.0)
LAGS = (0, 1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30)


def runs(drives: Sequence[Drive], path: str, run_s: int = RUN_S) -> list[Values]:
    """The downlinks of whole runs, Mbit/s by second; each of shape (run_s,)."""
    found = []
    for drive in drives:
        series = drive.paths[path].downlink_mbps if path in drive.paths else None
        values = series.values if series is not None else np.empty(0)
        found += [values[k : k + run_s] for k in range(0, len(values) - run_s + 1, run_s)]
    return found


def _ratios(pieces: Sequence[Values]) -> list[Values]:
    """Each run over its mean outside of outages, which are NaN; runs that never move left out."""
    up = [np.where(piece > 0, piece, np.nan) for piece in pieces if np.sum(piece > 0) >= LEAST_UP_S]
    return [u / np.nanmean(u) for u in up if np.nanstd(u) > 0]


@dataclass(frozen=True)
class WithinRuns:
    """How seconds move within the runs of one path, outages apart.

    ``variation`` is the median over runs of standard deviation / mean; ``autocorrelation`` at 1,
    5 and 15 s is that of deviations from the run's mean, over the run's variance.
    """

    count: int
    variation: float
    autocorrelation: tuple[float, float, float]
    zero_share: float


def within_runs(pieces: Sequence[Values]) -> WithinRuns:
    """The numbers above for measured or synthetic runs."""
    ratios = _ratios(pieces)
    memory = np.nanmean([_memory(ratio) for ratio in ratios], axis=0)
    joined = np.concatenate(list(pieces))
    return WithinRuns(
        count=len(pieces),
        variation=float(np.median([np.nanstd(ratio) for ratio in ratios])),
        autocorrelation=(float(memory[1]), float(memory[5]), float(memory[LAGS.index(15)])),
        zero_share=float(np.mean(joined[~np.isnan(joined)] == 0)),
    )


def _memory(values: Values) -> Values:
    """Autocorrelation at :data:`LAGS` of the deviations from the mean; shape (len(LAGS),)."""
    z = (values - np.nanmean(values)) / np.nanstd(values)
    return np.array([np.nanmean(z[lag:] * z[: len(z) - lag]) for lag in LAGS])


def ratio_table(pieces: Sequence[Values]) -> list[float]:
    """Quantiles of the ratios of all runs together at :data:`RATIO_POINTS`; p = 0 is 0."""
    joined = np.concatenate(_ratios(pieces))
    found = np.quantile(joined[~np.isnan(joined)], RATIO_POINTS)
    return [0.0, *(round(value, 3) for value in found[1:].tolist())]


def calming(pieces: Sequence[Values]) -> float:
    """How fast log(standard deviation / mean) of a run falls with the normal score of its mean.

    Least squares over runs, outages apart; the slope of :class:`Coverage`.
    """
    up = [piece[piece > 0] for piece in pieces if np.sum(piece > 0) >= LEAST_UP_S]
    scores = _normal_scores(np.array([piece.mean() for piece in up]))
    spread = np.log([piece.std() / piece.mean() for piece in up])
    return round(-float(scores @ (spread - spread.mean()) / (scores @ scores)), 2)


def fit_within(pieces: Sequence[Values]) -> list[float]:
    """Weights of AR(1) parts with the time constants :data:`TAUS_S`, together 1.

    The ratios' normal scores are fitted, run by run about their mean; the expectation of what that
    leaves of each part at each lag is known exactly.
    """
    scored = _scores(_ratios(pieces))
    measured = np.nanmean([_memory(score) for score in scored], axis=0)
    parts = [_left(np.exp(-np.arange(RUN_S) / tau)) for tau in TAUS_S]
    columns = np.stack([part - measured * part[0] for part in parts], axis=1)[1:]
    weights = non_negative_fit(columns, np.zeros(len(LAGS) - 1), total=1.0)
    rounded = [round(weight / sum(weights), 3) for weight in weights]
    rounded[-1] = round(1 - sum(rounded[:-1]), 3)
    return rounded


def _left(correlation: Values) -> Values:
    """Expected covariance at :data:`LAGS` of deviations from a run's mean, for unit variance."""
    place = np.arange(RUN_S)
    full = correlation[np.abs(place[:, None] - place)]
    rows = full.mean(axis=0)
    about = full - rows[:, None] - rows + full.mean()
    return np.array([np.diagonal(about, lag).mean() for lag in LAGS])


def _scores(pieces: Sequence[Values]) -> list[Values]:
    """The normal scores of all values together, NaN where they are."""
    joined = np.concatenate(list(pieces))
    known = ~np.isnan(joined)
    scores = np.full(len(joined), np.nan)
    scores[known] = _normal_scores(joined[known])
    return np.split(scores, np.cumsum([len(piece) for piece in pieces])[:-1])


def _normal_scores(values: Values) -> Values:
    order = values.argsort(kind="stable").argsort(kind="stable")
    inverse = NormalDist().inv_cdf
    return np.array([inverse((rank + 0.5) / len(values)) for rank in order.tolist()])


def between_share(drives: Sequence[Drive], path: str) -> float:
    """Share of the variance of the seconds' normal scores that lies between run means."""
    scored = _scores([np.where(piece > 0, piece, np.nan) for piece in runs(drives, path)])
    kept = [score for score in scored if np.sum(~np.isnan(score)) >= LEAST_UP_S]
    means = np.array([np.nanmean(score) for score in kept])
    return float(means.var() / np.nanvar(np.concatenate(kept)))


def run_mean_quantiles(pieces: Sequence[Values], shares: Sequence[float]) -> Values:
    """Quantiles over run means in Mbit/s, outages included."""
    means = np.array([np.nanmean(piece) for piece in pieces])
    return np.array([float(np.quantile(means, share)) for share in shares])


def outage_slope(drives: Sequence[Drive], paths: Sequence[str]) -> float:
    """How outages thicken where the run is slow: the slope of :class:`Outage`, pooled over paths.

    The Poisson estimate with the number of outages of each run on the normal score of its mean
    outside of outages among the path's runs.
    """
    scores, counts = [], []
    for path in paths:
        pieces = runs(drives, path)
        means = np.array([piece[piece > 0].mean() if (piece > 0).any() else 0 for piece in pieces])
        scores.append(_normal_scores(means))
        counts.append(np.array([len(run_lengths(piece == 0)) for piece in pieces], dtype=float))
    tried = np.linspace(0, 3, 301)
    fits = [
        -sum(
            float(slope * (n @ z) + n.sum() * np.log(np.exp(-slope * z).mean()))
            for z, n in zip(scores, counts, strict=True)
        )
        for slope in tried.tolist()
    ]
    return round(float(tried[int(np.argmax(fits))]), 2)


def common_outage_fraction(drives: Sequence[Drive], paths: Sequence[str]) -> float:
    """Seconds in which two paths are out, over those of the rarer one, pooled over pairs."""
    together, rarer = 0, 0
    for a, b in combinations(paths, 2):
        both = [drive for drive in drives if a in drive.paths and b in drive.paths]
        left, right = (np.concatenate(runs(both, path, run_s=1)) == 0 for path in (a, b))
        together += int((left & right).sum())
        rarer += int(min(left.sum(), right.sum()))
    return together / rarer


def coverage_loadings(drives: Sequence[Drive], paths: Sequence[str]) -> dict[str, float]:
    """Loadings of three paths on one factor, from the normal scores of their run means."""
    means = {path: np.array([np.nanmean(run) for run in runs(drives, path)]) for path in paths}
    scores = {path: _normal_scores(values) for path, values in means.items()}

    def together(a: str, b: str) -> float:
        return float(np.corrcoef(scores[a], scores[b])[0, 1])

    found = {}
    for path in paths:
        b, c = (other for other in paths if other != path)
        square = together(path, b) * together(path, c) / together(b, c)
        found[path] = round(float(np.sqrt(np.clip(square, 0, 1))), 2)
    return found
