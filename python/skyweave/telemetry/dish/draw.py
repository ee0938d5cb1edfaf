"""The picture of a recorded folder: distributions, spikes against slots, attitude, outages."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from skyweave.plotting.style import LIGHT, drawing
from skyweave.telemetry.dish.sky_map import SIZE
from skyweave.telemetry.dish.summary import (
    SLOT_S,
    Floats,
    Recorded,
    by_cause,
    outages,
    phases,
    series,
    spikes,
)

COLOURS = ("satellite", "cellular1", "cellular2", "cellular3", "other1", "other2")
MOST_LINES = 6
LEAST_IN_CELL = 5
"""Samples that a cell of the heat map needs for its 95th percentile."""


def dish_figure(recorded: Recorded, title: str) -> Figure:
    """Eight panels; one without data says so."""
    quantities = series(recorded)
    trips = {name: one for name, one in quantities.items() if name.endswith(("rtt_ms", "cy_ms"))}
    rates = {name: one for name, one in quantities.items() if name.endswith("mbps")}
    with drawing("dish"):
        figure = Figure(figsize=(14.5, 7), layout="constrained", facecolor=LIGHT["paper"])
        panels = figure.subplots(2, 4)
        _cdfs(panels[0, 0], trips, "Round trips", "ms")
        _cdfs(panels[0, 1], rates, "Rates carried", "Mbit/s")
        _slots(panels[0, 2], trips)
        _pointing(panels[1, 0], recorded)
        _heat(panels[1, 1], figure, recorded)
        _causes(panels[1, 2], recorded)
        _sky(panels[0, 3], figure, recorded)
        _course(panels[1, 3], trips)
        figure.suptitle(title, x=0.012, ha="left", fontweight="bold", color=LIGHT["ink"])
    return figure


def _cdfs(axes: Axes, lines: dict[str, tuple[Floats, Floats]], title: str, unit: str) -> None:
    axes.set_title(title)
    shown = 0
    for name, (_, values) in list(lines.items())[:MOST_LINES]:
        known = np.sort(values[np.isfinite(values)])
        if len(known):
            share = np.arange(1, len(known) + 1) / len(known)
            axes.step(known, share, where="post", color=LIGHT[COLOURS[shown]], label=name)
            shown += 1
    if not shown:
        return _nothing(axes)
    axes.set_ylim(0, 1)
    axes.set_xlabel(unit)
    axes.set_ylabel("share of samples at or below")
    axes.legend(loc="lower right", fontsize=7)


def _slots(axes: Axes, trips: dict[str, tuple[Floats, Floats]]) -> None:
    """Where in the slot spikes are, a line a series; even: one fifteenth in each second."""
    axes.set_title("Spikes by second of the slot")
    shown = 0
    for name, (times, values) in list(trips.items())[:MOST_LINES]:
        there = spikes(times, values)
        if len(there):
            share, _ = np.histogram(phases(there), bins=int(SLOT_S), range=(0, SLOT_S))
            axes.stairs(
                share / len(there), np.arange(SLOT_S + 1), color=LIGHT[COLOURS[shown]],
                label=f"{name}: {len(there)}", linewidth=1.4,
            )  # fmt: skip
            shown += 1
    if not shown:
        return _nothing(axes, "no spike")
    axes.axhline(1 / SLOT_S, color=LIGHT["soft"], linewidth=0.8, linestyle=":")
    axes.set_xlabel("seconds since the edge of the slot")
    axes.set_ylabel("share of spikes")
    axes.legend(loc="upper right", fontsize=7)


def _pointing(axes: Axes, recorded: Recorded) -> None:
    axes.set_title("Where the dish points")
    rows = recorded.status.drop_nulls(["azimuth_deg", "elevation_deg"])
    if not len(rows):
        return _nothing(axes)
    axes.plot(rows["azimuth_deg"], rows["elevation_deg"], ".", color=LIGHT["satellite"],
              markersize=2, alpha=0.4)  # fmt: skip
    _room(axes)
    axes.set_xlabel("azimuth (°)")
    axes.set_ylabel("elevation (°)")


def _heat(axes: Axes, figure: Figure, recorded: Recorded) -> None:
    """The 95th percentile of the latency by direction."""
    axes.set_title("Latency by direction (95 %)")
    rows = recorded.status.drop_nulls(["azimuth_deg", "elevation_deg", "ping_latency_ms"])
    if len(rows) < LEAST_IN_CELL:
        return _nothing(axes)
    azimuth, elevation = rows["azimuth_deg"].to_numpy(), rows["elevation_deg"].to_numpy()
    edges = [np.linspace(x.min() - 0.05, x.max() + 0.05, 13) for x in (azimuth, elevation)]
    cells = np.full((12, 12), np.nan)
    column, row = (
        np.clip(np.digitize(x, edge) - 1, 0, 11)
        for x, edge in zip((azimuth, elevation), edges, strict=True)
    )
    latency = rows["ping_latency_ms"].to_numpy()
    for y, x in {(int(y), int(x)) for y, x in zip(row, column, strict=True)}:
        here = latency[(row == y) & (column == x)]
        if len(here) >= LEAST_IN_CELL:
            cells[y, x] = np.percentile(here, 95)
    mesh = axes.pcolormesh(*edges, cells, cmap="cividis")
    figure.colorbar(mesh, ax=axes, label="ms")
    axes.grid(False)
    _room(axes)
    axes.set_xlabel("azimuth (°)")
    axes.set_ylabel("elevation (°)")


def _causes(axes: Axes, recorded: Recorded) -> None:
    axes.set_title("Outages by cause")
    causes = by_cause(outages(recorded.status))
    if not causes:
        return _nothing(axes, "no outage")
    names = [f"{cause} ({int(one['count'])})" for cause, one in causes.items()]
    places = np.arange(len(names))
    axes.barh(places, [one["seconds"] for one in causes.values()], color=LIGHT["mark"])
    axes.set_yticks(places, names)
    axes.invert_yaxis()
    axes.grid(True, axis="x")
    axes.grid(False, axis="y")
    axes.set_xlabel("seconds in all (number)")


def _sky(axes: Axes, figure: Figure, recorded: Recorded) -> None:
    """The pixels of the obstruction map by when they became known."""
    axes.set_title("Obstruction map over time")
    rows = recorded.pixels
    if not len(rows):
        return _nothing(axes)
    hours = (rows["time_unix_s"] - rows["time_unix_s"].min()) / 3600
    side = int(rows["side"].fill_null(SIZE).to_numpy().max())
    dots = axes.scatter(rows["column"], rows["row"], c=hours, s=3, cmap="cividis", marker="s")
    figure.colorbar(dots, ax=axes, label="hours since the first pixel")
    axes.set_xlim(0, side)
    axes.set_ylim(side, 0)
    axes.set_aspect("equal")
    axes.grid(False)
    axes.set_xlabel("column")
    axes.set_ylabel("row")


def _course(axes: Axes, trips: dict[str, tuple[Floats, Floats]]) -> None:
    """Round trips over the whole time."""
    axes.set_title("Round trips over time")
    lines = list(trips.items())[:MOST_LINES]
    if not lines:
        return _nothing(axes)
    begin = min(float(times[0]) for _, (times, _) in lines)
    for place, (_, (times, values)) in enumerate(lines):
        axes.plot((times - begin) / 3600, values, ".", color=LIGHT[COLOURS[place]], markersize=1,
                  rasterized=True)  # fmt: skip
    axes.set_xlabel("hours since the first")
    axes.set_ylabel("ms")


def _room(axes: Axes) -> None:
    """A dish that stands still has all its dots in one place: show a degree around it."""
    for limits, change in ((axes.get_xlim(), axes.set_xlim), (axes.get_ylim(), axes.set_ylim)):
        low, high = limits
        if high - low < 1:
            change((low + high) / 2 - 0.5, (low + high) / 2 + 0.5)
    axes.ticklabel_format(useOffset=False)


def _nothing(axes: Axes, why: str = "not recorded") -> None:
    axes.text(0.5, 0.5, why, ha="center", va="center", color=LIGHT["soft"],
              transform=axes.transAxes)  # fmt: skip
    axes.set_axis_off()
