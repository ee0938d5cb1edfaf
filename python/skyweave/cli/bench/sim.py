"""``skyweave bench sim``: how fast the engine is on this machine, measured, never judged."""

from __future__ import annotations

import resource
import statistics
import time
from typing import Annotated

import typer

from skyweave.cli.bench.figures import say_figures
from skyweave.engine.simulator import simulate
from skyweave.model.config import (
    Bernoulli,
    Bulk,
    Connection,
    ConstantDelay,
    ConstantRate,
    DropTail,
    Link,
    Path,
    Run,
)

AMPLE_BYTES = 450_000_000
REPETITIONS = 7

_MEANING = {
    "link_packets_per_s": "segments and ACKs that leave a link, per second of one core",
    "tcp_packets_per_s": "the same of TCP alone, CUBIC, over one path",
    "mptcp_packets_per_s": "the same of Multipath TCP, CUBIC, over two paths",
    "mpquic_packets_per_s": "the same of multipath QUIC, CUBIC, over two paths",
    "connections_1000_packets_per_s": "the same of 1,000 connections of TCP that share a path",
    "transfer_100mb_two_paths_s": "wall time of 100 MB by Multipath TCP over two steady paths",
    "peak_rss_mb": "peak memory of the whole process, Python included",
    "rss_growth_mb": "growth of that peak from a run of 20 s to one of 400 s",
}


def sim(
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Measure the simulator: packets per second, a 100 MB transfer, memory."""
    say_figures(measure_sim(), _MEANING, as_json)


def measure_sim() -> dict[str, float]:
    """Measure; the keys are those of ``skyweave bench sim --json``. Medians of several runs."""
    transfer = Run(paths=_paths(), connections=(_connection(Bulk(bytes=100_000_000)),))
    walls = [_wall(transfer) for _ in range(REPETITIONS)]
    mix = [
        Run(paths=_paths(loss), connections=(_connection(Bulk(duration_s=20.0), **change),))
        for loss in (0.0, 0.005)
        for change in (
            {"congestion": "cubic"},
            {"congestion": "bbr"},
            {"congestion": "bbr", "scheduler": "blest"},
            {"congestion": "bbr", "mode": "upstream", "scheduler": "upstream"},
        )
    ]
    rates = [_packets_per_s(mix) for _ in range(REPETITIONS)]
    alone = {
        f"{name}_packets_per_s": statistics.median(
            _packets_per_s([run]) for _ in range(REPETITIONS)
        )
        for name, run in _alone().items()
    }
    _length(20.0)
    short_mb = _peak_rss_mb()
    _length(400.0)
    return {
        "link_packets_per_s": statistics.median(rates),
        **alone,
        "transfer_100mb_two_paths_s": statistics.median(walls),
        "peak_rss_mb": _peak_rss_mb(),
        "rss_growth_mb": _peak_rss_mb() - short_mb,
    }


def _alone() -> dict[str, Run]:
    """Return a run for each transport, and one of many connections."""

    def bulk(seconds: float, **change: str) -> Connection:
        return _connection(Bulk(duration_s=seconds), congestion="cubic", **change)

    paths = _paths()
    return {
        "tcp": Run(paths=paths[1:], connections=(bulk(20.0, transport="tcp"),)),
        "mptcp": Run(paths=paths, connections=(bulk(20.0),)),
        "mpquic": Run(paths=paths, connections=(bulk(20.0, transport="mpquic"),)),
        "connections_1000": Run(
            paths=paths[1:], connections=tuple(bulk(20.0, transport="tcp") for _ in range(1000))
        ),
    }


def _paths(loss_ratio: float = 0.0) -> tuple[Path, ...]:
    def path(name: str, mbps: float, rtt_ms: float) -> Path:
        link = Link(
            capacity=ConstantRate(mbps=mbps),
            delay=ConstantDelay(ms=rtt_ms / 2),
            queue=DropTail(bytes=int(mbps * rtt_ms * 125)),
            loss=Bernoulli(ratio=loss_ratio),
        )
        return Path(name=name, down=link, up=link)

    return (path("satellite", 50.0, 60.0), path("terrestrial", 100.0, 108.0))


def _connection(workload: Bulk, **change: str) -> Connection:
    ample = {"send_buffer_bytes": AMPLE_BYTES, "receive_buffer_bytes": AMPLE_BYTES}
    return Connection.model_validate({"workload": workload, **ample, **change})


def _wall(run: Run) -> float:
    begin = time.perf_counter()
    simulate(run)
    return time.perf_counter() - begin


def _packets_per_s(runs: list[Run]) -> float:
    begin = time.perf_counter()
    packets = sum(simulate(run).totals["link_packets"] for run in runs)
    return float(packets / (time.perf_counter() - begin))


def _length(duration_s: float) -> None:
    """Run for this long with few samples, so that a record's size does not count."""
    connection = _connection(Bulk(duration_s=duration_s), congestion="cubic")
    simulate(Run(paths=_paths(0.001), connections=(connection,), sample_interval_ms=10_000))


def _peak_rss_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
