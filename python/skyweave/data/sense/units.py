"""Numbers of a column in Mbit/s or in ms: by the unit in its name, else by their size."""

from __future__ import annotations

import numpy as np

from skyweave.data.sense.columns import Meaning
from skyweave.model.drive import Values

LEAST_KBPS, LEAST_BPS = 3e3, 3e6
"""Medians of rates without a unit: above the first they are kbit/s, above the second bit/s.
A link of a user has 1 Mbit/s to 3 Gbit/s."""
MOST_TRIP_S = 2.0
"""The largest median of round trips without a unit that is taken for seconds."""
LEAST_TRIP_MS, MOST_TRIP_MS = 1.0, 10_000.0
"""Round trips outside are a slip of the unit, or no network to the Internet."""
MOST_LIKELY_MBPS = 10_000.0


def in_mbps(values: Values, meant: Meaning, times_s: Values) -> tuple[Values, str]:
    """Rates in Mbit/s, and what the column was taken for."""
    way = "uplink" if meant.is_up else "downlink"
    if meant.measure == "volume":
        return _from_volume(values, meant, times_s, way)
    factor, unit = meant.factor, meant.unit
    if factor is None:
        size = _median(values)
        factor, unit = (
            (1e-6, "bit/s by its size") if size > LEAST_BPS
            else (1e-3, "kbit/s by its size") if size > LEAST_KBPS
            else (1.0, "Mbit/s by its size")
        )  # fmt: skip
    rates = values * factor
    return rates, f"{way} in {unit}{_doubt(rates)}"


def _doubt(rates: Values) -> str:
    median = _median(rates)
    if median > MOST_LIKELY_MBPS:
        return f" (a median of {median:,.0f} Mbit/s: check that unit)"
    if 0 < median < 0.01:
        return f" (a median of {median * 1e3:.2g} kbit/s: check that unit)"
    return ""


def _from_volume(values: Values, meant: Meaning, times_s: Values, way: str) -> tuple[Values, str]:
    """Amounts of each row, or a counter of all so far, as rates until the next row."""
    known = values[~np.isnan(values)]
    counts = len(known) > 2 and bool((np.diff(known) >= 0).all()) and known[-1] > 2 * known[1]
    step_s = np.diff(times_s, append=np.nan)
    step_s[-1] = np.nanmedian(step_s) if len(step_s) > 1 else 1.0
    step_s[step_s <= 0] = np.nan
    if counts:
        grown = np.diff(values, append=np.nan)
        return grown * (meant.factor or 1.0) / step_s, f"{way}, a counter of {meant.unit}"
    return values * (meant.factor or 1.0) / step_s, f"{way}, {meant.unit} of each row"


def in_ms(values: Values, meant: Meaning) -> tuple[Values, str]:
    """Round trips in ms, and what the column was taken for."""
    factor, unit = meant.factor, meant.unit
    if factor is None:
        seconds = _median(values) < MOST_TRIP_S
        factor, unit = (1e3, "s by their size") if seconds else (1.0, "ms by their size")
    trips = values * factor
    median = _median(trips)
    odd = median == median and not LEAST_TRIP_MS <= median <= MOST_TRIP_MS
    doubt = f" (a median of {median:g} ms: check that unit)" if odd else ""
    return trips, f"round trips in {unit}{doubt}"


def _median(values: Values) -> float:
    """Of what was logged and is not zero."""
    known = values[~np.isnan(values) & (values > 0)]
    return float(np.median(known)) if len(known) else float("nan")
