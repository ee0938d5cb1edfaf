"""Fitting the air (:mod:`skyweave.synthesis.air`) to pings and their summaries, never to rates.

An excess is a round trip above the least one of its round of pings, 25 to 40 s. A ping without an
answer in a row of fewer than :data:`OUTAGE_S` is a loss; longer rows are outages, which a trace of
rates has as zeros. Nothing random takes part.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist

import numpy as np

from skyweave.data.metrics import SLOT_S
from skyweave.errors import DataError
from skyweave.model.drive import Values
from skyweave.synthesis.air import STEP_S, Air, Excess, Losses
from skyweave.synthesis.fitting import non_negative_fit
from skyweave.synthesis.preset import Dynamics, Point, point_lines, record_lines

OUTAGE_S = 1.0
TABLE = (0, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 1)
"""Above the 99th percentile, what rounds have waited for an outage to end: it is not taken over."""
TAUS_S = (0.05, 1.0, 5.0, 25.0)
LAGS = (1, 2, 3, 5, 10, 25, 50)
PER_S = round(1 / STEP_S)
SUMMARY_S, SUMMARY_PER_S = 25, 10
LARGEST_LOSS = 0.04
"""Of a summary of 25 s: more than a second's pings, so that a row of them may be an outage."""
_NORMAL = NormalDist()


def fit_rounds(rounds: Sequence[Values], source: str) -> Air:
    """The air of a network by rounds of pings, one each :data:`STEP_S`, NaN without an answer."""
    excess = excess_of(rounds)
    pooled = np.concatenate([one[~np.isnan(one)] for one in excess])
    known = np.percentile(pooled, [100 * min(p, TABLE[-2]) for p in TABLE])
    quantiles = _points(known, f"{source}: above the least of its round, up to p99")
    dynamics = fit_dynamics(excess, f"{source}: autocorrelation of normal scores within rounds")
    return Air(
        excess_ms=Excess(quantiles=quantiles, dynamics=dynamics),
        losses=fit_bursts([lost_by_second(one) for one in rounds], f"{source}: rows below 1 s"),
    )


def fit_summaries(
    above_ms: Values, spread_ms: Values, loss: Values, rounds: Sequence[Values],
    lost: Sequence[Values], edge_part: float, source: str,
) -> Air:  # fmt: skip
    """The air of a satellite network by summaries of pings, shape (n,) each.

    ``above_ms``: mean less the least; ``spread_ms``: standard deviation; the excess is lognormal
    with their medians. ``loss``: share lost, of which ``edge_part`` gathers at slot edges.
    ``rounds`` give the movement alone, as :func:`fit_rounds` takes them, and ``lost`` the bursts
    alone: pings lost by second, as :func:`lost_by_second` gives them.
    """
    usual = loss <= LARGEST_LOSS
    middle, spread = float(np.median(above_ms[usual])), float(np.median(spread_ms[usual]))
    sigma = math.sqrt(math.log(1 + (spread / middle) ** 2))
    centre = math.log(middle) - sigma**2 / 2
    shares = [min(max(p, 0.001), 0.999) for p in TABLE]
    known = np.array([math.exp(centre + sigma * _NORMAL.inv_cdf(p)) for p in shares])
    stays = fit_bursts(lost, "pings").stays
    silent = float((loss == 0).sum() / usual.sum())
    losses = _bursts_of(float(loss[usual].mean()), silent, stays, edge_part)
    said = f"how many: {source}; how they last: LEOViz; {edge_part:.0%} at edges: FjordLink"
    losses = losses.model_copy(update={"source": said})
    quantiles = _points(known, f"{source}: lognormal by medians of mean and deviation")
    dynamics = fit_dynamics(excess_of(rounds), "LEOViz, MMSys'24: normal scores within 25 s")
    return Air(excess_ms=Excess(quantiles=quantiles, dynamics=dynamics), losses=losses)


def excess_of(rounds: Sequence[Values]) -> list[Values]:
    """Each round above its least round trip, ms; rounds that are half empty are left out."""
    found = [one - np.nanmin(one) for one in rounds if np.isfinite(one).mean() > 0.5]
    if not found:
        raise DataError("no round of pings was half answered; give a longer series")
    return found


def fit_dynamics(excess: Sequence[Values], source: str) -> Dynamics:
    """AR(1) parts that follow the autocorrelation of normal scores; the fastest one is white."""
    pooled = np.sort(np.concatenate([one[~np.isnan(one)] for one in excess]))
    scores = [_scores(one, pooled) for one in excess]
    measured = []
    for lag in LAGS:
        pairs = [one[lag:] * one[:-lag] for one in scores if len(one) > lag]
        measured.append(float(np.nanmean(np.concatenate(pairs))))
    lags_s = np.array(LAGS) * STEP_S
    parts = np.exp(-lags_s[:, None] / np.array(TAUS_S))
    weights = np.round(non_negative_fit(parts, np.array(measured), total=1.0), 4)
    weights[0] += 1 - weights.sum()
    kept = [(tau, float(w)) for tau, w in zip(TAUS_S, weights.round(4), strict=True) if w > 0]
    taus, shares = zip(*kept, strict=True)
    return Dynamics(taus_s=taus, weights=shares, source=source)


