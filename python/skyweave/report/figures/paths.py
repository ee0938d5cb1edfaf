"""A figure of one run: what each path carried against what it could have, and all together."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from skyweave.model.record import Record
from skyweave.plotting.style import LIGHT
from skyweave.plotting.words import seeds_text
from skyweave.report.criteria.kinds import data_text
from skyweave.report.figures.canvas import WIDTH_IN
from skyweave.report.figures.kinds import Sketch, Source, of_results
from skyweave.report.numbers.metrics import Values, capacity_in_bins, total_of
from skyweave.report.numbers.ramp import carried_mbps, lasted_s
from skyweave.report.numbers.variants import cells_or_default
from skyweave.results.quantities import BIN_S

_MARKS = {"established": "^", "closed": "v", "failed": "x", "revived": "o"}
"""Events of paths that are marked, and how."""


@of_results("paths")
def busiest(source: Source) -> Sketch:
    """Draw the paths of one run of a selection, over the first of its sets.

    It is the run in which most paths were established, the first of those.
    """
    results, spec = source.results, source.spec
    panel = results.panel(spec)
    records = results.records_of(panel, cells_or_default(panel, spec.cells)[0])
    came = pl.col("event") == "established"
    place, record = max(enumerate(records), key=lambda one: one[1].events.filter(came).height)
    figure = paths_figure(record, source.colours, spec.direction)
    return Sketch(figure, seeds_text([panel.seeds[place]]), 1, 1, data_text(panel))


def paths_figure(record: Record, colours: dict[str, str], direction: str) -> Figure:
    """Draw the paths of a run of one connection below each other, and their sum."""
    run = record.provenance["run"]
    used = run["connections"][0]["paths"]
    paths = [path for path in run["paths"] if not used or path["name"] in used]
    duration_s = min(float(run["stop_after_s"]), lasted_s(record))
    rows = len(paths) + (len(paths) > 1)
    figure = Figure(figsize=(WIDTH_IN, 1.2 + 1.5 * rows), layout="constrained")
    panels = figure.subplots(rows, 1, sharex=True, squeeze=False)[:, 0]
    capacities = [capacity_in_bins(path, direction, BIN_S, duration_s) for path in paths]
    carried = [carried_mbps(record, path["name"], duration_s) for path in paths]
    for axes, path, capacity, rates in zip(panels, paths, capacities, carried, strict=False):
        colour = colours.get(path["name"], LIGHT["other1"])
        draw_carried(axes, (capacity, rates), colour, path["name"])
        _events(axes, record, path, max(float(capacity.max(initial=0)), 0.1))
    if len(paths) > 1:
        draw_carried(panels[-1], (total_of(capacities), total_of(carried)), LIGHT["bonded"], "all")
    panels[-1].set_xlabel("time (s)")
    panels[-1].set_xlim(0, duration_s)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper left", ncols=6, fontsize=8)
    return figure


def draw_carried(axes: Axes, series: tuple[Values, Values], colour: str, name: str) -> None:
    """Draw what was carried over what could have been, both in bins of ``BIN_S``."""
    capacity, rates = series
    edges = np.arange(len(rates) + 1) * BIN_S
    axes.fill_between(
        edges, 0, np.append(capacity, capacity[-1:]), step="post", linewidth=0,
        color=colour, alpha=0.25, label="capacity",
    )  # fmt: skip
    axes.step(
        edges, np.append(rates, rates[-1:]), where="post", color=colour, linewidth=1.6,
        label="delivered",
    )  # fmt: skip
    axes.set_ylim(0, None)
    axes.set_ylabel(f"{name}\n(Mbit/s)", fontsize=9)


def _events(axes: Axes, record: Record, path: dict[str, Any], top: float) -> None:
    events = record.events.filter(pl.col("path") == path["name"])
    for name, mark in _MARKS.items():
        times = events.filter(pl.col("event") == name)["time_s"].to_numpy()
        (line,) = axes.plot(
            times, np.full(len(times), 1.06 * top), mark, color=LIGHT["soft"], markersize=5,
            fillstyle="none" if mark == "o" else "full", linestyle="none", label=name,
            clip_on=False,
        )  # fmt: skip
        line.set_in_layout(False)  # without any event it has no extent to lay out
