"""Delay of a link from its capacity: the curve of Figure 3 in three readings.

The paper gives two anchors and no form: 20 ms at 50 Mbit/s, 100 ms at 200 Mbit/s. That the delay
*rises* with capacity is odd, but it is what the text says.
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from skyweave.errors import ConfigError, suggest
from skyweave.model.drive import Values

DelayRule = Literal["power", "linear", "constant"]

LOW_MBPS, LOW_MS = 50.0, 20.0
"""Figure 3, first anchor."""
HIGH_MBPS, HIGH_MS = 200.0, 100.0
"""Figure 3, second anchor."""
POWER = float(np.log(HIGH_MS / LOW_MS) / np.log(HIGH_MBPS / LOW_MBPS))
"""The one exponent (1.161) with which a power law meets both anchors."""
FLOOR_MS = 1.0
"""Ours: no rule gives less. The power law tends to 0 with the capacity, the line falls below 0
under 12.5 Mbit/s, and no LTE link is faster than its subframe of 1 ms."""


def delay_ms(capacity_mbps: npt.ArrayLike, rule: DelayRule = "power") -> Values:
    """One-way delay in ms of a link with this capacity (Mbit/s); NaN stays NaN.

    ``power``: 20·(c/50)^1.161. ``linear``: the line through the anchors. ``constant``: 20 ms.
    None of them below :data:`FLOOR_MS`. :class:`ConfigError` for other rules and for negative
    capacities.
    """
    rate = np.asarray(capacity_mbps, np.float64)
    if rule not in get_args(DelayRule):
        known = suggest(str(rule), get_args(DelayRule))
        raise ConfigError(f"delay rule '{rule}' is unknown; {known}")
    if (rate < 0).any():
        raise ConfigError("a capacity below 0 has no delay; give Mbit/s from 0")
    if rule == "power":
        delay = LOW_MS * (rate / LOW_MBPS) ** POWER
    elif rule == "linear":
        delay = LOW_MS + (HIGH_MS - LOW_MS) / (HIGH_MBPS - LOW_MBPS) * (rate - LOW_MBPS)
    else:
        delay = np.where(np.isnan(rate), np.nan, LOW_MS)
    return np.maximum(delay, FLOOR_MS)
