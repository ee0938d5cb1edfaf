"""The arithmetic of bonding: plain functions on plain arrays, one value a time bin.

All rates are Mbit/s. The definitions follow the figures of AK-HI: per
time-aligned sample Max over the single paths, their Sum, MPTCP - Max and Sum - MPTCP.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Values = npt.NDArray[np.float64]


def to_bins(times_s: Values, rates: Values, bin_s: float, duration_s: float) -> Values:
    """Average rates over whole bins of ``bin_s`` seconds.

    ``rates[i]`` holds for the interval that ends at ``times_s[i]``; intervals do not straddle
    bins. A bin in which nothing was sampled is 0: nothing arrived.
    """
    count = int(duration_s / bin_s + 1e-9)
    index = np.ceil(times_s / bin_s - 1e-6).astype(int) - 1
    inside = (index >= 0) & (index < count)
    totals = np.bincount(index[inside], weights=rates[inside], minlength=count)
    sampled = np.bincount(index[inside], minlength=count)
    return np.divide(totals, sampled, out=np.zeros(count), where=sampled > 0)


def steps_to_bins(times_s: Values, rates: Values, bin_s: float, duration_s: float) -> Values:
    """Average a rate that is constant from each time to the next over whole bins."""
    count = int(duration_s / bin_s + 1e-9)
    ends = np.append(times_s[1:], max(duration_s, float(times_s[-1])))
    carried = np.concatenate([[0.0], np.cumsum((ends - times_s) * rates)])
    edges = np.arange(count + 1) * bin_s
    knots = np.append(times_s, ends[-1])
    binned: Values = np.diff(np.interp(edges, knots, carried)) / bin_s
    return binned


def silenced(
    times_s: Values, rates: Values, windows: Sequence[tuple[float, float]]
) -> tuple[Values, Values]:
    """Return a rate that is constant from each time to the next, with nothing inside windows."""
    if not windows:
        return times_s, rates
    edges = np.array([edge for window in windows for edge in window if np.isfinite(edge)])
    times = np.union1d(times_s, edges[edges >= times_s[0]])
    found = rates[np.searchsorted(times_s, times, side="right") - 1].copy()
    for start, end in windows:
        found[(times >= start) & (times < end)] = 0.0
    return times, found


def gaps(present: Sequence[tuple[float, float | None]]) -> list[tuple[float, float]]:
    """Return the windows before, between and after ordered ones; an end of None never comes.

    >>> gaps([(0.0, 5.0), (7.0, None)])
    [(5.0, 7.0)]
    """
    starts = [start for start, _ in present] + [float("inf")]
    ends = [0.0] + [float("inf") if end is None else end for _, end in present]
    return [(end, start) for end, start in zip(ends, starts, strict=True) if start > end]


def best_single(singles: Sequence[Values]) -> Values:
    """Return, for each sample, the rate of the path that was best then (Max)."""
    best: Values = np.maximum.reduce(list(singles))
    return best


def total_of(singles: Sequence[Values]) -> Values:
    """Return, for each sample, what all paths alone had together (Sum)."""
    total: Values = np.add.reduce(list(singles))
    return total


def ratio_of(first: Values, last: Values) -> Values:
    """Return the ratio of two rates by sample, where either had something.

    The denominator is at least 1 kbit/s, so that a group that starves gives a large number.
    """
    either = (first > 0) | (last > 0)
    ratio: Values = first[either] / np.maximum(last[either], 0.001)
    return ratio


def bonded_minus_max(bonded: Values, singles: Sequence[Values]) -> Values:
    """Return what bonding gave beyond the best path of each sample (MPTCP - Max)."""
    return bonded - best_single(singles)


def sum_minus_bonded(bonded: Values, singles: Sequence[Values]) -> Values:
    """Return what bonding left on the table in each sample (Sum - MPTCP)."""
    return total_of(singles) - bonded


def outage_share(rates: Values, below_mbps: float = 0.0) -> float:
    """Return the share of samples that are exactly zero, or below ``below_mbps`` if given."""
    return float(np.mean(_out(rates, below_mbps))) if len(rates) else 0.0


def opening_samples(rates: Values) -> int:
    """Return how many samples pass before anything arrives: the connection has not opened yet."""
    arrived = np.flatnonzero(rates > 0)
    return int(arrived[0]) if len(arrived) else len(rates)


def concurrent_outage_share(a: Values, b: Values, below_mbps: float = 0.0) -> float:
    """Return the share of samples in which both paths are out at once.

    Table 1 of AK-HI, as ``tab1_concurrent_outage/main.py`` of its release defines it: A == 0 and
    B == 0; also with both below 1 or 5 Mbit/s. Samples without a value in A or B are left out.
    """
    both = ~(np.isnan(a) | np.isnan(b))
    if not both.any():
        return 0.0
    return float(np.mean(_out(a[both], below_mbps) & _out(b[both], below_mbps)))


def kendall(x: Values, y: Values, groups: Values) -> float:
    """Return Kendall's tau-a of y along x, over the pairs within each group that differ in x."""
    pairs = (x[:, None] < x[None, :]) & (groups[:, None] == groups[None, :])
    signs = np.sign(y[None, :] - y[:, None])[pairs]
    return float(np.mean(signs)) if len(signs) else 0.0


