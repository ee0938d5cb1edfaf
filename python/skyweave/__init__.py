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

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from skyweave.comparison.api import compare
    from skyweave.data.traces import read_capacity, read_delay
    from skyweave.engine.abr import Abr, AbrDownload, AbrView
    from skyweave.engine.scheduling import Ahead, ConnectionView, PathView, Scheduler, Wait
    from skyweave.engine.simulator import simulate
    from skyweave.errors import ConfigError, DataError, ResultsError, SkyweaveError
    from skyweave.model.config import (
        After,
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
        Path,
        Quic,
        RateSteps,
        Run,
        Unknown,
        Workload,
    )
    from skyweave.model.drive import Drive, PathTrace, Series
    from skyweave.model.forecast import (
        Forecast,
        ForecastBoundary,
        ForecastSeries,
        ForecastUpdate,
    )
    from skyweave.model.record import Record
    from skyweave.model.totals import ConnectionTotals, LinkTotals, PathTotals, RunTotals
    from skyweave.model.windows import ForecastWindow, OutageWindow, UpWindow
    from skyweave.study.run.observer import StudyObserver
    from skyweave.study.run.session import StudyOptions, run_study

__all__ = [
    "Abr",
    "AbrDownload",
    "AbrView",
    "After",
    "Ahead",
    "Bernoulli",
    "Bulk",
    "CoDel",
    "ConfigError",
    "Connection",
    "ConnectionTotals",
    "ConnectionView",
    "ConstantDelay",
    "ConstantRate",
    "DataError",
    "DelaySteps",
    "Drive",
    "DropTail",
    "Forecast",
    "ForecastBoundary",
    "ForecastSeries",
    "ForecastUpdate",
    "ForecastWindow",
    "GilbertElliott",
    "InfiniteQueue",
    "Link",
    "LinkTotals",
    "LossSteps",
    "NoLoss",
    "Opportunities",
    "OutageWindow",
    "Path",
    "PathTotals",
    "PathTrace",
    "PathView",
    "Quic",
    "RateSteps",
    "Record",
    "ResultsError",
    "Run",
    "RunTotals",
    "Scheduler",
    "Series",
    "SkyweaveError",
    "StudyObserver",
    "StudyOptions",
    "Unknown",
    "UpWindow",
    "Wait",
    "Workload",
    "compare",
    "read_capacity",
    "read_delay",
    "run_study",
    "simulate",
]

_HOMES = {
    "skyweave.comparison.api": ("compare",),
    "skyweave.data.traces": (
        "read_capacity",
        "read_delay",
    ),
    "skyweave.engine.abr": (
        "Abr",
        "AbrDownload",
        "AbrView",
    ),
    "skyweave.engine.scheduling": (
        "Ahead",
        "ConnectionView",
        "PathView",
        "Scheduler",
        "Wait",
    ),
    "skyweave.engine.simulator": ("simulate",),
    "skyweave.errors": (
        "ConfigError",
        "DataError",
        "ResultsError",
        "SkyweaveError",
    ),
    "skyweave.model.config": (
        "After",
        "Bernoulli",
        "Bulk",
        "CoDel",
        "Connection",
        "ConstantDelay",
        "ConstantRate",
        "DelaySteps",
        "DropTail",
        "GilbertElliott",
        "InfiniteQueue",
        "Link",
        "LossSteps",
        "NoLoss",
        "Opportunities",
        "Path",
        "Quic",
        "RateSteps",
        "Run",
        "Unknown",
        "Workload",
    ),
    "skyweave.model.drive": (
        "Drive",
        "PathTrace",
        "Series",
    ),
    "skyweave.model.forecast": (
        "Forecast",
        "ForecastBoundary",
        "ForecastSeries",
        "ForecastUpdate",
    ),
    "skyweave.model.record": ("Record",),
    "skyweave.model.totals": ("ConnectionTotals", "LinkTotals", "PathTotals", "RunTotals"),
    "skyweave.model.windows": (
        "ForecastWindow",
        "OutageWindow",
        "UpWindow",
    ),
    "skyweave.study.run.observer": ("StudyObserver",),
    "skyweave.study.run.session": ("StudyOptions", "run_study"),
}
"""Where each public name is defined; loaded when it is first used (PEP 562)."""
_HOME = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'skyweave' has no attribute '{name}'")
    value = globals()[name] = getattr(importlib.import_module(_HOME[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
