"""A figure of one typical drive over time."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from skyweave.plotting.style import LIGHT
from skyweave.report.figures.canvas import WIDTH_IN, Canvas
from skyweave.report.figures.kinds import of_panel
from skyweave.report.numbers.metrics import Values
from skyweave.report.numbers.panel import Panel
from skyweave.results.pathset import PathSet


@of_panel("timeline")
def timeline(canvas: Canvas) -> Figure:
    """One drive: what the links could carry, stacked, and what the bonded connection got.

    The drive is the one whose gain over the best single path is the median of all drives.
    """
    panel = canvas.panel
    cell = best_set(panel)
    number = typical_drive(panel, cell)
    names = cell.names
    count = len(panel.goodput[cell][number])
    edges = np.arange(count + 1) * panel.bin_s
    figure = Figure(figsize=(WIDTH_IN, 3.3), layout="constrained")
    axes = figure.subplots()
    floor = np.zeros(count + 1)
    for name in names:
        layer = floor + _held(panel.capacity[name][number])
        axes.fill_between(
            edges, floor, layer, step="post", linewidth=0, alpha=0.32,
            color=canvas.colours.get(name, LIGHT["other1"]), label=f"{name} link",
        )  # fmt: skip
        floor = layer
    axes.step(
        edges, _held(panel.goodput[cell][number]), where="post", color=LIGHT["bonded"],
        linewidth=1.8, label=f"{cell} bonded",
    )  # fmt: skip
    axes.set_xlim(0, float(edges[-1]))
    axes.set_ylim(0, None)
    axes.set_xlabel("time in the drive (s)")
    axes.set_ylabel("Mbit/s")
    axes.set_title(f"{panel.names[number]}, {panel.direction}link", pad=22)
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=len(names) + 1, borderaxespad=0.2)
    return figure


def _held(values: Values) -> Values:
    """Repeat the last value, so that the last step is drawn to its end."""
    return np.append(values, values[-1])


def best_set(panel: Panel) -> PathSet:
    """Return the bonded set with the highest median (of all sets if none is bonded)."""
    cells = panel.comparable or panel.bonded or panel.singles
    return max(cells, key=lambda cell: panel.estimate("goodput", cell, "median").value)


def typical_drive(panel: Panel, cell: PathSet) -> int:
    """Return the drive whose mean gain of ``cell`` over its best path is the median one."""
    if cell not in panel.comparable:
        return 0
    gains = [float(np.mean(gain)) for gain in panel.samples("bonded_minus_max", cell)]
    return int(np.argsort(gains, kind="stable")[(len(gains) - 1) // 2])
