"""Single slot edges: which of them were handovers, and how long the series is upset after one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skyweave.forecast.folding import FINEST_S
from skyweave.forecast.measurement import Measurement
from skyweave.forecast.shifts import Shifts, mean_ranks
from skyweave.model import limits
from skyweave.model.drive import Values

CONFIDENT = 0.95
"""Least confidence of a handover: of moments that are no edges, one in twenty looks like it."""
SETTLED_SHARE = (1 / 3, 0.9)
"""The part of a slot that shows its level: after what the edge did, before the next one."""
DISTURBED = 3.0
"""Standard deviations above the rest of the slot that still count as disturbed."""
NEIGHBOURS = 3.0
"""Samples farther apart than this many spacings are not compared."""


@dataclass(frozen=True)
class Edge:
    """A slot edge between samples: when, how surely a handover, and what the level did.

    ``confidence`` is the share of moments between edges whose shift is smaller than this edge's
    (0 to 1); ``shift`` the median after less the median before, in the unit of the series, NaN
    where all probes on one side were lost.
    """

    time_unix_s: float
    confidence: float
    shift: float

    @property
    def handover(self) -> bool:
        """Whether the shift exceeds what the series does elsewhere."""
        return self.confidence >= CONFIDENT


def rate_edges(
    series: Measurement, shifts: Shifts, period_s: float, offset_s: float
) -> tuple[Edge, ...]:
    """Each edge against the moments between edges, all rated by the largest shift around them.

    "Around" is half a window, within which a true edge shows at least half of its shift. Moments
    between edges are so far from them that their windows hold nothing of an edge.
    """
    tolerance = shifts.window_s / 2
    begin, end = shifts.instants_unix_s[[0, -1]].tolist()
    first = begin + (offset_s - begin) % period_s
    quiet = shifts.window_s + tolerance
    limits.checked((end - first) / min(period_s, 2 * tolerance), f"{series.name}: its edges")
    edges = np.arange(first, end + 1e-6, period_s)
    between = np.arange(quiet, period_s - quiet + 1e-6, 2 * tolerance)
    own = _largest(shifts, edges, tolerance)
    others = _largest(shifts, (edges[:, None] + between).ravel(), tolerance)
    null = np.sort(others[~np.isnan(others)])
    smaller = np.searchsorted(null, own)
    return tuple(
        Edge(time, float(smaller[k] / (len(null) + 1)), _step(series, time, shifts.window_s))
        for k, time in enumerate(edges.tolist())
        if not np.isnan(own[k])
    )


def _largest(shifts: Shifts, moments: Values, tolerance: float) -> Values:
    """The largest shift within the tolerance of each moment; NaN where there is none."""
    reach = tolerance + 1e-6
    first = np.searchsorted(shifts.instants_unix_s, moments - reach)
    end = np.searchsorted(shifts.instants_unix_s, moments + reach)
    padded = np.append(shifts.sizes, 0.0)  # reduceat wants a place after the last one
    pairs = np.stack([first, end], axis=1).ravel()
    largest = np.maximum.reduceat(padded, pairs)[::2]
    return np.where(end > first, largest, np.nan)


def _step(series: Measurement, time: float, window: float) -> float:
    """Median after less median before, lost probes apart."""
    cuts = np.searchsorted(series.times_unix_s, [time - window, time, time + window])
    parts = [series.values[a:b] for a, b in ((cuts[0], cuts[1]), (cuts[1], cuts[2]))]
    before, after = (part[np.isfinite(part)] for part in parts)
    if not len(before) or not len(after):
        return float("nan")
    return float(np.median(after) - np.median(before))


def disturbance_s(series: Measurement, period_s: float, offset_s: float) -> float:
    """How long after an edge neighbouring samples typically differ more than later in the slot.

    The mean change in rank from sample to sample, by time since the edge, until it first falls to
    what it is in the settled part; at least one sample, at most until that part begins. Changes,
    not distances from the slot's level: a level that wanders is no disturbance.
    """
    times, ranks = series.times_unix_s, mean_ranks(series.values)
    near = np.diff(times) <= NEIGHBOURS * series.spacing_s
    changes, since = np.abs(np.diff(ranks))[near], ((times[1:] - offset_s) % period_s)[near]
    width = max(series.spacing_s, FINEST_S)
    column = (since / width).astype(np.int64)
    means = np.bincount(column, changes) / np.maximum(np.bincount(column), 1)
    begin, end = (int(share * period_s / width) for share in SETTLED_SHARE)
    quiet = means[begin:end]
    if not len(quiet):
        return width
    calm = means <= quiet.mean() + DISTURBED * quiet.std()
    return width * min(max(int(np.argmax(calm)), 1), max(begin, 1))
