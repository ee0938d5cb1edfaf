"""Four carriers as other users leave them: Tables 4 and 5 of MPQUIC-LTE.

The cells of Table 3 are empty ones: Tables 4 and 5 list less than their 0.1-percentile, and a gain
of 1.7 to 1.9 instead of 1.27. So their traces were others, and these are calibrated to them alone:
the capacity of each carrier moves around a mean, independently of the others; two strong ones (one
an operator) and two weak ones.
"""

from __future__ import annotations

from statistics import NormalDist
from typing import Literal, NamedTuple, get_args

import numpy as np

from skyweave.errors import ConfigError, suggest
from skyweave.model.drive import Values
from skyweave.radio.cells import Integers
from skyweave.radio.offer import Offer
from skyweave.radio.synthetic import latents

LoadedPlace = Literal["residential", "road"]
Heard = Literal["always", "figure-2"]
"""Whether the weak carriers are heard throughout, or as often as Figure 2 and Table 2 say."""


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
HEARD: dict[LoadedPlace, tuple[float, float]] = {"residential": (1.0, 0.99), "road": (0.95, 0.24)}
"""Share of the time in which the two weak carriers are heard with ``figure-2``: together with two
strong ones 3.99 and 3.19 cells in the mean (Table 2), four in 99 and 23 % of the time (Figure 2:
nearly the entire time, and less than 25 %)."""
HEARD_MEMORY_S = 20.0
"""Ours: time in which whether a carrier is heard is forgotten."""
CARRIERS = (("OP1", 1), ("OP2", 1), ("OP1", 2), ("OP2", 2))


def loaded_offer(
    seed: int,
    duration_s: int,
    place: LoadedPlace,
    memory_s: float = MEMORY_S,
    cells: tuple[float | None, Heard] = (None, "always"),
) -> Offer:
    """What the carriers of two operators leave, second by second; SINR is not known (NaN).

    ``cells``: after how many seconds in the mean a carrier is served by its next cell (``None``:
    never), and whether the weak carriers are always heard. One that is heard for a part of the time
    offers as much more then: the means of Tables 4 and 5 stay. Raises :class:`ConfigError` for
    other places and for less than a second.
    """
    if place not in get_args(LoadedPlace):
        hint = suggest(str(place), get_args(LoadedPlace))
        raise ConfigError(f"place '{place}' is unknown under load; {hint}")
    cell_s, heard = cells
    if duration_s < 1 or memory_s <= 0 or (cell_s is not None and cell_s < 1):
        stay = "" if cell_s is None else f" and {cell_s:g} s at a cell"
        raise ConfigError(
            f"{duration_s} s with a memory of {memory_s:g} s{stay}: the first two must be above 0, "
            "a stay at least 1 s"
        )
    level = LEVELS[place]
    means = np.array([level.strong_mbps, level.strong_mbps, level.third_mbps, level.fourth_mbps])
    spreads = np.array([level.spread, level.spread, WEAK_SPREAD, WEAK_SPREAD])
    moves = spreads * latents(seed, (duration_s, len(CARRIERS)), memory_s) - spreads**2 / 2
    capacity = (means * np.exp(moves)).T
    if heard == "figure-2":
        capacity = _heard_at_times(capacity, HEARD[place], seed)
    return Offer(
        carriers=CARRIERS,
        pci=np.where(np.isnan(capacity), -1, _cells(seed, duration_s, cell_s)),
        sinr_db=np.full(capacity.shape, np.nan),
        capacity_mbps=capacity,
        visible=np.full(duration_s, len(CARRIERS)),
    )


def _cells(seed: int, duration_s: int, cell_s: float | None) -> Integers:
    """Which cell serves each carrier, shape (carriers, seconds): numbers that no two share.

    Stays are exponential with the mean ``cell_s``, in whole seconds, independent of each other.
    """
    first = np.arange(len(CARRIERS), dtype=np.int64)[:, None]
    if cell_s is None:
        return np.repeat(first, duration_s, axis=1)
    random = np.random.Generator(np.random.PCG64([seed, 1]))
    leaves = random.random((len(CARRIERS), duration_s)) < -np.expm1(-1 / cell_s)
    leaves[:, 0] = False
    changes: Integers = np.cumsum(leaves, axis=1)
    return first + len(CARRIERS) * changes


def _heard_at_times(capacity: Values, shares: tuple[float, float], seed: int) -> Values:
    """The capacities with the two weak carriers NaN outside these shares of the time."""
    fields = np.random.SeedSequence([seed, 2]).generate_state(1)
    latent = latents(int(fields[0]), (capacity.shape[1], len(shares)), HEARD_MEMORY_S)
    weak = range(len(CARRIERS) - len(shares), len(CARRIERS))
    for row, share, moves in zip(weak, shares, latent.T, strict=True):
        if share < 1:
            is_heard = moves < NormalDist().inv_cdf(share)
            capacity[row] = np.where(is_heard, capacity[row] / share, np.nan)
    return capacity
