"""Links with a name, on which algorithms are looked at and compared: 50 Mbit/s, 60 ms, and what
each does to a sender. Queues hold one bandwidth-delay product unless said otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from skyweave.errors import ConfigError, unknown_name
from skyweave.model.config import (
    Bernoulli,
    ConstantDelay,
    ConstantRate,
    DelaySteps,
    DropTail,
    Link,
    Path,
    RateSteps,
)
from skyweave.model.windows import OutageWindow

MBPS = 50.0
RTT_MS = 60.0
DURATION_S = 60.0
QUEUE = DropTail(bytes=int(MBPS * RTT_MS * 125))
SLOT_RTTS_MS = (60.0, 45.0, 75.0, 50.0)
"""Round-trip times of four 15 s slots, as a handover between satellites changes them."""


@dataclass(frozen=True)
class GoldenLink:
    """A link and what it shows."""

    name: str
    meaning: str
    make: Callable[[], Link]


def _link(**change: object) -> Link:
    steady = {
        "capacity": ConstantRate(mbps=MBPS),
        "delay": ConstantDelay(ms=RTT_MS / 2),
        "queue": QUEUE,
    }
    return Link.model_validate({**steady, **change})


def _steps(*mbps: float) -> RateSteps:
    times = tuple(20.0 * step for step in range(len(mbps)))
    return RateSteps(times_s=times, mbps=mbps)


def _starlink() -> Link:
    slots = tuple(15.0 * slot for slot in range(len(SLOT_RTTS_MS)))
    return _link(
        capacity=RateSteps(times_s=slots, mbps=(50.0, 80.0, 30.0, 60.0)),
        delay=DelaySteps(times_s=slots, ms=tuple(rtt / 2 for rtt in SLOT_RTTS_MS)),
        loss=Bernoulli(ratio=0.002),
        outages=tuple(OutageWindow(start_s=start, end_s=start + 0.1) for start in slots[1:]),
    )


def _rtt_steps() -> Link:
    slots = tuple(15.0 * slot for slot in range(len(SLOT_RTTS_MS)))
    return _link(delay=DelaySteps(times_s=slots, ms=tuple(rtt / 2 for rtt in SLOT_RTTS_MS)))


def _blackout() -> Link:
    return _link(outages=(OutageWindow(start_s=20.0, end_s=21.0),))


LINKS = (
    GoldenLink("steady", "50 Mbit/s, 60 ms, nothing else", _link),
    GoldenLink("step-up", "10 Mbit/s, 50 from 20 s on", lambda: _link(capacity=_steps(10, 50))),
    GoldenLink("step-down", "50 Mbit/s, 10 from 20 s on", lambda: _link(capacity=_steps(50, 10))),
    GoldenLink("rtt-steps", "every 15 s another round-trip time: 60, 45, 75, 50 ms", _rtt_steps),
    GoldenLink("loss", "2 % lost at random", lambda: _link(loss=Bernoulli(ratio=0.02))),
    GoldenLink("blackout", "nothing passes for 1 s at 20 s", _blackout),
    GoldenLink(
        "starlink",
        "every 15 s another rate and round-trip time, 0.1 s of silence between, 0.2 % loss",
        _starlink,
    ),
)


def golden_path(name: str) -> Path:
    """The path of a named link; ACKs return over a clean one. :class:`ConfigError` if unknown."""
    for link in LINKS:
        if link.name == name:
            down = link.make()
            up = Link(capacity=ConstantRate(mbps=1000.0), delay=down.delay, outages=down.outages)
            return Path(name=name, down=down, up=up)
    raise ConfigError(unknown_name("link", name, [link.name for link in LINKS]))


def capacity_mbps(path: Path, time_s: float) -> float:
    """What the path carries downward at a time, outages aside."""
    capacity = path.down.capacity
    if isinstance(capacity, RateSteps):
        steps = zip(capacity.times_s, capacity.mbps, strict=True)
        return [mbps for start, mbps in steps if start <= time_s][-1]
    assert isinstance(capacity, ConstantRate)
    return capacity.mbps
