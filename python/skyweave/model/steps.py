"""Series of a drive as steps of a link: what studies and :meth:`Drive.to_paths` share."""

from __future__ import annotations

import numpy as np

from skyweave.model import config
from skyweave.model.drive import Series, Values

UNLIMITED_MBPS = 1000.0
"""Capacity of a direction that is not measured, or that a study declares unlimited."""


def capacity(rates: Series | None, duration_s: float) -> config.Capacity:
    """Rates in Mbit/s as steps up to ``duration_s``; not logged is 0, not measured unlimited."""
    if rates is None:
        return config.ConstantRate(mbps=UNLIMITED_MBPS)
    inside = rates.times_s < duration_s
    values = np.maximum(np.nan_to_num(rates.values[inside], nan=0.0), 0.0)
    return config.RateSteps(times_s=floats(rates.times_s[inside]), mbps=floats(values))


def delay(trips: Series, scale: float = 1.0) -> config.DelaySteps:
    """Half of each round trip in ms, times ``scale``; what was not logged is as before."""
    filled = held(trips.values)
    return config.DelaySteps(times_s=floats(trips.times_s), ms=floats(filled * scale / 2))


def held(values: Values) -> Values:
    """Fill what was not logged with the value before it, and the beginning with the first one."""
    known = np.flatnonzero(~np.isnan(values))
    nearest = np.searchsorted(known, np.arange(len(values)), side="right") - 1
    filled: Values = values[known[np.maximum(nearest, 0)]]
    return filled


def floats(values: Values) -> tuple[float, ...]:
    """The values as a run holds them."""
    return tuple(float(value) for value in values)
