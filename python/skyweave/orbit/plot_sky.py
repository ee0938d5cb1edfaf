"""The sky over a terminal as a picture: who stands where, who serves, what is out of bounds."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from skyweave.orbit.gso import angles_deg, gso_arc
from skyweave.orbit.moment import Moment
from skyweave.orbit.words import place, seconds, titled
from skyweave.plotting.style import LIGHT, drawing

_TRACK_POINTS = 9


def sky_figure(moment: Moment) -> Figure:
    """Draw the whole sky with its tracks over the slot; east is right, as on a map."""
    with drawing("orbit-sky"):
        figure = Figure(figsize=(7.2, 8.2))
        FigureCanvasAgg(figure)
        axes: Any = figure.add_axes((0.1, 0.125, 0.8, 0.8 * 7.2 / 8.2), projection="polar")
        _frame(axes, moment)
        _gso(axes, moment)
        _satellites(axes, moment)
        _words(figure, moment)
    return figure


def _frame(axes: Any, moment: Moment) -> None:
    axes.set_theta_zero_location("N")
    axes.set_theta_direction(-1)
    axes.set_ylim(0, 90)
    axes.set_yticks([30, 60], ["", ""])
    for elevation in (30, 60):
        axes.text(
            np.radians(180), 90 - elevation, f"{elevation}°", ha="center", va="center", fontsize=8,
            color=LIGHT["soft"], zorder=2.5,
            bbox={"facecolor": LIGHT["paper"], "alpha": 0.75, "edgecolor": "none", "pad": 1},
        )  # fmt: skip
    axes.set_xticks(np.radians(np.arange(0, 360, 45)), ["N", "NE", "E", "SE", "S", "SW", "W", "NW"])
    axes.grid(True, axis="both", color=LIGHT["line"], linewidth=0.6)
    axes.spines["polar"].set_color(LIGHT["line"])
    axes.tick_params(axis="x", labelsize=10.5, pad=3)
    mask = moment.spec.min_elevation_deg
    turn = np.linspace(0, 2 * np.pi, 361)
    axes.fill_between(turn, 90 - mask, 90, color=LIGHT["grid"], alpha=0.75, lw=0, zorder=0.5)
    axes.plot(turn, np.full(361, 90 - mask), color=LIGHT["soft"], lw=1.1, ls=(0, (5, 3)))


def _gso(axes: Any, moment: Moment) -> None:
    """The geostationary arc and what is too close to it, if that is avoided."""
    avoided = moment.spec.gso_avoidance_deg
    arc = gso_arc(moment.spec.terminal)
    if not avoided or not len(arc):
        return
    azimuth, elevation = np.meshgrid(np.arange(0, 361, 2.0), np.arange(0, 91, 1.0))
    axes.contourf(
        np.radians(azimuth), 90 - elevation, angles_deg(arc, azimuth, elevation),
        levels=[0, avoided], colors=[LIGHT["cellular1"]], alpha=0.22, zorder=0.8,
    )  # fmt: skip
    bearing = np.arctan2(arc[:, 0], arc[:, 1])
    height = 90 - np.degrees(np.arcsin(arc[:, 2]))
    gap = (
        np.flatnonzero(np.abs(np.diff(bearing)) > 1) + 1
    )  # the arc may pass north, or rise and set
    bearing, height = np.insert(bearing, gap, np.nan), np.insert(height, gap, np.nan)
    axes.plot(bearing, height, color=LIGHT["cellular1"], lw=1.5, zorder=1)


def _satellites(axes: Any, moment: Moment) -> None:
    span = np.linspace(*moment.span_s(), _TRACK_POINTS)
    looks = [moment.look(moment.unix_s + second) for second in span]
    azimuth = np.radians([look["azimuth_deg"] for look in looks])
    away = 90 - np.array([look["elevation_deg"] for look in looks])
    azimuth[away > 90] = np.nan
    now = moment.look(moment.unix_s)
    theta, radius = np.radians(now["azimuth_deg"]), 90 - now["elevation_deg"]
    high, free = moment.high, moment.free
    low = (now["elevation_deg"] > 0) & ~high
    groups = ((low, "line", 9), (high & ~free, "cellular1", 16), (free, "satellite", 26))
    for chosen, role, size in groups:
        colour = LIGHT[role]
        axes.plot(azimuth[:, chosen], away[:, chosen], color=colour, lw=1.1, alpha=0.8)
        axes.scatter(theta[chosen], radius[chosen], s=size, color=colour, zorder=3, lw=0)
    if moment.way:
        first = moment.way[0]
        axes.plot(azimuth[:, first], away[:, first], color=LIGHT["mark"], lw=2.2, zorder=4)
        axes.scatter(
            theta[first], radius[first], s=90, color=LIGHT["mark"], zorder=5,
            edgecolors=LIGHT["paper"], linewidths=1.2,
        )  # fmt: skip
        _name(axes, theta[first], radius[first], moment.path.serving[0])


def _name(axes: Any, theta: float, radius: float, name: str) -> None:
    """The serving satellite's name towards the middle of the picture, on a pale ground."""
    left = np.sin(theta) > 0 and radius > 25
    axes.annotate(
        name, (theta, radius), xytext=(-9 if left else 9, 8), textcoords="offset points",
        ha="right" if left else "left", color=LIGHT["mark"], fontweight="bold", zorder=6,
        bbox={"facecolor": LIGHT["paper"], "alpha": 0.8, "edgecolor": "none", "pad": 1},
    )  # fmt: skip


def _words(figure: Figure, moment: Moment) -> None:
    spec = moment.spec
    titled(figure, f"Sky over {place(spec.terminal)}", moment)
    marks: list[Any] = [
        Line2D([], [], color=LIGHT["satellite"], marker="o", ms=5, lw=1.1,
               label=f"above the mask of {spec.min_elevation_deg:g}°"),
        Line2D([], [], color=LIGHT["line"], marker="o", ms=3, lw=1.1, label="below it"),
    ]  # fmt: skip
    if moment.way:
        marks.insert(
            0, Line2D([], [], color=LIGHT["mark"], marker="o", ms=8, lw=2, label="serving")
        )
    if spec.gso_avoidance_deg:
        marks.append(
            Patch(facecolor=LIGHT["cellular1"], alpha=0.45,
                  label=f"within {spec.gso_avoidance_deg:g}° of the geostationary arc")
        )  # fmt: skip
    figure.legend(handles=marks, loc="lower center", ncols=4, bbox_to_anchor=(0.5, 0.045))
    begin, end = moment.span_s()
    figure.text(
        0.5, 0.025,
        f"Rings: elevation, the zenith is in the middle. Tracks: from {seconds(begin)} to "
        f"{seconds(end)} around the moment of the dots.",
        ha="center", color=LIGHT["soft"], fontsize=8,
    )  # fmt: skip
