"""What a preset needs to know of 15 s slots, from downlinks: how large a step, how sharp."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import numpy as np

from skyweave.data.metrics import SLOT_S, changes_by_second, slot_profile
from skyweave.model.drive import Drive, Series, Values

Pieces = list[tuple[Series, Drive]]
"""Downlinks of one path, each with the drive that it is from."""
Timed = Sequence[tuple[Series, datetime]]
"""Series of 1 s samples, NaN where nothing was logged, and when each began."""


def without_outages(values: Values) -> Values:
    """The values with NaN for 0."""
    return np.where(values > 0, values, np.nan)


def slot_weight_of(timed: Timed, latent_step: float) -> float:
    """The share of the latent's variance that is redrawn at slot boundaries.

    ``latent_step`` is 1 - the latent's correlation over one second, all seconds together. If the
    boundary's step is S times that of the other 14 seconds, theirs is step·15/(14 + S) and the
    weight is (S - 1) times that. S is taken from squared changes, which rare large ones rule, and
    as the square of the ratio of absolute changes, which the many small ones rule; measured changes
    are wilder than Gaussian ones, so that the two differ: the mean weight misses both the least.
    Edges count as sharp: those that divide a second lower what is found of Gaussian drives (0.26 of
    0.43); measured changes, wilder than those, are met best so (docs/evidence/presets.json, slots).
    """
    profile = slot_profile(timed)
    if profile is None or not profile.found:
        return 0.0
    changes, seconds = changes_by_second(timed)
    counts = np.bincount(seconds, minlength=SLOT_S)
    squares = _boundary_ratio(np.bincount(seconds, changes**2, SLOT_S) / counts)
    absolute = _boundary_ratio(profile.change_by_second) ** 2
    steps = [(s - 1) * latent_step * SLOT_S / (SLOT_S - 1 + s) for s in (squares, absolute)]
    return round(float(np.clip(np.mean(steps), 0, 0.9)), 4)


def with_clocks(pieces: Pieces) -> Timed:
    """The downlinks that have a clock, outages as NaN."""
    return [
        (Series(series.times_s, without_outages(series.values)), drive.start)
        for series, drive in pieces
        if drive.start is not None
    ]


def edge_spread_s(timed: Timed) -> float:
    """Over how many seconds of the slot the edges of drives are spread.

    From the variance of the second in which the excess of five seconds' changes lies. A step that
    divides a second shows in two of them, by 1/6 s² on average; what is more is how far the clocks
    of drives are apart, taken as uniform. Their common error is left out: edges are where they are.
    """
    changes, seconds = changes_by_second(timed)
    by_second = np.bincount(seconds, changes, SLOT_S) / np.bincount(seconds, minlength=SLOT_S)
    offsets = np.arange(-2, 3)
    around = (int(np.argmax(by_second)) + offsets) % SLOT_S
    excess = np.maximum(by_second[around] - float(np.delete(by_second, around).mean()), 0)
    share = excess / excess.sum()
    variance = float(share @ offsets**2 - (share @ offsets) ** 2)
    return round(float(np.clip(np.sqrt(12 * max(variance - 1 / 6, 0)), 0, 2)), 2)


def _boundary_ratio(by_second: Values) -> float:
    """How much more changes at the boundary than in another second.

    Phone clocks smear the boundary, so the excess of five seconds around the largest is summed.
    """
    around = (int(np.argmax(by_second)) + np.arange(-2, 3)) % SLOT_S
    rest = float(np.delete(by_second, around).mean())
    return 1 + max(0.0, float((by_second[around] - rest).sum())) / rest
