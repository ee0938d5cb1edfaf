"""``skyweave bench emulator``: what emulated links reach on this machine, not judged."""

from __future__ import annotations

import json
import os
import platform
import random
from collections.abc import Callable, Iterator, Sequence
from statistics import median
from typing import Annotated, Any

import numpy as np
import polars as pl
import typer
from rich.progress import Progress, SpinnerColumn, TimeElapsedColumn
from rich.table import Table

from skyweave.cli.bench import emulator_peers as bench_peers
from skyweave.cli.bench.emulator_programs import flood, round_trips_ms
from skyweave.console import Console, TextColumn
from skyweave.live.engine import run_live
from skyweave.live.errors import LiveError
from skyweave.live.world.world import World
from skyweave.model import config
from skyweave.printing import put

Say = Callable[[str], None]
Row = dict[str, Any]
"""One transfer: which round, link and way, and what was measured."""

RTT_MS = 20.0
QUEUE_BYTES = 2_500_000
_TCP_S, _PINGS, _PING_SPACING_S = 8.0, 240, 0.025
_FLOOD_S, _FLOOD_FROM_S, _FLOOD_TO_S = 6.0, 1.0, 5.0
"""What is left of a flood is for links that carry nothing when it begins."""
_OVER = 1.25
"""Sent, as a multiple of the largest capacity."""
_STEP_S, _ZERO_SHARE = 0.1, 0.2
_QUEUE_PACKETS = 5000
"""Long enough that the sender's own pauses never leave a saturated link idle."""
_UNSHAPED_MBPS = 1e6
_QUANTILES = ("p50", "p99", "max")

_MEANING = {
    "tcp_cubic_1gbit_mbps": "goodput of TCP CUBIC: 1 Gbit/s, 20 ms, queue of 2.5 MB",
    "steady_1gbit_mbps": "the same without the first quarter, in which the window grows",
    "relay_cores_1gbit": "processor cores of the relay meanwhile",
    "relay_cores_per_gbps_1gbit": "the same for each Gbit/s of goodput",
    "unshaped_gbps": "goodput of TCP over a link without limit or delay",
    "relay_cores_per_gbps": "relay's cores for each Gbit/s of that",
    "lateness_us": "from when a link delivers a packet to its write, µs",
    "udp_delay_error_ms": "round trip of a UDP echo less the 20 ms of the links, ms",
    "rate_error_percent": "bytes that left a saturated link against its capacity, %",
}


WAYS = {"offload": True, "plain": False}
"""Devices with and without segmentation offload."""


def bench_emulator(
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    rounds: Annotated[
        int, typer.Option(min=1, max=100, help="Rounds of TCP, with and without offload by turns.")
    ] = 1,
) -> None:
    """Measure throughput, delay, rate and cost of emulated links; takes a minute and a half."""
    with Progress(
        SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn(),
        console=Console(stderr=True), transient=True,
    ) as bar:  # fmt: skip
        task = bar.add_task("")
        found = measure_emulator(lambda words: bar.update(task, description=words), rounds)
    if as_json:
        put(json.dumps(found))
        return
    _print(found)


def measure_emulator(say: Say = lambda _: None, rounds: int = 1) -> dict[str, Any]:
    """Measure in worlds on this machine; the keys are those of ``bench emulator --json``.

    What is there with and without segmentation offload is the median of the rounds.

    Raises :class:`ConfigError` or :class:`LiveError` where no world can be made.
    """
    load_before = os.getloadavg()[0]
    rows = list(_rounds(say, rounds))
    say("delay of UDP over 20 ms")
    delay_error, delay_late = _delay()
    errors, lateness = {}, {"udp_echo": delay_late}
    for name, capacity, most_mbps in _capacities():
        say(f"rate of UDP on {name}")
        errors[name], lateness[f"udp_{name}"] = _rate_error_percent(capacity, most_mbps)
    say("other emulators")
    peers, note = bench_peers.measure(RTT_MS, QUEUE_BYTES)
    return {
        "kernel": platform.release(),
        "cores": os.cpu_count(),
        "load_before": load_before,
        "tcp_cubic_1gbit_mbps": _medians(rows, "1gbit", "goodput_mbps"),
        "steady_1gbit_mbps": _medians(rows, "1gbit", "steady_mbps"),
        "relay_cores_1gbit": _medians(rows, "1gbit", "relay_cores"),
        "relay_cores_per_gbps_1gbit": _medians(rows, "1gbit", "relay_cores_per_gbps"),
        "unshaped_gbps": {
            way: mbps / 1e3 for way, mbps in _medians(rows, "unshaped", "goodput_mbps").items()
        },
        "relay_cores_per_gbps": _medians(rows, "unshaped", "relay_cores_per_gbps"),
        "lateness_us": {**_lateness(rows), **lateness},
        "udp_delay_error_ms": delay_error,
        "rate_error_percent": errors,
        "peers": peers,
        "peers_note": note,
        "rounds": rows,
    }


