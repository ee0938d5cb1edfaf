"""Skyweave weaves satellite and cellular paths into one connection, and shows what that is worth.

>>> import skyweave as sw
>>> def path(name, mbps, rtt_ms):
...     link = sw.Link(capacity=sw.ConstantRate(mbps=mbps), delay=sw.ConstantDelay(ms=rtt_ms / 2))
...     return sw.Path(name=name, down=link, up=link)
>>> record = sw.simulate(
...     paths=[path("starlink", 50, 60), path("lte", 20, 90)],
...     connections=[sw.Connection(scheduler="blest", congestion="bbr",
...                                workload=sw.Bulk(bytes=10_000_000))],
... )
>>> record.totals["connections"][0]["goodput_mbps"] > 40
True
"""

from skyweave.config import (
    Bernoulli,
    Bulk,
    CoDel,
    Connection,
    ConstantDelay,
    ConstantRate,
    DelaySteps,
    DropTail,
    GilbertElliott,
    InfiniteQueue,
    Link,
    LossSteps,
    NoLoss,
    Opportunities,
    OutageWindow,
    Path,
    RateSteps,
    Run,
    UpWindow,
)
from skyweave.drive import Drive, PathTrace, Series
from skyweave.engine import simulate
from skyweave.errors import ConfigError, DataError, ResultsError, SkyweaveError
from skyweave.record import Record
from skyweave.scheduling import Ahead, ConnectionView, PathView, Scheduler, Wait
from skyweave.traces import read_capacity, read_delay

__all__ = [
    "Ahead",
    "Bernoulli",
    "Bulk",
    "CoDel",
    "ConfigError",
    "Connection",
    "ConnectionView",
    "ConstantDelay",
    "ConstantRate",
    "DataError",
    "DelaySteps",
    "Drive",
    "DropTail",
    "GilbertElliott",
    "InfiniteQueue",
    "Link",
    "LossSteps",
    "NoLoss",
    "Opportunities",
    "OutageWindow",
    "Path",
    "PathTrace",
    "PathView",
    "RateSteps",
    "Record",
    "ResultsError",
    "Run",
    "Scheduler",
    "Series",
    "SkyweaveError",
    "UpWindow",
    "Wait",
    "read_capacity",
    "read_delay",
    "simulate",
]
