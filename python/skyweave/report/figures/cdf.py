"""A figure of how often there is at least how much."""

from __future__ import annotations

from matplotlib.figure import Figure

from skyweave.report.figures.canvas import WIDTH_IN, Canvas, colour_of
from skyweave.report.figures.kinds import of_panel
from skyweave.report.figures.steps import cumulated


@of_panel("cdf")
def cdf(canvas: Canvas) -> Figure:
    """Share of seconds below a rate, up to p99: each path alone, and up to three sets."""
    panel = canvas.panel
    figure = Figure(figsize=(WIDTH_IN, 3.8), layout="constrained")
    axes = figure.subplots()
    by_median = sorted(panel.bonded, key=lambda c: -panel.estimate("goodput", c, "median").value)
    styles = dict(zip(by_median, ("-", "--", ":"), strict=False))
    for cell in [*panel.singles, *styles]:
        axes.plot(
            *cumulated(panel.pooled("goodput", cell)), styles.get(cell, "-"),
            drawstyle="steps-post",
            color=colour_of(canvas, "goodput", cell), linewidth=2.0 if cell.is_bonded else 1.5,
            label=cell,
        )  # fmt: skip
    axes.set_xlim(0, canvas.spec.y_max_mbps)
    axes.set_ylim(0, 100)
    axes.set_xlabel("goodput (Mbit/s)")
    axes.set_ylabel("seconds with at most that (%)")
    axes.grid(visible=True, axis="both")
    axes.legend(loc="lower right")
    return figure