def _rounds(say: Say, rounds: int) -> Iterator[Row]:
    """Measure TCP over both links, with and without offload by turns: load strikes both alike."""
    links = {
        "1gbit": (1000.0, RTT_MS / 2, config.DropTail(bytes=QUEUE_BYTES)),
        "unshaped": (_UNSHAPED_MBPS, 0.0, config.DropTail(packets=10_000)),
    }
    for number in range(rounds):
        ways = list(WAYS) if number % 2 == 0 else list(reversed(WAYS))
        for link, (mbps, delay_ms, queue) in links.items():
            for way in ways:
                say(f"TCP over a link of {link}, {way}, round {number + 1} of {rounds}")
                row = _tcp(mbps, delay_ms, queue, WAYS[way])
                yield {"round": number + 1, "link": link, "way": way, **row}


def _medians(rows: Sequence[Row], link: str, figure: str) -> dict[str, float]:
    """Return the median of a figure over the rounds, for each way."""
    return {
        way: median(row[figure] for row in rows if (row["link"], row["way"]) == (link, way))
        for way in WAYS
    }


def _lateness(rows: Sequence[Row]) -> dict[str, Any]:
    """Return the quantiles of lateness on both links, each the median over the rounds."""
    return {
        f"tcp_{link}": {key: _medians(rows, link, f"late_us_{key}") for key in _QUANTILES}
        for link in ("1gbit", "unshaped")
    }


def _link(
    capacity: config.Capacity, delay_ms: float = 0.0, queue: config.Queue | None = None
) -> config.Link:
    return config.Link(
        capacity=capacity,
        delay=config.ConstantDelay(ms=delay_ms),
        queue=queue or config.DropTail(packets=_QUEUE_PACKETS),
    )


def _path(link: config.Link) -> config.Path:
    return config.Path(name="path", down=link, up=link)


def _tcp(mbps: float, delay_ms: float, queue: config.Queue, offload: bool) -> Row:
    """Return goodput in Mbit/s, cores of the relay and its lateness for one TCP connection."""
    load = os.getloadavg()[0]
    connection = config.Connection(
        transport="tcp",
        congestion="cubic",
        workload=config.Bulk(duration_s=_TCP_S),
        send_buffer_bytes=4 * QUEUE_BYTES,
        receive_buffer_bytes=4 * QUEUE_BYTES,
    )
    link = _link(config.ConstantRate(mbps=mbps), delay_ms, queue)
    run = config.Run(paths=(_path(link),), connections=(connection,), stop_after_s=_TCP_S)
    record = run_live(run, offload=offload)
    steady = (pl.col("path") == "") & (pl.col("time_s") > _TCP_S / 4)
    goodput_mbps = record.totals["connections"][0]["goodput_mbps"]
    cores = record.provenance["relay_cpu_s"] / _TCP_S
    late = _quantiles(record.provenance["lateness_us"])
    return {
        "load_before": load,
        "devices": record.provenance["offload"],
        "goodput_mbps": goodput_mbps,
        "steady_mbps": record.samples.filter(steady)["goodput_mbps"].mean(),
        "relay_cores": cores,
        "relay_cores_per_gbps": cores / goodput_mbps * 1e3,
        **{f"late_us_{key}": value for key, value in late.items()},
    }


def _delay() -> tuple[dict[str, float], dict[str, float]]:
    """Return by how much round trips exceed those of the links, in ms, and the lateness."""
    with World([_path(_link(config.ConstantRate(mbps=1000.0), RTT_MS / 2))]) as world:
        world.start(100)
        found = np.array(round_trips_ms(world, _PINGS, _PING_SPACING_S)) - RTT_MS
        late = world.finish()["statistics"]["lateness_us"]
    p50, p99, most = (float(np.quantile(found, share)) for share in (0.5, 0.99, 1.0))
    lost = float(_PINGS - len(found))
    return {"p50": p50, "p99": p99, "max": most, "lost": lost}, _quantiles(late)


