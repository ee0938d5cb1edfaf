"""Two made-up operators whose cells have the statistics of Tables 2 and 3 of MPQUIC-LTE.

Its logs are not public. Here each operator's best cell follows its row of Table 3, and the
numbers of available and visible cells follow Table 2; powers come from the inverse of Eq. 1 and 2.
These numbers are therefore inputs. How the operators move together is one parameter, fitted to the
rows "best single path" and "multipath"; how fast all of it moves is ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal, get_args

import numpy as np

from skyweave.errors import ConfigError, suggest
from skyweave.model.drive import Values
from skyweave.radio.cells import CellGrid
from skyweave.radio.equations import BANDWIDTH_MHZ, CAPACITY_CAP_MBPS, GAMMA, LOAD, NOISE_MW, C
from skyweave.radio.logs import LONGEST_S

Place = Literal["whole", "residential", "road"]

_SHARES = (0.0, 0.001, 0.01, 0.05, 0.1, 0.2, 0.5, 1.0)
TABLE_3_MBPS = {
    "OP1": (0.0, 0.03, 0.43, 3.12, 4.70, 9.05, 23.24, 55.547),
    "OP2": (0.0, 0.01, 0.03, 0.22, 0.59, 2.17, 16.58, 49.0),
}
"""MPQUIC-LTE, Table 3: capacity at :data:`_SHARES`. The smallest is 0; the largest is the one with
which straight lines between the others have the published mean (19.37 Mbit/s), for OP1 the cap of
Eq. 2, with which it has 25.50 instead of 25.74."""
AVAILABLE: dict[Place, tuple[float, float, float]] = {
    "whole": (0.40, 0.23, 0.37),
    "residential": (0.0, 0.01, 0.99),
    "road": (0.05, 0.71, 0.24),
}
"""Shares of 2, 3 and 4 available cells: means 2.97, 3.99 and 3.19 as in MPQUIC-LTE, Table 2, and
the shares that the text on Figure 2 states."""
MANY, MANY_SHARE = 8, 0.20
"""MPQUIC-LTE: more than 7 cells are visible in 20 % of the time. Then there are this many …"""
ONE_SHARE = 0.355
"""… and else, in this share, one more than available: so the mean is the published 4.26."""
OPPOSED = 0.98
"""Fitted: correlation, negative, of the latent values of the two operators."""
EXTRA_SINR_DB = -7.2
"""Fitted: median of the further cells, which add little (published: MP - OP1 - OP2 = 1.3)."""
EXTRA_SPREAD_DB = 3.0
NEIGHBOUR_SHARE = 0.04
"""Ours: power of all neighbours together, relative to the best cell of OP1."""
MEMORY_S = 20.0
"""Ours: time in which the latent values forget all but 1/e."""


@dataclass(frozen=True)
class _Latents:
    """Independent standard normal processes, each of shape (seconds,)."""

    first: Values
    second: Values
    available: Values
    visible: Values
    extra: tuple[Values, Values]


def synthetic_cells(seed: int, duration_s: int, place: Place = "whole") -> list[CellGrid]:
    """The cells of ``OP1`` and ``OP2`` on one clock, for :func:`skyweave.radio.offer`.

    Carrier 1 of each is its best cell, carrier 2 the further one where there is one. Positions do
    not exist (NaN). Raises :class:`ConfigError` for other places and for less than a second.
    """
    if place not in get_args(Place):
        raise ConfigError(f"place '{place}' is unknown; {suggest(str(place), get_args(Place))}")
    if not 1 <= duration_s <= LONGEST_S:
        raise ConfigError(f"duration_s {duration_s}: a drive lasts a second or more, a day at most")
    one, two, three, four, five, six = latents(seed, (duration_s, 6), MEMORY_S).T
    latent = _Latents(one, two, three, four, (five, six))
    opposed = -OPPOSED * latent.first + np.sqrt(1 - OPPOSED**2) * latent.second
    edges = np.cumsum(AVAILABLE[place])[:2]
    further = np.searchsorted(edges, _share(latent.available), "right").astype(np.float64)
    neighbours = _neighbours(_share(latent.visible), 2 + further)
    extra = [EXTRA_SINR_DB + EXTRA_SPREAD_DB * one for one in latent.extra]
    extra_dbm = [_dbm(10 ** (one / 10) * NOISE_MW) for one in extra]
    first = _power_mw(_capacity("OP1", latent.first), np.where(neighbours > 0, NEIGHBOUR_SHARE, 0))
    second = _power_mw(_capacity("OP2", opposed), np.zeros(duration_s))
    most = MANY - 2
    each = np.where(
        np.arange(most)[:, None] < neighbours,
        _dbm(NEIGHBOUR_SHARE * first / np.maximum(neighbours, 1)),
        np.nan,
    )
    return [
        _grid("OP1", [_dbm(first), *each], np.where(further >= 1, extra_dbm[0], np.nan)),
        _grid("OP2", [_dbm(second)], np.where(further >= 2, extra_dbm[1], np.nan)),
    ]


def latents(seed: int, shape: tuple[int, int], memory_s: float) -> Values:
    """Independent standard normal processes, shape (seconds, number).

    They are first-order autoregressive and stationary from the first second.
    """
    noise = np.random.Generator(np.random.PCG64(seed)).standard_normal(shape)
    keep = float(np.exp(-1 / memory_s))
    fresh = np.sqrt(1 - keep**2)
    for second in range(1, shape[0]):
        noise[second] = keep * noise[second - 1] + fresh * noise[second]
    return noise


def _share(latent: Values) -> Values:
    """Standard normal to uniform on 0 to 1."""
    grid = np.linspace(-6, 6, 2401)
    return np.interp(latent, grid, [NormalDist().cdf(z) for z in grid.tolist()])


def _capacity(operator: str, latent: Values) -> Values:
    """Capacity in Mbit/s with the distribution of Table 3."""
    return np.interp(_share(latent), _SHARES, TABLE_3_MBPS[operator])


def _neighbours(share: Values, available: Values) -> Values:
    """How many cells are visible beyond those that are available."""
    few = (share < MANY_SHARE + (1 - MANY_SHARE) * ONE_SHARE).astype(np.float64)
    return np.where(share < MANY_SHARE, MANY - available, few)


def _power_mw(capacity_mbps: Values, neighbour_share: Values) -> Values:
    """RSRP in mW of a cell with this capacity: the inverse of Eq. 2 and 1.

    ``neighbour_share`` is the power of its neighbours relative to its own.
    """
    rate = np.clip(capacity_mbps, 1e-6, CAPACITY_CAP_MBPS)
    sinr = np.expm1(rate * np.log(2) / (BANDWIDTH_MHZ * C)) / GAMMA
    return np.asarray(sinr * NOISE_MW / (1 - LOAD * neighbour_share * sinr))


def _dbm(power_mw: Values) -> Values:
    return np.asarray(10 * np.log10(power_mw))


def _grid(operator: str, best: list[Values], further: Values) -> CellGrid:
    count = len(further)
    nowhere = np.full(count, np.nan)
    carriers = np.array([1] * len(best) + [2])
    return CellGrid(
        operator, carriers, np.arange(len(carriers)), np.stack([*best, further]), nowhere, nowhere
    )