def spearman(x: Values, y: Values) -> float:
    """Return the rank correlation, with mean ranks for ties; 0 where one side is constant."""
    rank_x, rank_y = _ranks(x), _ranks(y)
    spread = float(np.std(rank_x) * np.std(rank_y))
    if spread == 0:
        return 0.0
    return float(np.mean((rank_x - rank_x.mean()) * (rank_y - rank_y.mean())) / spread)


def _out(rates: Values, below_mbps: float) -> npt.NDArray[np.bool_]:
    return rates < below_mbps if below_mbps > 0 else rates == 0


def _ranks(values: Values) -> Values:
    """Return the ranks of values, ties sharing their mean rank."""
    order = np.sort(values)
    low = np.searchsorted(order, values, side="left")
    high = np.searchsorted(order, values, side="right")
    ranks: Values = (low + high + 1) / 2.0
    return ranks


def capacity_in_bins(
    path: Mapping[str, Any], direction: str, bin_s: float, duration_s: float
) -> Values:
    """Return the capacity of one direction of a path in bins: nothing in outages and absences.

    NaN: of a real network, which nobody knows.
    """
    link = path[direction]
    capacity = link["capacity"]
    if capacity["kind"] == "unknown":
        return np.full(int(duration_s / bin_s + 1e-9), np.nan)
    if capacity["kind"] == "opportunities":
        times = np.array(capacity["times_ms"]) / 1000
        (times,) = _looped(float(times[-1]), duration_s, times)
        counts, _ = np.histogram(times, np.arange(int(duration_s / bin_s + 1e-9) + 1) * bin_s)
        return counts * 0.012 / bin_s
    if capacity["kind"] == "constant":
        times, rates = np.zeros(1), np.array([float(capacity["mbps"])])
    else:
        times, rates = np.array(capacity["times_s"]), np.array(capacity["mbps"])
        period_s = capacity.get("repeat_s")
        if period_s:
            inside = times < period_s
            times, rates = _looped(period_s, duration_s, times[inside], rates[inside])
    out = [(one["start_s"], one["end_s"]) for one in link["outages"]]
    away = gaps([(one["start_s"], one["end_s"]) for one in path["present"]])
    times, rates = silenced(times, rates, [*out, *away])
    return steps_to_bins(times, rates, bin_s, duration_s)


def _looped(period_s: float, duration_s: float, times_s: Values, *columns: Values) -> list[Values]:
    """Return times that begin again after each period until ``duration_s``, and what goes along."""
    rounds = int(np.ceil(duration_s / period_s)) if period_s > 0 else 1
    starts = np.repeat(np.arange(rounds) * period_s, len(times_s))
    return [np.tile(times_s, rounds) + starts, *(np.tile(column, rounds) for column in columns)]
