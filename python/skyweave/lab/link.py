"""A link over the satellites of a schedule, and what is known of it: the truth of a closed loop.

Propagation and gaps come from the orbit. An orbit alone makes no latency as it is measured, so
three things are made up in the size in which they were published: the level of a slot (medians of
slots lie tens of ms apart), jitter, and an inflated round trip after some handovers (about 140 ms
at the beginning of a slot, arXiv 2601.08439).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from skyweave.model.config import ConstantRate, DelaySteps, Link, Path
from skyweave.model.windows import OutageWindow
from skyweave.telemetry.dish.world import World

Floats = npt.NDArray[np.float64]
STEP_S = 0.1
DOWN_MBPS, UP_MBPS = 150.0, 15.0
LEVEL_MS = 8.0
"""Mean of what a slot adds to the round trip (exponential)."""
JITTER_MS = 4.0
"""What each 100 ms add, at most (uniform)."""
INFLATED_MS = (80.0, 160.0)
INFLATED_S = (0.4, 1.2)


@dataclass(frozen=True)
class Disturbance:
    """An inflated round trip, from the edge of a slot on."""

    start_unix_s: float
    end_unix_s: float
    added_ms: float


@dataclass(frozen=True)
class Sky:
    """A link, and what is true of it."""

    start_unix_s: float
    rtt_ms: Floats
    """Each :data:`STEP_S` from the start on; in a gap what it would be."""
    gaps: tuple[OutageWindow, ...]
    edges_unix_s: tuple[float, ...]
    """Edges of slots, the first after the start."""
    disturbances: tuple[Disturbance, ...]

    @property
    def path(self) -> Path:
        """The path of a world: half of the round trip each way."""
        times = tuple((STEP_S * np.arange(len(self.rtt_ms))).round(3).tolist())
        delay = DelaySteps(times_s=times, ms=tuple((self.rtt_ms / 2).tolist()))
        down, up = (
            Link(capacity=ConstantRate(mbps=mbps), delay=delay, outages=self.gaps)
            for mbps in (DOWN_MBPS, UP_MBPS)
        )
        return Path(name="starlink", down=down, up=up)


def link_over(
    world: World, start_unix_s: float, duration_s: float, seed: int, inflated: float = 0.5,
    all_edges: bool = False,
) -> Sky:  # fmt: skip
    """Return the link of ``duration_s`` over a dish's world.

    ``inflated`` is the share of handovers after which the round trip is inflated; ``all_edges``
    counts edges at which the satellite stays as handovers.
    """
    random = np.random.default_rng(seed)
    times: Floats = start_unix_s + STEP_S * np.arange(int(duration_s / STEP_S), dtype=np.float64)
    slot_s, offset_s = world.spec.slot_s or 15.0, world.spec.slot_offset_s
    slots = np.floor((times - offset_s) / slot_s).astype(np.int64)
    levels = random.exponential(LEVEL_MS, slots[-1] - slots[0] + 1)
    rtt = _propagation(world, times) + levels[slots - slots[0]]
    rtt += random.uniform(0.0, JITTER_MS, len(times))
    edges = [float(offset_s + slot_s * slot) for slot in range(slots[0] + 1, slots[-1] + 1)]
    disturbances = []
    for edge in edges:
        changed = all_edges or world.serving(edge - 1.0) != world.serving(edge + 1.0)
        if random.random() < inflated and changed:
            begin_s = edge + world.spec.gap_s
            one = Disturbance(
                begin_s, begin_s + random.uniform(*INFLATED_S), random.uniform(*INFLATED_MS)
            )
            rtt[(times >= one.start_unix_s) & (times < one.end_unix_s)] += one.added_ms
            disturbances.append(one)
    gaps = tuple(
        OutageWindow(start_s=start - start_unix_s, end_s=end - start_unix_s)
        for start, end in world.outages(start_unix_s, start_unix_s + duration_s)
    )
    return Sky(start_unix_s, rtt, gaps, tuple(edges), tuple(disturbances))


def _propagation(world: World, times: Floats) -> Floats:
    """Return the round trip of the schedule each moment; where there is none, the one before."""
    seconds = np.floor(times)
    known = {second: world.at(int(second)).latency_ms for second in np.unique(seconds)}
    last, found = 40.0, []
    for second in seconds.tolist():
        last = known[second] or last
        found.append(last)
    return np.array(found)
