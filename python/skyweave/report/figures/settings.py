"""A figure of medians for each value of one setting."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from skyweave.plotting.style import LIGHT
from skyweave.report.figures.canvas import WIDTH_IN, Canvas
from skyweave.report.figures.kinds import of_panel


@of_panel("settings")
def settings(canvas: Canvas) -> Figure:
    """Median goodput of each bonded set (with 95 % interval) for each value of one setting."""
    figure = Figure(figsize=(WIDTH_IN, 3.6), layout="constrained")
    axes = figure.subplots()
    cells = canvas.panel.bonded or canvas.panel.singles
    roles = (
        "bonded", "satellite", "cellular1", "cellular2", "cellular3",
        "other1", "other2", "mark", "soft", "gain",
    )  # fmt: skip
    shift = 0.8 / max(len(canvas.variants), 1)
    for number, (value, panel) in enumerate(canvas.variants):
        found = [panel.estimate("goodput", cell, "median") for cell in cells]
        middle = np.array([estimate.value for estimate in found])
        places = np.arange(len(cells)) + (number - (len(canvas.variants) - 1) / 2) * shift
        errors = np.nan_to_num(
            [[e.value - e.low for e in found], [e.high - e.value for e in found]], nan=0.0
        )
        axes.errorbar(
            places, middle, yerr=np.maximum(errors, 0), fmt="o", markersize=5, capsize=0,
            color=LIGHT[roles[number % len(roles)]], label=value, linewidth=1.6,
        )  # fmt: skip
    axes.set_xticks(np.arange(len(cells)), cells)
    axes.set_ylim(0, canvas.spec.y_max_mbps)
    axes.set_ylabel("median goodput (Mbit/s)")
    axes.legend(
        title=(canvas.spec.by or "").replace("_", " "), loc="center left",
        bbox_to_anchor=(1.0, 0.5), alignment="left",
    )  # fmt: skip
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    return figure
