"""Paths that are networks of this machine, and what a study may not say of them."""

from __future__ import annotations

from typing import Any, Literal

from skyweave.engine import workloads
from skyweave.errors import ConfigError
from skyweave.model import config
from skyweave.study.compile.drives import DriveRun
from skyweave.study.compile.links import LinkSettings
from skyweave.study.compile.product import Chosen
from skyweave.study.language.choices import DEFAULT
from skyweave.study.language.plan import PathSpec

UNKNOWN = config.Link(capacity=config.Unknown(), delay=config.Unknown())


def check_engine(member: DriveRun, one: Chosen) -> None:
    """Raise :class:`ConfigError` where emulated links meet real networks."""
    real, engine = member.uplinks_s is not None, one["engine"]
    if engine != "field" and any(flow.congestion == DEFAULT for flow in one["mix"]):
        raise ConfigError(
            f"congestion '{DEFAULT}' is that of a real machine; name one for engine '{engine}'"
        )
    if real and engine != "field":
        raise ConfigError(
            f"drives '{member.source}' are networks of this machine, which engine '{engine}' does "
            'not run over; set engine = "field"'
        )
    if engine == "field" and not real:
        raise ConfigError(
            f"engine 'field' runs over networks of this machine, and drives '{member.source}' are "
            "others; give them uplinks = [names of network devices], or take another engine"
        )


def real_path(name: str, spec: PathSpec, settings: LinkSettings) -> config.Path:
    """Return the path of a run over a network of this machine.

    Raises :class:`ConfigError` for what only an emulated link could be told.
    """
    told = {
        "rtt_ms": spec.rtt_ms != "trace", "queue": spec.queue is not None,
        "loss": spec.loss != "none", "handovers": spec.handovers is not None,
        "forecast_file": spec.forecast_file is not None,
    }  # fmt: skip
    for key, is_told in told.items():
        if is_told:
            raise ConfigError(
                f"[paths.{name}] {key} is for emulated links, and this path is a network of this "
                "machine; " + ('write rtt_ms = "trace"' if key == "rtt_ms" else "leave it out")
            )
    swept = {
        "loss": settings.loss != "path", "air": settings.air != "none",
        "rtt_scale": settings.rtt_scale != 1.0, "reverse": settings.reverse != "trace",
        "handover_s": settings.handover_s is not None, "gap_s": settings.gap_s is not None,
        "forecast": settings.foresight.kind != "none",
    }  # fmt: skip
    for key, is_told in swept.items():
        if is_told:
            raise ConfigError(
                f"{key} is for emulated links, and engine 'field' has none; remove it"
            )
    return config.Path(name=name, down=UNKNOWN, up=UNKNOWN, backup=spec.backup)


def transport_of(
    name: Literal["auto", "tcp", "mptcp", "mpquic"], workload: Any, paths: int
) -> config.Transport:
    """Return the transport of a run over a number of paths; probes have one of their own."""
    if getattr(workload, "kind", None) == workloads.PROBE:
        if name != "auto":
            raise ConfigError(f"probes are no data over '{name}'; leave transport out for them")
        return "udp"
    if name != "auto":
        return name
    return "tcp" if paths == 1 else "mptcp"
