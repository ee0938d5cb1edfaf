"""The lab's links: Starlink by the schedule that its dish tells of, LTE and a wire made up here."""

from __future__ import annotations

import numpy as np

from skyweave.lab.closed_loop import Plan
from skyweave.lab.link import link_over
from skyweave.lab.testbed.places import Place
from skyweave.model import config
from skyweave.orbit import OrbitSpec
from skyweave.telemetry.dish.world import World

LONGEST_S = 4 * 3600.0
"""How long the schedule of a Starlink link is; the lab ends with it."""
INFLATED = 0.6
"""Share of slot edges after which the round trip is inflated: more than on any real link, so that
the trigger fires within a minute or two."""
LTE_MBPS, LTE_RTT_MS, LTE_JITTER_MS = (30.0, 10.0), 45.0, 8.0
LTE_STAYS, LTE_SPREAD = 0.95, 0.12
"""The logarithm of the rate is autoregressive, a step each second; its deviation is 0.38."""
LTE_REPEATS_S = 3600.0
WIRE_MBPS, WIRE_RTT_MS = (40.0, 10.0), 18.0
QUEUE = config.DropTail(packets=500)


def links_of(place: Place, start_unix_s: float, duration_s: float, seed: int) -> list[config.Path]:
    """Return the links of a machine from a moment on, in the order of its uplinks."""
    found = []
    for number, kind in enumerate(place.links):
        own_seed = 1000 * seed + 10 * sum(map(ord, place.name)) + number
        if kind == "starlink":
            path = _starlink(place, start_unix_s, duration_s, own_seed)
        else:
            path = _lte(own_seed) if kind == "lte" else _wire()
        found.append(path.model_copy(update={"name": place.far_device(number)}))
    return found


def orbit_of(place: Place) -> OrbitSpec:
    """Return the orbit of a machine's dish."""
    assert place.terminal is not None
    return Plan(terminal=place.terminal).spec


def _starlink(place: Place, start_unix_s: float, duration_s: float, seed: int) -> config.Path:
    world = World(orbit_of(place), start_unix_s)
    return link_over(world, start_unix_s, duration_s, seed, INFLATED, all_edges=True).path


def _lte(seed: int) -> config.Path:
    """Return a cellular network that stands still: rates and round trips that wander, no outage."""
    random = np.random.default_rng(seed)
    count = int(LTE_REPEATS_S)
    wander = np.zeros(count)
    for second in range(1, count):
        wander[second] = LTE_STAYS * wander[second - 1] + random.normal(0.0, LTE_SPREAD)
    times = tuple(float(one) for one in range(count))
    one_way = tuple((LTE_RTT_MS / 2 + random.exponential(LTE_JITTER_MS / 2, count)).tolist())
    delay = config.DelaySteps(times_s=times, ms=one_way, repeat_s=LTE_REPEATS_S)
    down, up = (
        config.Link(
            capacity=config.RateSteps(
                times_s=times, mbps=tuple((mbps * np.exp(wander)).tolist()), repeat_s=LTE_REPEATS_S
            ),
            delay=delay, queue=QUEUE,
        )
        for mbps in LTE_MBPS
    )  # fmt: skip
    return config.Path(name="lte", down=down, up=up)


def _wire() -> config.Path:
    delay = config.ConstantDelay(ms=WIRE_RTT_MS / 2)
    down, up = (
        config.Link(capacity=config.ConstantRate(mbps=mbps), delay=delay, queue=QUEUE)
        for mbps in WIRE_MBPS
    )
    return config.Path(name="wire", down=down, up=up)
