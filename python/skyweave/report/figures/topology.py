"""A figure of one run's ends and links: what data pass from the application to the reader."""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from skyweave.plotting.style import LIGHT
from skyweave.report.figures.canvas import WIDTH_IN
from skyweave.report.figures.kinds import Sketch, Source, first_trials, of_results
from skyweave.report.numbers.metrics import capacity_in_bins
from skyweave.report.numbers.namer import Namer
from skyweave.results.quantities import BIN_S

_SENDER, _LANE, _RECEIVER = (0.0, 0.24), (0.28, 0.72), (0.76, 1.0)
"""From where to where the columns reach, in shares of the width."""
_LINE = 24
"""Letters of a line in the box of an end."""
_TRANSPORTS = {"tcp": "TCP", "mptcp": "Multipath TCP", "mpquic": "multipath QUIC"}


@of_results("topology")
def topology(source: Source) -> Sketch:
    """Draw the ends and links of the first run of a selection, over the first of its sets."""
    runs, sketch = first_trials(source)
    namer = Namer(source.results.frozen["plan"])
    run = runs[0][1].provenance["run"]
    return sketch(topology_figure(run, source.colours, namer, source.spec.direction))


def topology_figure(
    run: dict[str, Any], colours: dict[str, str], namer: Namer, direction: str
) -> Figure:
    """Draw a run's first connection: sender at the left, its links, receiver at the right."""
    connection = run["connections"][0]
    used = connection["paths"]
    paths = [path for path in run["paths"] if not used or path["name"] in used]
    figure = Figure(figsize=(WIDTH_IN, 1.0 + 0.85 * max(len(paths), 2)), layout="constrained")
    axes = figure.subplots()
    axes.set_axis_off()
    axes.set_xlim(-0.01, 1.01)
    axes.set_ylim(0, 1)
    ends = ("server", "client") if direction == "down" else ("client", "server")
    _end(axes, _SENDER, f"{ends[0]}: sender", _sends(connection))
    _end(axes, _RECEIVER, f"{ends[1]}: receiver", _receives(connection))
    for place, path in enumerate(paths):
        height = 1 - (place + 0.5) / len(paths)
        colour = colours.get(path["name"], LIGHT["other1"])
        words = _link(path, direction, float(run["stop_after_s"]))
        _lane(axes, height, colour, (namer.path(path["name"]), words))
    return figure


def _end(axes: Axes, span: tuple[float, float], title: str, lines: list[str]) -> None:
    """Draw one end as a box with what it does, in the order in which data pass."""
    low, high = span
    box = FancyBboxPatch(
        (low + 0.01, 0.03), high - low - 0.02, 0.94, boxstyle="round,pad=0,rounding_size=0.02",
        facecolor="none", edgecolor=LIGHT["line"], linewidth=1.2,
    )  # fmt: skip
    axes.add_patch(box)
    middle = (low + high) / 2
    axes.text(middle, 0.9, title, ha="center", va="center", fontsize=9, fontweight="bold")
    for place, line in enumerate(lines):
        height = 0.9 - (place + 1) * 0.8 / (len(lines) + 0.3)
        words = textwrap.fill(line, _LINE)
        axes.text(middle, height, words, ha="center", va="center", fontsize=8, color=LIGHT["soft"])


def _lane(axes: Axes, height: float, colour: str, words: tuple[str, str]) -> None:
    """Draw a link: data one way, acknowledgements the other, its name above, its facts below."""
    (low, high), (title, facts) = _LANE, words
    there = {"arrowstyle": "-|>", "color": colour, "linewidth": 2.2, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", (high, height + 0.01), (low, height + 0.01), arrowprops=there)
    back = {**there, "linewidth": 0.8, "linestyle": (0, (4, 3))}
    axes.annotate("", (low, height - 0.035), (high, height - 0.035), arrowprops=back)
    middle = (low + high) / 2
    axes.text(middle, height + 0.03, title, ha="center", va="bottom", fontsize=9, color=colour)
    axes.text(middle, height - 0.055, facts, ha="center", va="top", fontsize=7.5,
              color=LIGHT["soft"])  # fmt: skip


def _sends(connection: dict[str, Any]) -> list[str]:
    """Return what a sender does with data, in order."""
    transport = str(connection["transport"])
    lines = [_work(connection["workload"]), _TRANSPORTS.get(transport, transport)]
    if transport == "mptcp":
        lines[1] += f", mode {connection['mode']}"
    if transport != "tcp":
        lines.append(f"scheduler {_algorithm(connection['scheduler'])}")
    memory = connection["send_buffer_bytes"] / 1e6
    lines.append(f"{_algorithm(connection['congestion'])} on each path")
    return [*lines, f"buffer {memory:.3g} MB"]


def _receives(connection: dict[str, Any]) -> list[str]:
    """Return what a receiver does with data, in the order of the sender's lines."""
    memory = connection["receive_buffer_bytes"] / 1e6
    return ["acknowledgements", "put back in order", f"buffer {memory:.3g} MB", "reader"]


def _work(workload: dict[str, Any]) -> str:
    """Return what an application does: a download of so much, of so long, or its kind."""
    if workload.get("bytes"):
        return f"{workload['bytes'] / 1e6:.4g} MB"
    if workload.get("kind", "bulk") == "bulk":
        return f"bulk for {workload['duration_s']:g} s"
    return str(workload["kind"])


def _algorithm(named: str | dict[str, Any]) -> str:
    """Return an algorithm's name with its parameters."""
    if isinstance(named, str):
        return named
    given = ", ".join(f"{key} {value}" for key, value in named.items() if key != "name")
    return f"{named['name']} ({given})" if given else str(named["name"])


def _link(path: dict[str, Any], direction: str, duration_s: float) -> str:
    """Return what a link can do: rate, round trip, queue and loss, medians and 5 to 95 %."""
    link = path[direction]
    rates = capacity_in_bins(path, direction, BIN_S, duration_s)
    unknown = link["capacity"]["kind"] == "unknown"  # a real network: nobody knows
    if unknown or not rates.size:
        return "a real network" if unknown else ""
    rate = f"{_spread(rates)} Mbit/s"
    facts = [rate, f"{_spread(_round_trips_ms(path))} ms RTT", _queue(link["queue"])]
    if link["loss"]["kind"] != "none":
        facts.append(f"loss: {link['loss']['kind']}")
    if link.get("outages"):
        facts.append(f"{len(link['outages'])} outages")
    return " · ".join(facts)


def _round_trips_ms(path: dict[str, Any]) -> np.ndarray:
    """Return a path's round trips without queues: the delays of both ways, step by step."""
    ways = [np.atleast_1d(path[way]["delay"]["ms"]).astype(float) for way in ("down", "up")]
    count = max(len(one) for one in ways)
    return sum(np.resize(one, count) for one in ways)  # type: ignore[return-value]


def _queue(queue: dict[str, Any]) -> str:
    """Return a queue in words."""
    sizes = [f"{queue[unit]:,} {unit}" for unit in ("packets", "bytes") if queue.get(unit)]
    return " ".join([str(queue["kind"]), *sizes])


def _spread(values: np.ndarray) -> str:
    """Return a median, and the 5th and 95th percentile where they differ."""
    low, middle, high = np.quantile(values, [0.05, 0.5, 0.95])
    if high - low < 0.05 * max(middle, 1e-9):
        return f"{middle:.3g}"
    return f"{middle:.3g} ({low:.3g} to {high:.3g})"
