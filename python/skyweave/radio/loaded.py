"""Four carriers as other users leave them: Tables 4 and 5 of MPQUIC-LTE.

The cells of Table 3 are empty ones: Tables 4 and 5 list less than their 0.1-percentile, and a gain
of 1.7 to 1.9 instead of 1.27. So their traces were others, and these are calibrated to them alone:
the capacity of each carrier moves around a mean, independently of the others; two strong ones (one
an operator) and two weak ones.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

import numpy as np

from skyweave.errors import ConfigError, suggest
from skyweave.radio.offer import Offer
from skyweave.radio.synthetic import latents

LoadedPlace = Literal["residential", "road"]


class _Level(NamedTuple):
    """Means of the carriers in Mbit/s, and the spread of the logarithm of the strong ones."""

    strong_mbps: float
    third_mbps: float
    fourth_mbps: float
    spread: float


LEVELS: dict[LoadedPlace, _Level] = {
    "residential": _Level(8.96, 6.64, 0.46, 0.745),
    "road": _Level(13.5, 2.19, 1.18, 0.615),
}
"""Fitted (seed 1000, 60,000 s) to the mean capacity of the best carrier over all rows of Tables 4
and 5 of MPQUIC-LTE (13.58 and 18.16 Mbit/s), and to what the best two, three and four carriers come
to relative to it (1.503, 1.810, 1.832; on the road 1.498, 1.618, 1.677), with a memory of 20 s.
With 5 s that seed is within 0.8 %, others are within 1.1 % in the mean (docs/radio.md)."""
WEAK_SPREAD = 0.6
"""Ours: the spread of the logarithm of the weak carriers."""
MEMORY_S = 5.0
"""Ours: time in which a capacity forgets all but 1/e."""
CARRIERS = (("OP1", 1), ("OP2", 1), ("OP1", 2), ("OP2", 2))


def loaded_offer(
    seed: int, duration_s: int, place: LoadedPlace, memory_s: float = MEMORY_S
) -> Offer:
    """What the carriers of two operators leave, second by second; SINR is not known (NaN).

    Raises :class:`ConfigError` for other places and for less than a second.
    """
    if place not in get_args(LoadedPlace):
        hint = suggest(str(place), get_args(LoadedPlace))
        raise ConfigError(f"place '{place}' is unknown under load; {hint}")
    if duration_s < 1 or memory_s <= 0:
        raise ConfigError(f"{duration_s} s with a memory of {memory_s:g} s: both must be above 0")
    level = LEVELS[place]
    means = np.array([level.strong_mbps, level.strong_mbps, level.third_mbps, level.fourth_mbps])
    spreads = np.array([level.spread, level.spread, WEAK_SPREAD, WEAK_SPREAD])
    moves = spreads * latents(seed, (duration_s, len(CARRIERS)), memory_s) - spreads**2 / 2
    capacity = (means * np.exp(moves)).T
    return Offer(
        carriers=CARRIERS,
        pci=np.repeat(np.arange(len(CARRIERS))[:, None], duration_s, axis=1),
        sinr_db=np.full(capacity.shape, np.nan),
        capacity_mbps=capacity,
        visible=np.full(duration_s, len(CARRIERS)),
    )
