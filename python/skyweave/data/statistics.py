"""What a person wants to know of a set of drives, as plain numbers that go to JSON as they are."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any, Literal

import numpy as np

from skyweave.data.metrics import (
    SlotProfile,
    concurrent_outage,
    correlation,
    on_grid,
    outage_share,
    quantiles,
    slot_profile,
)
from skyweave.model.drive import Drive, Series, Values

Quantity = Literal["downlink_mbps", "uplink_mbps", "rtt_ms", "loss_ratio"]
RATES: tuple[Quantity, ...] = ("downlink_mbps", "uplink_mbps")
ALL: tuple[Quantity, ...] = (*RATES, "rtt_ms", "loss_ratio")


def describe(drives: Sequence[Drive]) -> dict[str, Any]:
    """Everything that ``skyweave data stats`` shows.

    ``series``: per path and quantity over all drives n, duration_s, mean, quantiles and, for rates,
    the shares of samples at 0, below 1 and below 5 Mbit/s. ``pairs``: per pair of paths and
    direction the correlation and the concurrent outages, over the drives that have both, samples
    held on the coarser of the two time grids. ``slots``: the 15 s rhythm per path, where drives
    know their time of day. Shares are 0 to 1.
    """
    names = list(dict.fromkeys(name for drive in drives for name in drive.paths))
    return {
        "drives": len(drives),
        "duration_s": float(sum(drive.duration_s for drive in drives)),
        "synthetic": any(drive.synthetic for drive in drives),
        "series": [
            _series(drives, name, quantity)
            for quantity in ALL
            for name in names
            if _pieces(drives, name, quantity)
        ],
        "pairs": [
            pair
            for quantity in RATES
            for a, b in combinations(names, 2)
            if (pair := _pair(drives, a, b, quantity)) is not None
        ],
        "slots": [slot for name in names if (slot := _slot(drives, name)) is not None],
    }


def _pieces(drives: Sequence[Drive], name: str, quantity: Quantity) -> list[tuple[Series, Drive]]:
    found = [(getattr(drive.paths.get(name), quantity, None), drive) for drive in drives]
    return [(series, drive) for series, drive in found if series is not None]


def _series(drives: Sequence[Drive], name: str, quantity: Quantity) -> dict[str, Any]:
    pieces = [series for series, _ in _pieces(drives, name, quantity)]
    values = np.concatenate([series.values for series in pieces])
    logged = values[~np.isnan(values)]
    low, lower, middle, upper, high = quantiles(values, (5, 25, 50, 75, 95)).tolist()
    row: dict[str, Any] = {
        "path": name,
        "quantity": quantity,
        "n": len(logged),
        "duration_s": float(sum(series.duration_s for series in pieces)),
        "mean": float(logged.mean()) if len(logged) else float("nan"),
        "median": middle,
        "p5": low,
        "p25": lower,
        "p75": upper,
        "p95": high,
    }
    if quantity in RATES:
        row["zero"] = outage_share(values)
        row["below_1"] = outage_share(values, 1.0)
        row["below_5"] = outage_share(values, 5.0)
    return row


def paired(drives: Sequence[Drive], a: str, b: str, quantity: Quantity) -> tuple[Values, Values]:
    """The samples of two paths at common times, all drives that have both joined; shape (n,).

    Where the two have different times, both are held on a grid of the coarser spacing.
    """
    left, right = [np.empty(0)], [np.empty(0)]
    for drive in drives:
        one = getattr(drive.paths.get(a), quantity, None)
        two = getattr(drive.paths.get(b), quantity, None)
        if one is None or two is None:
            continue
        if np.array_equal(one.times_s, two.times_s):
            left.append(one.values)
            right.append(two.values)
            continue
        step = max(one.spacing_s, two.spacing_s)
        count = max(1, int(min(one.duration_s, two.duration_s) / step + 1e-9))
        left.append(on_grid(one, step, count))
        right.append(on_grid(two, step, count))
    return np.concatenate(left), np.concatenate(right)


def _pair(drives: Sequence[Drive], a: str, b: str, quantity: Quantity) -> dict[str, Any] | None:
    left, right = paired(drives, a, b, quantity)
    outage = concurrent_outage(left, right)
    if outage.samples < 2:
        return None
    return {
        "a": a,
        "b": b,
        "quantity": quantity,
        "n": outage.samples,
        "correlation": correlation(left, right),
        "a_zero": outage.a_zero,
        "b_zero": outage.b_zero,
        "both_zero": outage.both_zero,
        "both_below_1": outage.both_below_1,
        "both_below_5": outage.both_below_5,
    }


def slots_of(drives: Sequence[Drive], name: str) -> SlotProfile | None:
    """The 15 s profile of a path's downlink over the drives that know their time of day."""
    timed = _pieces(drives, name, "downlink_mbps")
    return slot_profile([(series, drive.start) for series, drive in timed if drive.start])


def _slot(drives: Sequence[Drive], name: str) -> dict[str, Any] | None:
    profile = slots_of(drives, name)
    if profile is None:
        return None
    return {
        "path": name,
        "phase_s": profile.phase_s,
        "ratio": profile.ratio,
        "ratio_near": profile.ratio_near,
        "score": profile.score,
        "found": profile.found,
    }
