"""Clocks of logs that disagree: whole hours, and edges that would fit a few seconds later."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import combinations, product
from typing import Final

import numpy as np

from skyweave.data.metrics import on_grid
from skyweave.model.drive import Drive, PathTrace, Series, Values

HOURS: Final = range(-14, 15)
"""Zones are up to 14 hours from UTC."""
MOST_LAG_S: Final = 30
LEAST_FIT, LEAST_LEAD = 0.5, 0.3
"""How well edges must fit at a lag (correlation), and by how much better than as the clocks say."""
LEAST_S: Final = 120
"""Below that a fit may be chance."""


def hours_apart(a: Drive, b: Drive) -> int | None:
    """The hours by which the clock of ``b`` would have to be later for most of it to meet ``a``."""
    from skyweave.data.join import on_one_clock

    if a.start is None or b.start is None:
        return None
    for hours in sorted(HOURS, key=abs):
        if hours:
            moved = replace(b, start=b.start + timedelta(hours=hours))
            shared = on_one_clock([a, moved], "")
            if shared and shared.duration_s > 0.5 * min(a.duration_s, b.duration_s):
                return hours
    return None


def doubts(drive: Drive) -> list[str]:
    """Say of which networks the rates change together, but at another lag than none."""
    said = []
    for a, b in combinations(drive.paths, 2):
        found = lag(drive.paths[a], drive.paths[b], drive.duration_s)
        if found is not None:
            seconds, fit, now = found
            said.append(
                f"The rates of {a} and {b} change together if the clock of {b} is put "
                f"{abs(seconds)} s {'forward' if seconds > 0 else 'back'} (correlation of edges "
                f"{fit:.2f}, and {now:.2f} as the logs say): check the clocks, or correct one "
                "with --shift."
            )
    return said


def lag(a: PathTrace, b: PathTrace, duration_s: float) -> tuple[int, float, float] | None:
    """Seconds by which ``b`` is early, correlation of edges there, and at 0; ``None``: in step."""
    one, other = (_edges(path, duration_s) for path in (a, b))
    if len(one) < LEAST_S or not (one.any() and other.any()):
        return None
    fits = {seconds: _fit(one, other, seconds) for seconds in range(-MOST_LAG_S, MOST_LAG_S + 1)}
    best = max(fits, key=lambda seconds: fits[seconds])
    if abs(best) < 2 or fits[best] < LEAST_FIT or fits[best] - fits[0] < LEAST_LEAD:
        return None
    return best, fits[best], fits[0]


def _fit(one: Values, other: Values, seconds: int) -> float:
    """Correlation of edges, those of ``other`` moved to later times."""
    n = len(one) - abs(seconds)
    a, b = (one[seconds:], other[:n]) if seconds >= 0 else (one[:n], other[-seconds:])
    if np.ptp(a) == 0 or np.ptp(b) == 0:
        return 0.0
    return float(np.corrcoef(a, b)[0, 1])


def _edges(path: PathTrace, duration_s: float) -> Values:
    """How much the rate changes from each second to the next, not logged being 0."""
    series: Sequence[Series | None] = (path.downlink_mbps, path.uplink_mbps)
    rates = next((one for one in series if one is not None), None)
    if rates is None:
        return np.empty(0)
    values = np.nan_to_num(on_grid(rates, 1.0, int(duration_s)))
    edges: Values = np.abs(np.diff(values))
    return edges


def hint(logs: Sequence[Sequence[Drive]]) -> str:
    """Say that whole hours would bring two networks together, where they would."""
    for first, second in combinations(logs, 2):
        for a, b in list(product(first, second))[:1000]:
            hours = hours_apart(a, b)
            if hours is not None:
                return (
                    f"; with {b.origin} put {abs(hours)} h {'forward' if hours > 0 else 'back'} "
                    "they would meet: is it local time, or daylight saving?"
                )
    return ""
