"""A figure of one play-out: what the viewer saw, and below it what each path carried."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from skyweave.model.record import Record
from skyweave.plotting.style import LIGHT
from skyweave.report.figures.axes import LINES
from skyweave.report.figures.canvas import WIDTH_IN
from skyweave.report.figures.paths import draw_carried
from skyweave.report.figures.playback import draw_playback
from skyweave.report.numbers.metrics import capacity_in_bins
from skyweave.report.numbers.ramp import carried_mbps
from skyweave.results.quantities import BIN_S


def viewer_figure(record: Record, title: str) -> Figure:
    """Draw a run with one player, whose description is in the provenance of its record."""
    paths = record.provenance["run"]["paths"]
    rows = 1 + len(paths)
    figure = Figure(figsize=(WIDTH_IN, 1.2 + 1.6 * rows), layout="constrained")
    panels = figure.subplots(rows, 1, sharex=True, squeeze=False)[:, 0]
    duration_s = float(np.ceil(record.totals.get("simulated_s", 0.0) / BIN_S)) * BIN_S
    panels[0].set_title(title, loc="left")
    draw_playback(panels[0], record)
    for axes, path, line in zip(panels[1:], paths, LINES, strict=False):
        capacity = capacity_in_bins(path, "down", BIN_S, duration_s)
        carried = carried_mbps(record, path["name"], duration_s)
        draw_carried(axes, (capacity, carried), LIGHT[line], path["name"])
    panels[-1].set_xlabel("time (s)")
    panels[-1].set_xlim(0, duration_s)
    handles, labels = panels[1].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper right", ncols=2, fontsize=8)
    return figure
