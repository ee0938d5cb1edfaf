"""A figure of what a viewer saw in first trials."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from skyweave.errors import ResultsError
from skyweave.model.record import Record
from skyweave.plotting.style import LIGHT
from skyweave.report.figures.canvas import WIDTH_IN
from skyweave.report.figures.kinds import Sketch, Source, first_trials, of_results

_STOPPED = "underflow"


@of_results("playback")
def playback(source: Source) -> Sketch:
    """Draw what a player did in the first trial of each value."""
    runs, sketch = first_trials(source)
    return sketch(playback_figure(runs))


def playback_figure(runs: Sequence[tuple[str, Record]]) -> Figure:
    """Draw the buffer of a player over time, run below run, with what the viewer missed.

    A player that does not tell its buffer (VLC) has its position in the film instead.

    Of a film in one file the pictures that came too late stand in each panel, of one in chunks the
    bitrate of the chunks; a mark stands where the player ran dry.
    """
    figure = Figure(figsize=(WIDTH_IN, 1.0 + 1.7 * len(runs)), layout="constrained")
    panels = figure.subplots(len(runs), 1, sharex=True, squeeze=False)[:, 0]
    for axes, (label, record) in zip(panels, runs, strict=True):
        draw_playback(axes, record)
        axes.set_title(label, loc="left", fontsize=9)
    panels[-1].set_xlabel("time (s)")
    panels[-1].set_xlim(0, None)
    return figure


def draw_playback(axes: Axes, record: Record) -> None:
    """Draw one run: the buffer, or of a player that does not tell it where in the film it is."""
    table = _session(record)
    times = table["time_s"].to_numpy()
    if table["buffer_s"].null_count() < len(table):
        axes.fill_between(times, 0, table["buffer_s"].to_numpy(), color=LIGHT["soft"], alpha=0.4,
                          linewidth=0)  # fmt: skip
        axes.set_ylabel("buffer (s)", fontsize=9)
    else:
        axes.plot(times, table["position_s"].to_numpy(), color=LIGHT["soft"], linewidth=1.6)
        axes.set_ylabel("position (s)", fontsize=9)
    dry = table.filter(pl.col("event") == _STOPPED)["time_s"].to_numpy()
    (marks,) = axes.plot(dry, np.zeros(len(dry)), "v", color=LIGHT["ink"], markersize=5,
                         clip_on=False)  # fmt: skip
    marks.set_in_layout(False)
    axes.set_ylim(0, None)
    _second(axes.twinx(), table)


def _session(record: Record) -> pl.DataFrame:
    """Return the rows of the first player of a run."""
    for kind in ("video", "adaptive"):
        if kind in record.application:
            table = record.application[kind]
            return table.filter(pl.col("connection") == table["connection"][0])
    raise ResultsError(
        "a figure of kind 'playback' needs runs of a film; give it where = { workload = ... }"
    )


def _second(axes: Axes, table: pl.DataFrame) -> None:
    """Draw what the viewer missed, against an axis of its own."""
    axes.grid(visible=False)
    colour = LIGHT["bonded"]
    if "discarded" in table.columns:
        axes.step(table["time_s"].to_numpy(), table["discarded"].to_numpy(), where="post",
                  color=colour, linewidth=1.6)  # fmt: skip
        axes.set_ylabel("discarded pictures", fontsize=9, color=colour)
    else:
        came = table.filter(pl.col("event") == "response")
        if came.is_empty():  # a program tells the quality that it shows
            came = table.filter(pl.col("bitrate_mbps").is_not_null())
        axes.step(came["time_s"].to_numpy(), came["bitrate_mbps"].to_numpy(), where="post",
                  color=colour, linewidth=1.6)  # fmt: skip
        axes.set_ylabel("bitrate (Mbit/s)", fontsize=9, color=colour)
    axes.set_ylim(0, max(1.0, axes.get_ylim()[1]))
