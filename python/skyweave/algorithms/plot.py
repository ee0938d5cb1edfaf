"""What congestion controls do on a link: window, round-trip time and goodput over time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from skyweave.algorithms.catalogue import Choice, label
from skyweave.algorithms.golden_links import DURATION_S, capacity_mbps, golden_path
from skyweave.model.config import Bulk, Connection, Run
from skyweave.model.record import Engine, Record
from skyweave.plotting.style import LIGHT, drawing

COLOURS = tuple(LIGHT[role] for role in ("satellite", "cellular1", "bonded", "cellular2", "loss"))
AMPLE_BYTES = 450_000_000


@dataclass(frozen=True)
class Trace:
    """One control's run."""

    name: str
    record: Record


def run_control(choice: Choice, link: str, engine: Engine, seed: int = 1) -> Trace:
    """Run a congestion control alone on a named link for a minute."""
    connection = Connection(
        transport="tcp",
        congestion=choice,
        workload=Bulk(duration_s=DURATION_S),
        send_buffer_bytes=AMPLE_BYTES,
        receive_buffer_bytes=AMPLE_BYTES,
    )
    run = Run(paths=(golden_path(link),), connections=(connection,), seed=seed)
    return Trace(label(choice), engine(run))


def controls_figure(traces: Sequence[Trace], link: str) -> Figure:
    """Three panels over time: congestion window, round-trip time, goodput against capacity."""
    with drawing(link):
        figure = Figure(figsize=(9.4, 6.6), layout="constrained", facecolor=LIGHT["paper"])
        window, rtt, goodput = figure.subplots(3, 1, sharex=True)
        for trace, colour in zip(traces, COLOURS * len(traces), strict=False):
            samples = trace.record.samples
            path = samples.filter(pl.col("path") != "")
            own = samples.filter(pl.col("path") == "")
            style = {"color": colour, "linewidth": 1.3}
            window.plot(path["time_s"], path["cwnd_packets"], label=trace.name, **style)
            rtt.plot(path["time_s"], path["srtt_ms"], **style)
            smooth = own["goodput_mbps"].rolling_mean(5, min_samples=1)
            goodput.plot(own["time_s"], smooth, **style)
        _capacity(goodput, link)
        window.set_ylabel("window (packets)")
        rtt.set_ylabel("smoothed RTT (ms)")
        goodput.set_ylabel("goodput (Mbit/s)")
        goodput.set_xlabel("time (s)")
        for axes in (window, rtt, goodput):
            axes.set_ylim(bottom=0)
            axes.set_xlim(0, DURATION_S)
        figure.legend(loc="outside upper left", ncols=len(traces))
        return figure


def _capacity(axes: Axes, link: str) -> None:
    path = golden_path(link)
    times = [0.1 * step for step in range(int(DURATION_S * 10))]
    rates = [capacity_mbps(path, time) for time in times]
    axes.step(times, rates, where="post", color=LIGHT["soft"], linewidth=1, linestyle=":", zorder=1)
    axes.annotate(
        "capacity", (DURATION_S, rates[-1]), ha="right", va="bottom", color=LIGHT["soft"],
        fontsize=8,
    )  # fmt: skip
