"""Tables 2 and 3 of the paper for any cells: what each choice offers, how many cells there are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from skyweave.errors import ConfigError
from skyweave.model.drive import Values
from skyweave.radio.offer import Offer, window_means

PERCENTS = (50.0, 20.0, 10.0, 5.0, 1.0, 0.1)
"""The percentiles of Table 3, after the mean."""
MANY_VISIBLE = 7
"""The paper counts how often more cells than this are visible."""


@dataclass(frozen=True)
class Spread:
    """Mean and :data:`PERCENTS` of a capacity in Mbit/s; all NaN if nothing was known."""

    mean: float
    percentiles: tuple[float, ...]


@dataclass(frozen=True)
class Summary:
    """What several offers of the same operators come to together.

    ``capacity_mbps`` has a row per operator, then ``best single path``, ``one per operator``
    (the best cell of each, summed) and ``multipath`` (all carriers, summed). ``available`` is the
    share (0 to 1) of seconds by the number of cells that can serve at once.
    """

    seconds: int
    compared_s: int
    window_s: int
    capacity_mbps: dict[str, Spread]
    available: dict[int, float]
    available_mean: float
    visible_mean: float
    visible_many: float
    second_to_best: float

    @property
    def gain(self) -> float:
        """Mean of multipath over mean of the best single path."""
        multipath, single = (self.capacity_mbps[n].mean for n in ("multipath", BEST))
        return multipath / single if single > 0 else float("nan")


BEST = "best single path"


def spread(values: Values) -> Spread:
    """Mean and percentiles of what is known."""
    known = values[~np.isnan(values)]
    if not len(known):
        return Spread(float("nan"), (float("nan"),) * len(PERCENTS))
    return Spread(float(known.mean()), tuple(np.percentile(known, PERCENTS).tolist()))


def summarise(offers: Sequence[Offer], window_s: int = 1) -> Summary:
    """Pool offers (one per drive, the same operators) over their compared seconds.

    Capacities are means over windows of ``window_s`` seconds that never span two drives; cells are
    counted second by second. :class:`ConfigError` if no drive is as long as a window.
    """
    longest = max(one.seconds for one in offers)
    if window_s > longest:
        raise ConfigError(f"a window of {window_s} s is longer than any drive ({longest} s)")
    rows = [_rows(one) for one in offers]
    capacity = {
        name: spread(np.concatenate([window_means(part[name], window_s) for part in rows]))
        for name in rows[0]
    }
    counts = np.concatenate([one.available[one.known] for one in offers]).astype(int)
    visible = np.concatenate([one.visible[one.known] for one in offers])
    best = np.concatenate([one.best_single for one in offers])
    second = np.concatenate([one.second_best for one in offers])
    return Summary(
        seconds=sum(one.seconds for one in offers),
        compared_s=len(counts),
        window_s=window_s,
        capacity_mbps=capacity,
        available=shares(counts),
        available_mean=_mean(counts),
        visible_mean=_mean(visible),
        visible_many=_mean(visible > MANY_VISIBLE),
        second_to_best=float(np.nansum(second) / total) if (total := np.nansum(best)) else np.nan,
    )


def shares(counts: np.typing.NDArray[np.int_]) -> dict[int, float]:
    """Share of each number from 0 to the largest."""
    return dict(enumerate((np.bincount(counts) / max(len(counts), 1)).tolist()))


def _rows(one: Offer) -> dict[str, Values]:
    rows = {name: np.where(one.known, one.best_of(name), np.nan) for name in one.operators}
    if len(rows) > 1:
        rows |= {"one per operator": one.one_each}
    return rows | {BEST: one.best_single, "multipath": one.multipath}


def _mean(values: np.typing.NDArray[np.generic]) -> float:
    return float(np.mean(values.astype(np.float64))) if len(values) else float("nan")
