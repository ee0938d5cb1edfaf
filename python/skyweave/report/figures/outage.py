"""A figure of seconds without data."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from skyweave.plotting.style import LIGHT
from skyweave.plotting.words import percent
from skyweave.report.figures.canvas import WIDTH_IN, Canvas, colour_of
from skyweave.report.figures.kinds import of_panel
from skyweave.report.numbers import metrics
from skyweave.report.numbers.panel import Panel
from skyweave.results.pathset import PathSet


@of_panel("outage")
def outage(canvas: Canvas) -> Figure:
    """Seconds without data: each path alone, both traces at once (Table 1), and bonded."""
    panel = canvas.panel
    pairs = [cell for cell in panel.bonded if cell.is_pair]
    rows = max(len(panel.singles), 2 * len(pairs) * 0.62)
    figure = Figure(figsize=(WIDTH_IN, 1.45 + 0.34 * max(rows, 2)), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(1, 1.35))
    alone = [panel.estimate("goodput", name, "zero_share").value for name in panel.singles]
    colours = [colour_of(canvas, "goodput", name) for name in panel.singles]
    _bars(left, panel.singles, alone, colours, 0.6, 0.0)
    _bar_axes(left, panel.singles, "each alone")
    both = [_concurrent(panel, cell) for cell in pairs]
    bonded = [panel.estimate("goodput", cell, "zero_share").value for cell in pairs]
    _bars(right, pairs, both, [LIGHT["soft"]] * len(pairs), 0.34, -0.19)
    _bars(right, pairs, bonded, [LIGHT["bonded"]] * len(pairs), 0.34, 0.19)
    opening = [100 * panel.opening_share(cell) for cell in pairs]
    places = np.arange(len(pairs)) + 0.19
    right.barh(places, opening, height=0.34, color=LIGHT["opening"], zorder=3)
    _bar_axes(right, pairs, "bonded")
    handles = [
        Line2D([], [], linewidth=6, color=LIGHT[role], label=words)
        for role, words in (
            ("soft", "both links at zero"),
            ("bonded", "bonded got nothing"),
            ("opening", "of it: not yet open"),
        )
    ]
    figure.legend(handles=handles, loc="outside lower right", ncols=3)
    top = max([*alone, *both, *bonded, 0.001])
    for axes in (left, right):
        axes.set_xlim(0, 100 * top * 1.25)
    return figure


def _concurrent(panel: Panel, cell: PathSet) -> float:
    a, b = (np.concatenate(panel.capacity[name]) for name in cell.names)
    return metrics.concurrent_outage_share(a, b)


def _bars(
    axes: Axes, names: Sequence[str], shares: Sequence[float], colours: Sequence[str],
    height: float, shift: float,
) -> None:  # fmt: skip
    places = np.arange(len(names)) + shift
    axes.barh(places, [100 * share for share in shares], height=height, color=colours)
    for place, share in zip(places, shares, strict=True):
        axes.annotate(
            percent(share), (100 * share, place), xytext=(4, 0), textcoords="offset points",
            va="center", fontsize=8, color=LIGHT["soft"],
        )  # fmt: skip


def _bar_axes(axes: Axes, names: Sequence[str], title: str) -> None:
    axes.set_yticks(np.arange(len(names)), names)
    axes.tick_params(axis="y", labelcolor=LIGHT["ink"])
    axes.tick_params(axis="x", labelcolor=LIGHT["soft"])
    axes.invert_yaxis()
    axes.grid(visible=False)
    axes.grid(visible=True, axis="x")
    axes.set_xlabel("seconds without any data (%)")
    axes.set_title(title)
    axes.spines["left"].set_visible(False)
