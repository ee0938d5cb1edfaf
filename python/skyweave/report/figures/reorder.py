"""A figure of what waits at the receiver for earlier bytes, in first trials."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl
from matplotlib.figure import Figure

from skyweave.model.record import Record
from skyweave.plotting.style import LIGHT
from skyweave.report.figures.canvas import WIDTH_IN
from skyweave.report.figures.kinds import Sketch, Source, first_trials, of_results


@of_results("reorder")
def reorder(source: Source) -> Sketch:
    """Draw the reorder buffer of the first trial of each value."""
    runs, sketch = first_trials(source)
    return sketch(reorder_figure(runs))


def reorder_figure(runs: Sequence[tuple[str, Record]]) -> Figure:
    """Draw the bytes that wait over time, run below run."""
    figure = Figure(figsize=(WIDTH_IN, 1.0 + 1.5 * len(runs)), layout="constrained")
    panels = figure.subplots(len(runs), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
    for axes, (label, record) in zip(panels, runs, strict=True):
        own = record.samples.filter((pl.col("connection") == 0) & (pl.col("path") == ""))
        waiting = own["reorder_buffer_bytes"].fill_null(0.0).to_numpy() / 1e6
        times = own["time_s"].to_numpy()
        axes.fill_between(times, 0, waiting, color=LIGHT["bonded"], alpha=0.5, linewidth=0)
        axes.set_ylabel("waiting (MB)", fontsize=9)
        axes.set_title(label, loc="left", fontsize=9)
    panels[-1].set_ylim(0, None)  # of all, once all are drawn
    panels[-1].set_xlabel("time (s)")
    panels[-1].set_xlim(0, None)
    return figure
