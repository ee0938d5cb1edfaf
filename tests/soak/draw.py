"""The figure of a soak: ``python tests/soak/draw.py results/soak docs/images/soak.svg``.

Memory and descriptors of both ends, and the server's processor time a packet, over
time. (The clients share one side of the world, whose packets cannot be told apart.)
"""

from __future__ import annotations

import csv
import json
import sys
from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from skyweave.plotting.style import LIGHT, drawing, svg_text

SIDES = {"server": LIGHT["satellite"], "client": LIGHT["cellular1"]}
_PACKETS = 200
"""Fewer packets between two readings say little about what one costs."""

Series = dict[str, list[dict[str, float]]]


def read(path: Path) -> Series:
    """Return the readings of each process, in order of time."""
    series: Series = defaultdict(list)
    with path.open() as file:
        for row in csv.DictReader(file):
            name = row.pop("program")
            series[name].append({key: float(value) for key, value in row.items()})
    return series


def costs(rows: list[dict[str, float]]) -> tuple[list[float], list[float]]:
    """Return times in minutes, and microseconds a packet between two readings."""
    times, micros = [], []
    for before, after in pairwise(rows):
        packets = after["packets"] - before["packets"]
        if packets >= _PACKETS:
            times.append(after["time_s"] / 60)
            micros.append((after["cpu_s"] - before["cpu_s"]) / packets * 1e6)
    return times, micros


def points(axes: Axes, series: Series, key: str, scale: float) -> None:
    """Draw one column of all processes, in the colour of their side."""
    for name, rows in series.items():
        rows = rows[::3]  # every fifteen seconds will do
        times = [row["time_s"] / 60 for row in rows]
        values = [row[key] * scale for row in rows]
        axes.plot(times, values, ".", markersize=2, color=SIDES[name.partition("-")[0]])
    axes.set_ylim(bottom=0)


def draw(series: Series, summary: dict[str, Any]) -> str:
    """Return the figure as SVG."""
    with drawing("soak"):
        figure = Figure(figsize=(8, 6.2), layout="constrained")
        upper, middle, lower = figure.subplots(3, 1, sharex=True)
        points(upper, series, "rss_kib", 1 / 1024)
        points(middle, series, "descriptors", 1)
        for name, rows in series.items():
            if name.startswith("server"):
                lower.plot(*costs(rows), ".", markersize=2, color=SIDES["server"])
        lower.set_ylim(bottom=0)
        faults, wrong = sum(summary["faults"].values()), len(summary["wrong"])
        upper.set_title(f"{summary['files']} files, {faults} faults, {wrong} with wrong bytes")
        upper.set_ylabel("resident memory, MiB")
        middle.set_ylabel("open descriptors")
        lower.set_ylabel("server: µs a packet")
        lower.set_xlabel("minutes")
        for side, colour in SIDES.items():
            upper.plot([], [], "o", markersize=4, color=colour, label=side)
        upper.legend(loc="lower right", ncols=2)
        return svg_text(figure)


if __name__ == "__main__":
    folder, out = Path(sys.argv[1]), Path(sys.argv[2])
    found = json.loads((folder / "summary.json").read_text())
    out.write_text(draw(read(folder / "samples.csv"), found))
