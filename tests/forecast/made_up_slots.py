"""Series with known slots and handovers, and series without any."""

from __future__ import annotations

import numpy as np

from skyweave.forecast import Measurement, measurement

FIRST_UNIX_S = 1_700_000_000
FINE = 10
"""Moments within a sample over which a rate is averaged."""


def slotted(seed, period_s=15.0, offset_s=12.0, spacing_s=0.1, kind="rtt", slots=120, share=0.6):
    """A series whose level changes at a share of the edges, and the times of these handovers."""
    rng = np.random.default_rng(seed)
    begin = FIRST_UNIX_S + rng.uniform(0, 60)
    times = begin + spacing_s * np.arange(int(slots * period_s / spacing_s))
    first = np.floor((begin - offset_s) / period_s)
    handover = rng.random(slots + 2) < share
    handover[0] = False
    # from one satellite's level to another's, at least a sixth of the range away
    level = np.cumsum(np.where(handover, rng.uniform(10, 50, slots + 2), 0.0)) % 60
    fine = (
        (times[:, None] + spacing_s * np.arange(FINE) / FINE) if kind != "rtt" else times[:, None]
    )
    slot = (np.floor((fine - offset_s) / period_s) - first).astype(int)
    values = level[slot].mean(axis=1)
    if kind == "rtt":
        values = 40 + values + rng.gamma(2, 4, len(times))
        values[rng.random(len(times)) < 0.02] = np.inf
    else:
        values = np.maximum(300 - 3 * values + rng.normal(0, 20, len(times)), 0)
    at = offset_s + period_s * (first + np.flatnonzero(handover))
    return measurement("made up", kind, times, values), at[at < times[-1]]


def unslotted(seed, which, count=4500, spacing_s=0.2) -> Measurement:
    """White noise, noise with a memory of 5 s, a random walk, or jumps at random moments."""
    rng = np.random.default_rng(seed)
    if which == "white":
        values = rng.normal(0, 5, count)
    elif which == "memory":
        decay = np.exp(-spacing_s / 5.0)
        kernel = decay ** np.arange(int(40 / spacing_s))
        values = np.convolve(rng.normal(0, 1, count + len(kernel)), kernel, mode="same")[:count]
    elif which == "walk":
        values = np.cumsum(rng.normal(0, 1, count))
    else:
        jumps = np.cumsum(rng.random(count) < spacing_s / 20)
        values = rng.normal(0, 15, jumps[-1] + 1)[jumps] + rng.gamma(2, 3, count)
    return measurement(which, "rtt", FIRST_UNIX_S + spacing_s * np.arange(count), 1000 + values)


def distance(found_s, true_s, period_s):
    """Signed distance of two phases."""
    return (found_s - true_s + period_s / 2) % period_s - period_s / 2


def precision_and_recall(estimate, true, tolerance_s=1.0):
    """Share of the detected handovers that are true, and of the true ones that were detected."""
    found = np.array([edge.time_unix_s for edge in estimate.handovers])
    near = np.abs(found[:, None] - true[None, :]) <= tolerance_s
    return float(near.any(axis=1).mean()), float(near.any(axis=0).mean())
