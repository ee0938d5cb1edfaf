"""The period of the slots, if it is not known: the one whose profile stands out most.

How finely periods can be distinguished grows with the time that a profile spans, so a grid for days
would be huge. The search therefore adds up the peaks of stretches of half an hour, each with a
phase of its own; what stands out there is then held against the whole series.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from skyweave.forecast.folding import Progress, silent
from skyweave.forecast.shifts import Shifts, mean_ranks
from skyweave.model.drive import Values

STRETCH_S = 1800.0
COLUMN_S = 1.0
"""Width of the phases while searching; about half the width of a shift's own peak."""
NEIGHBOURS = 300
"""Periods that are compared with each other: longer ones have more phases and higher chance peaks,
so a period must stand out among those of about its length."""
FINALISTS = 20
PARTS = range(1, 6)
"""Whole parts of a finalist are finalists too: three slots together also make a period."""
PART_SHARE = 0.85
"""A part of a period with at least this share of its height is the period. A true one and its half
differ by 0.71; the other way round, two of three slots may be handovers by chance."""
ROUND_TO_S = (1.0, 0.5, 0.25, 0.1)
ROUND_LEAD = 3.0
"""Standard errors by which a period that is not round must be ahead: it had dozens of tries, and
the best of these is two or so ahead by chance."""
MOST_STEPS = 2000


def find_period(shifts: Shifts, low_s: float, high_s: float, progress: Progress = silent) -> float:
    """The period in [low, high] s whose profile, over the whole series, has the highest peak.

    The height is in standard errors of a phase's mean. At twice the true period two peaks share
    the edges, at half of it half of the phases dilute them: both are lower by a factor of 1.4.
    Looked at are the round periods near those that stand out in stretches, and the best of the
    others followed to the length of the series.
    """
    times, sizes = _coarse(shifts)
    _, stretch = np.unique((times // STRETCH_S).astype(np.int64), return_inverse=True)
    step = COLUMN_S / STRETCH_S
    count = int(np.log(high_s / low_s) / np.log1p(step)) + 1
    tried = low_s * (1 + step) ** np.arange(count)
    heights = [_heights(times, sizes, stretch, tried[k]).sum() for k in progress(range(count))]
    ahead = tried[np.argsort(-_prominence(np.array(heights)))[:FINALISTS]]
    parts = [period / part for period in ahead.tolist() for part in PARTS]
    finalists = {near for p in parts if (near := roundest(p, 1.5 * step * p)) is not None}
    whole = np.zeros(len(times), np.int64)

    def height(period: float) -> float:
        return float(_heights(times, sizes, whole, period)[0])

    inside = [period for period in sorted(finalists) if low_s <= period <= high_s]
    longest = _lengthened(times, sizes, float(ahead[0]))
    odd = max((longest / n for n in PARTS if longest / n >= low_s), key=height, default=longest)
    even = max(inside, key=height, default=odd)
    best = odd if height(odd) > height(even) + ROUND_LEAD else even
    shorter = [best / n for n in reversed(PARTS) if best / n >= low_s]
    return next(part for part in shorter if height(part) >= PART_SHARE * height(best))


def roundest(period_s: float, tolerance_s: float) -> float | None:
    """The roundest number within the tolerance: people build slots of 15 s, not of 15.0007 s.

    >>> roundest(15.0007, 0.001), roundest(12.52, 0.05), roundest(13.3704, 0.001)
    (15.0, 12.5, None)
    """
    for unit in ROUND_TO_S:
        near = round(round(period_s / unit) * unit, 6)
        if abs(near - period_s) <= tolerance_s:
            return near
    return None


def _lengthened(times: Values, sizes: Values, period_s: float) -> float:
    """The period again from ever more samples with one phase, while their peak grows."""
    centre = len(times) // 2
    reach = int(np.searchsorted(times, times[centre] + STRETCH_S / 2)) - centre
    best, height, span = period_s, 0.0, STRETCH_S
    while True:
        part = slice(max(0, centre - reach), centre + reach)
        longer = float(times[part][-1] - times[part][0])
        steps = np.ceil(2 * max(longer, span) / span)
        if steps > MOST_STEPS:
            break  # a gap so long that no period bridges it without losing count
        together = np.zeros(len(times[part]), np.int64)
        near = best * (1 + COLUMN_S / 2 / longer * np.arange(-steps, steps + 1))
        heights = [_heights(times[part], sizes[part], together, p)[0] for p in near]
        if max(heights) < height:
            break  # the clock wanders, or it was chance: farther does not help
        best, height, span = float(near[int(np.argmax(heights))]), max(heights), longer
        if part.start == 0 and part.stop >= len(times):
            break
        reach *= 2
    return best


def _coarse(shifts: Shifts) -> tuple[Values, Values]:
    """Mean sizes on half columns, as ranks: one great shift is not to make a period of its own."""
    cell = np.floor(shifts.instants_unix_s / (COLUMN_S / 2))
    _, where, counts = np.unique(cell, return_inverse=True, return_counts=True)
    begin = float(shifts.instants_unix_s[0])
    times = np.bincount(where, shifts.instants_unix_s - begin) / counts
    return times, mean_ranks(np.bincount(where, shifts.sizes) / counts)


def _heights(
    times: Values, sizes: Values, stretch: npt.NDArray[np.int64], period_s: float
) -> Values:
    """The highest phase of each stretch above its mean, in standard errors; zero for constants."""
    columns = max(4, round(period_s / COLUMN_S))
    column = (times * (columns / period_s)).astype(np.int64) % columns
    rows = int(stretch[-1]) + 1
    place = stretch * columns + column
    counts = np.bincount(place, minlength=rows * columns).reshape(rows, columns)
    sums = np.bincount(place, sizes, rows * columns).reshape(rows, columns)
    overall = sums.sum(axis=1, keepdims=True) / counts.sum(axis=1, keepdims=True)
    excess = (sums / np.maximum(counts, 1) - overall) * np.sqrt(counts)
    highest: Values = excess.max(axis=1) / max(float(sizes.std()), 1e-12)
    return highest


def _prominence(heights: Values) -> Values:
    """How far each height lies above those of its neighbours, in their median deviations."""
    parts = []
    for part in np.array_split(heights, max(1, len(heights) // NEIGHBOURS)):
        middle = np.median(part)
        spread = max(float(np.median(np.abs(part - middle))), 1e-12)
        parts.append((part - middle) / spread)
    return np.concatenate(parts)