def _capacities() -> list[tuple[str, config.Capacity, float]]:
    """Return the name, the capacity and the largest Mbit/s of what the rate is measured on."""
    draw = random.Random(1)
    steps = round(_FLOOD_S / _STEP_S)
    mbps = tuple(
        0.0 if draw.random() < _ZERO_SHARE else draw.uniform(30.0, 170.0) for _ in range(steps)
    )
    trace = config.RateSteps(times_s=tuple(n * _STEP_S for n in range(steps)), mbps=mbps)
    constant = [
        (f"{mbps:.0f}_mbps", config.ConstantRate(mbps=mbps), mbps) for mbps in (10.0, 100.0, 500.0)
    ]
    return [*constant, ("trace_with_zeros", trace, max(mbps))]


def _rate_error_percent(
    capacity: config.Capacity, most_mbps: float
) -> tuple[float, dict[str, float]]:
    """Return the error of what left a link that always had more to carry, and the lateness.

    Both ends of the interval are sample times of the relay, well inside the flood.
    """
    with World([_path(_link(capacity))]) as world:
        world.start(100)
        flood(world, _OVER * most_mbps, _FLOOD_S)
        found = world.finish()
    samples = found["samples"]
    up = np.array([link == "path.up" for link in samples["link"]])
    times_s = np.array(samples["time_s"])[up]
    delivered = np.array(samples["delivered_bytes"])[up]
    first_s = float(times_s[np.argmax(delivered > 0)]) + _FLOOD_FROM_S
    begin = int(np.searchsorted(times_s, first_s - 1e-9))
    end = int(np.searchsorted(times_s, first_s + _FLOOD_TO_S - _FLOOD_FROM_S - 1e-9))
    if end >= len(times_s):
        raise LiveError("a link carried nothing for most of its flood; is the machine busy?")
    carried = float(delivered[end] - delivered[begin])
    expected = _integral_bytes(capacity, float(times_s[begin]), float(times_s[end]))
    return 100.0 * (carried / expected - 1.0), _quantiles(found["statistics"]["lateness_us"])


def _integral_bytes(capacity: config.Capacity, begin_s: float, end_s: float) -> float:
    """Return what a capacity carries between two times, in bytes.

    >>> steps = config.RateSteps(times_s=(0.0, 1.0), mbps=(8.0, 0.0))
    >>> _integral_bytes(steps, 0.5, 3.0)
    500000.0
    """
    if isinstance(capacity, config.ConstantRate):
        return capacity.mbps * 125_000.0 * (end_s - begin_s)
    assert isinstance(capacity, config.RateSteps)
    edges = np.clip([*capacity.times_s, np.inf], begin_s, end_s)
    return float(np.sum(np.diff(edges) * np.array(capacity.mbps)) * 125_000.0)


def _quantiles(late: dict[str, float]) -> dict[str, float]:
    return {key: late[key] for key in _QUANTILES}


def _print(found: dict[str, Any]) -> None:
    """Print what was found as a table."""
    table = Table(box=None)
    for column in ("figure", "value", "meaning"):
        table.add_column(column)
    for name, meaning in _MEANING.items():
        for place, (label, value) in enumerate(_lines(found[name])):
            table.add_row(f"{name} {label}".strip(), value, "" if place else meaning)
    for peer, values in found["peers"].items():
        for place, (label, value) in enumerate(_lines(values)):
            table.add_row(f"{peer} {label}", value, "" if place else "the same on that emulator")
    console = Console()
    console.print(table)
    console.print(
        f"Linux {found['kernel']}, {found['cores']} cores, load {found['load_before']:.2f} before; "
        f"{found['peers_note']}.",
    )


def _lines(value: Any, label: str = "") -> Iterator[tuple[str, str]]:
    """Yield what stands at each leaf of nested figures, with the way to it."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _lines(inner, f"{label} {key}".strip())
    elif isinstance(value, float):
        yield label, f"{value:,.3f}" if abs(value) < 100 else f"{value:,.0f}"
    else:
        yield label, str(value)
