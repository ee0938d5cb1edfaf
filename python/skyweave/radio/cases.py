"""Cases sp and 1 to 4 of the paper: which cells the interfaces of a device hold.

In ``sp`` one interface is always at the best cell. In case k there are k interfaces, each at a cell
of its own, that do not follow every drop. The paper does not say when they hand over; the rule here
is ours.
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from skyweave.errors import ConfigError
from skyweave.model.drive import Values
from skyweave.radio.cells import Integers
from skyweave.radio.offer import Offer

Case = Literal["sp", "1", "2", "3", "4"]
WAIT_S = 3
"""Ours: an interface leaves its carrier when a free one offered more for this many seconds."""


def interfaces(offered: Offer, case: Case, wait_s: int = WAIT_S) -> tuple[Integers, Values]:
    """Which carrier each interface holds and what it offers in Mbit/s; both (k, seconds).

    A carrier that is not heard offers 0; where the offer as a whole is not known, NaN and -1.
    Raises :class:`ConfigError` for other cases, a negative wait and too few carriers.
    """
    if case not in get_args(Case) or wait_s < 0:
        raise ConfigError(f"case '{case}', wait {wait_s} s: cases are sp and 1 to 4, waits from 0")
    count = 1 if case == "sp" else int(case)
    if count > len(offered.carriers):
        raise ConfigError(f"case {case} needs {count} carriers; there are {len(offered.carriers)}")
    capacity = np.nan_to_num(offered.capacity_mbps)
    carrier = held_carriers(capacity, count, 0 if case == "sp" else wait_s)
    rates = np.take_along_axis(capacity, carrier, axis=0)
    return np.where(offered.known, carrier, -1), np.where(offered.known, rates, np.nan)


def held_carriers(capacity_mbps: Values, count: int, wait_s: int) -> Integers:
    """The carrier (row of ``capacity_mbps``) of each interface, shape (count, seconds).

    They begin at the best ones. An interface that for more than ``wait_s`` seconds on end offered
    less than the best carrier that no other one holds moves there, the weakest interface first.
    With no wait they are the best ``count`` at any time.
    """
    # Lists: a handful of carriers is too few for arrays to be worth their calls.
    held: list[int] = np.argsort(-capacity_mbps[:, 0], kind="stable")[:count].tolist()
    behind = [0] * count
    result = np.empty((count, capacity_mbps.shape[1]), np.int64)
    for second, now in enumerate(capacity_mbps.T.tolist()):
        for one in sorted(range(count), key=[now[carrier] for carrier in held].__getitem__):
            free = [carrier for carrier in range(len(now)) if carrier not in held]
            best = max(free, key=now.__getitem__, default=held[one])
            behind[one] = behind[one] + 1 if now[best] > now[held[one]] else 0
            if behind[one] > wait_s:
                held[one], behind[one] = best, 0
        result[:, second] = held
    return result
