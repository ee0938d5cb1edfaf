"""A figure of the windows of the paths of first trials."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from skyweave.model.record import Record
from skyweave.plotting.style import LIGHT
from skyweave.report.figures.canvas import WIDTH_IN
from skyweave.report.figures.kinds import Sketch, Source, first_trials, of_results


@of_results("windows")
def windows(source: Source) -> Sketch:
    """Draw the congestion windows of the first trial of each value."""
    runs, sketch = first_trials(source)
    return sketch(windows_figure(runs, source.colours))


def windows_figure(runs: Sequence[tuple[str, Record]], colours: dict[str, str]) -> Figure:
    """Draw the congestion window of each path of a run over time, run below run."""
    figure = Figure(figsize=(WIDTH_IN, 1.0 + 1.7 * len(runs)), layout="constrained")
    panels = figure.subplots(len(runs), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
    for axes, (label, record) in zip(panels, runs, strict=True):
        own = record.samples.filter((pl.col("connection") == 0) & (pl.col("path") != ""))
        for (path,), samples in own.group_by("path", maintain_order=True):
            name = str(path)
            # A window of 0 is none: no subflow is there.
            packets = samples["cwnd_packets"].to_numpy()
            axes.plot(
                samples["time_s"].to_numpy(), np.where(packets > 0, packets, np.nan),
                color=colours.get(name, LIGHT["other1"]), linewidth=1.2, label=name,
            )  # fmt: skip
        axes.set_ylabel("window (packets)", fontsize=9)
        axes.set_title(label, loc="left", fontsize=9)
    panels[-1].set_ylim(0, None)  # of all, once all are drawn
    panels[-1].set_xlabel("time (s)")
    panels[-1].set_xlim(0, None)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper right", ncols=6, fontsize=8)
    return figure