def _scores(excess: Values, pooled: Values) -> Values:
    """Normal scores: the quantile of a standard normal at each value's rank, NaN kept."""
    ranks = (np.searchsorted(pooled, excess) + 0.5) / (len(pooled) + 1)
    known = np.clip(ranks, 1e-5, 1 - 1e-5)
    scores = [_NORMAL.inv_cdf(share) for share in known.tolist()]
    found: Values = np.array(scores)
    found[np.isnan(excess)] = np.nan
    return found


def lost_by_second(round_ms: Values) -> Values:
    """How many of the pings of each whole second were lost, outages apart."""
    lost = np.isnan(round_ms)
    edges = np.flatnonzero(np.diff(np.concatenate([[0], lost.astype(np.int8), [0]])))
    for first, end in zip(edges[::2], edges[1::2], strict=True):
        if (end - first) * STEP_S >= OUTAGE_S:
            lost[first:end] = False
    whole = len(lost) // PER_S * PER_S
    counts: Values = lost[:whole].reshape(-1, PER_S).sum(axis=1).astype(float)
    return counts


def fit_bursts(by_second: Sequence[Values], source: str) -> Losses:
    """Lossy seconds from pairs: two pings of one second, or of neighbours, that were both lost."""
    counts = np.concatenate(list(by_second))
    mean = float(counts.mean()) / PER_S
    if not (counts * (counts - 1)).any():  # never two in a second: each has its own
        return Losses(lossy=round(mean * PER_S, 5), ratio=1 / PER_S, source=source)
    ratio = float((counts * (counts - 1)).mean()) / (PER_S * (PER_S - 1)) / mean
    beside = np.concatenate([one[1:] * one[:-1] for one in by_second])
    stays = float(beside.mean()) / PER_S**2 / mean / ratio
    return Losses(
        lossy=round(mean / ratio, 5), ratio=round(ratio, 5), stays=round(min(stays, 0.95), 3),
        source=source,
    )  # fmt: skip


def _bursts_of(mean: float, silent: float, stays: float, edge_part: float) -> Losses:
    """Bursts that lose ``mean`` of all pings and nothing in ``silent`` of the summaries.

    Of few and heavy bursts more summaries are silent than of many and light ones: the ratio is
    found by bisection. A burst begins in a second with the same chance wherever it is.
    """
    low, high = mean, 1.0
    for _ in range(60):
        ratio = math.sqrt(low * high)
        found = _losses(mean, ratio, stays, edge_part)
        low, high = (low, ratio) if _silent(found) > silent else (ratio, high)
    return _losses(mean, round(ratio, 5), stays, edge_part)


def _losses(mean: float, ratio: float, stays: float, edge_part: float) -> Losses:
    share = mean / ratio
    return Losses(
        lossy=round(share * (1 - edge_part), 5),
        ratio=ratio,
        stays=stays,
        edge=round(share * edge_part * SLOT_S / 2, 5),
        source="pings",
    )


def _silent(losses: Losses) -> float:
    """The share of summaries, 25 s of ten pings each, in which these losses take none."""
    clear = (1 - losses.ratio) ** SUMMARY_PER_S
    burst = (1 - losses.stays) * clear / (1 - losses.stays * clear)
    begins = losses.lossy * (1 - losses.stays) * SUMMARY_S
    edges = (1 - losses.edge * (1 - clear)) ** (SUMMARY_S * 2 / SLOT_S)
    return float(math.exp(-begins * (1 - burst)) * edges)


def edge_part_of(drops: Values, seconds: Values) -> float:
    """Which part of the losses is in excess in the two seconds of the slot that lose most.

    ``drops``: shares of a second's pings; ``seconds``: the clock's, any phase; shape (n,) each.
    """
    slot = (seconds.astype(np.int64)) % SLOT_S
    means = np.bincount(slot, drops, SLOT_S) / np.bincount(slot, minlength=SLOT_S)
    first = int(np.argmax(means + np.roll(means, -1)))
    pair = [first, (first + 1) % SLOT_S]
    rest = float(np.delete(means, pair).mean())
    return round(float((means[pair] - rest).sum() / means.sum()), 2)


def _points(values: Values, source: str) -> tuple[Point, ...]:
    return tuple(
        Point(p=p, value=round(value, 1), source=source)
        for p, value in zip(TABLE, values.tolist(), strict=True)
    )


def air_text(airs: dict[str, Air]) -> str:
    """The models as TOML, as :func:`skyweave.synthesis.air.load_airs` reads them."""
    lines = ["# Written by scripts/air-evidence from public pings; docs/data.md has the model."]
    for kind, air in airs.items():
        lines += record_lines(f"{kind}.losses", air.losses)
        lines += ["", f"[{kind}.excess_ms]"]
        lines += point_lines("quantiles", air.excess_ms.quantiles)
        lines += record_lines(f"{kind}.excess_ms.dynamics", air.excess_ms.dynamics)
    return "\n".join(lines) + "\n"
