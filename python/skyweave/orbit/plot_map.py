"""A map of one moment: land, satellites over it, who serves, and the way to the other end."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Circle, Polygon

from skyweave.orbit.coastlines import outlines
from skyweave.orbit.globe import Globe, graticule, great_circle, middle
from skyweave.orbit.moment import Floats, Moment
from skyweave.orbit.places import Place
from skyweave.orbit.words import place, titled
from skyweave.plotting.style import LIGHT, drawing

TRACK_MINUTES = 10
"""How far the ground track reaches back and ahead."""
SEA, LAND, SHORE = "#f3f6fa", "#e4e2d8", "#b9b5a6"
_NEAR = 0.12
"""Half the width of the smallest map, in radii of the Earth: 7 degrees."""
_ALONE = 0.3
"""The same when nothing serves: the satellites around are what explains it."""
_POINTS = 514.0
"""Width of the map in points, for labels."""
_Rectangle = tuple[float, float, float, float]
_BOX = {"facecolor": LIGHT["paper"], "alpha": 0.75, "edgecolor": "none", "pad": 0.8}


def map_figure(moment: Moment) -> Figure:
    """Draw the globe from above the middle of the way, as near as the way allows."""
    ground = moment.constellation.ground(moment.unix_s)
    points = _way(moment, ground)
    globe = Globe(*middle([points[0], points[-1]]))
    nearby = [(row[0], row[1]) for row in ground[moment.free]]
    with drawing("orbit-map"):
        figure = Figure(figsize=(7.6, 9.1))
        FigureCanvasAgg(figure)
        axes = figure.add_axes((0.03, 0.085, 0.94, 0.94 * 7.6 / 9.1))
        half = max(_half_width(globe, points + nearby), _NEAR if moment.way else _ALONE)
        _earth(axes, globe, half)
        _satellites(axes, globe, moment, ground)
        _track(axes, globe, moment)
        _ends(axes, globe, moment, points, half)
        titled(figure, _title(moment), moment)
        _legend(figure, moment)
    return figure


def _title(moment: Moment) -> str:
    spec = moment.spec
    if spec.via == "isl":
        return f"{place(spec.terminal)} – {place(spec.to)}"  # noqa: RUF001
    return f"Satellites over {place(spec.terminal)}"


def _way(moment: Moment, ground: Floats) -> list[tuple[float, float]]:
    """Latitude and longitude of the terminal, what is below each satellite, and the other end."""
    ends = [moment.spec.terminal, moment.landing() or moment.spec.to]
    between = [(float(ground[one, 0]), float(ground[one, 1])) for one in moment.way]
    first, *last = [(end.lat, end.lon) for end in ends if end is not None]
    return [first, *between, *last]


def _half_width(globe: Globe, points: list[tuple[float, float]]) -> float:
    """Half the width that shows all points with a margin; beyond 0.8 it is the whole disc."""
    lat, lon = np.array(points).T
    x, y, near = globe.project(lat, lon)
    reach = 1.25 * float(np.max(np.abs([x, y]))) if near.all() else 1.0
    return 1.04 if reach > 0.8 else reach


def _earth(axes: Axes, globe: Globe, half: float) -> None:
    axes.set_xlim(-half, half)
    axes.set_ylim(-half, half)
    axes.set_aspect("equal")
    axes.axis("off")
    disc = Circle((0, 0), 1, facecolor=SEA, edgecolor=LIGHT["line"], lw=0.8, zorder=0)
    axes.add_patch(disc)
    for outline in outlines():
        area = globe.area(*outline.T)
        if area is not None:
            axes.add_patch(Polygon(area, closed=True, facecolor=LAND, lw=0, zorder=0.5))
            axes.plot(*globe.line(*outline.T), color=SHORE, lw=0.6, zorder=0.6)
    for lat, lon in graticule(_spacing(half)):
        axes.plot(*globe.line(lat, lon), color=LIGHT["line"], lw=0.45, alpha=0.8, zorder=0.7)


def _spacing(half: float) -> int:
    """Degrees between the lines of the graticule."""
    return 30 if half > 0.8 else 10 if half > 0.4 else 5


def _satellites(axes: Axes, globe: Globe, moment: Moment, ground: Floats) -> None:
    """All of them small, those that the terminal could use larger."""
    usable = moment.usable & ~np.isnan(ground[:, 0])
    groups = ((usable & ~moment.free, "soft", 3.5, 0.45), (moment.free, "satellite", 16, 1.0))
    for chosen, role, size, alpha in groups:
        x, y = globe.line(ground[chosen, 0], ground[chosen, 1])
        axes.scatter(x, y, s=size, color=LIGHT[role], alpha=alpha, lw=0, zorder=2)


def _track(axes: Axes, globe: Globe, moment: Moment) -> None:
    """What the serving satellite flew over (thin) and will fly over (with an arrow)."""
    if not moment.way:
        return
    minutes = np.arange(-TRACK_MINUTES, TRACK_MINUTES + 0.01, 0.25)
    ground = np.array([
        moment.constellation.ground(moment.unix_s + 60 * minute)[moment.way[0], :2]
        for minute in minutes
    ])  # fmt: skip
    x, y = globe.line(*ground.T)
    past = minutes <= 0
    axes.plot(x[past], y[past], color=LIGHT["mark"], lw=0.9, ls=(0, (2, 2)), zorder=2.5)
    axes.plot(x[minutes >= 0], y[minutes >= 0], color=LIGHT["mark"], lw=1.3, zorder=2.5)
    half = axes.get_xlim()[1]
    shown = np.flatnonzero((np.abs(x) < 0.97 * half) & (np.abs(y) < 0.97 * half) & ~past)
    if len(shown) > 1:
        head, tail = shown[-1], shown[-2]
        axes.annotate(
            "", (x[head], y[head]), (x[tail], y[tail]), zorder=2.6,
            arrowprops={"arrowstyle": "-|>", "color": LIGHT["mark"], "lw": 1.3},
        )  # fmt: skip


def _ends(
    axes: Axes, globe: Globe, moment: Moment, points: list[tuple[float, float]], half: float
) -> None:
    """Gateways, the way, and the names of its ends."""
    for gateway in moment.gateways:
        if gateway != moment.spec.terminal:
            x, y = _spot(globe, gateway)
            axes.scatter(x, y, s=22, marker="s", color=LIGHT["gain"], lw=0, zorder=2.2)
    names = []
    hops_x, hops_y = globe.line(*np.array(points).T)
    if moment.way:
        for a, b in pairwise(points):
            axes.plot(*globe.line(*great_circle(a, b)), color=LIGHT["bonded"], lw=1.8, zorder=3)
        last = 1 + len(moment.way)
        axes.scatter(hops_x[2:last], hops_y[2:last], s=24, color=LIGHT["bonded"], lw=0, zorder=4)
        x, y = float(hops_x[1]), float(hops_y[1])
        _mark(axes, x, y, "o", LIGHT["mark"])
        names.append((x, y, moment.path.serving[0], LIGHT["mark"]))
    far = moment.landing() or moment.spec.to
    for where, marker in ((far, "s" if moment.spec.via == "gateway" else "^"),
                          (moment.spec.terminal, "^")):  # fmt: skip
        if where is not None and not (where is far and where == moment.spec.terminal):
            x, y = _spot(globe, where)
            _mark(axes, x, y, marker, LIGHT["ink"])
            names.append((x, y, place(where), LIGHT["ink"]))
    _labels(axes, names, list(zip(hops_x, hops_y, strict=True)), half)


def _spot(globe: Globe, where: Place) -> tuple[float, float]:
    x, y = globe.line(np.array([where.lat]), np.array([where.lon]))
    return float(x[0]), float(y[0])


def _mark(axes: Axes, x: float, y: float, marker: str, colour: str) -> None:
    axes.scatter(
        x, y, s=72, marker=marker, color=colour, edgecolors=LIGHT["paper"], linewidths=1, zorder=6
    )


def _labels(
    axes: Axes,
    names: list[tuple[float, float, str, str]],
    marks: list[tuple[float, float]],
    half: float,
) -> None:
    """Names beside their marks, each at the first corner where nothing else is."""
    scale = _POINTS / (2 * half)
    taken = [(x * scale - 6, y * scale - 6, x * scale + 6, y * scale + 6) for x, y in marks]
    for x, y, name, colour in names:
        if not (abs(x) < half and abs(y) < half):
            continue
        boxes = {}
        for right, up in ((1, 1), (1, -1), (-1, 1), (-1, -1)):
            left = x * scale + (8 if right > 0 else -8 - 6.3 * len(name))
            low = y * scale + (5 if up > 0 else -17)
            boxes[right, up] = (left, low, left + 6.3 * len(name), low + 12)
        right, up = min(boxes, key=lambda corner: _overlap(boxes[corner], taken))
        taken.append(boxes[right, up])
        axes.annotate(
            name, (x, y), xytext=(8 * right, 5 * up), textcoords="offset points", color=colour,
            ha="left" if right > 0 else "right", va="bottom" if up > 0 else "top",
            fontweight="bold", zorder=7, bbox=_BOX,
        )  # fmt: skip


def _overlap(box: _Rectangle, others: list[_Rectangle]) -> float:
    """Area shared with others, in square points; outside of the map counts too."""
    left, low, right, high = box
    shared = sum(
        max(0.0, min(right, other[2]) - max(left, other[0]))
        * max(0.0, min(high, other[3]) - max(low, other[1]))
        for other in others
    )
    outside = max(0.0, right - _POINTS / 2) + max(0.0, -_POINTS / 2 - left)
    return shared + 100 * outside


def _legend(figure: Figure, moment: Moment) -> None:
    def mark(label: str, role: str, marker: str, size: float, line: Any = "none") -> Line2D:
        return Line2D([], [], color=LIGHT[role], marker=marker, ms=size, ls=line, label=label)

    marks = [
        mark("satellite", "soft", "o", 2.5),
        mark("usable by the terminal", "satellite", "o", 4.5),
    ]
    if moment.way:
        serving = f"serving, its track ± {TRACK_MINUTES} min"
        marks += [mark(serving, "mark", "o", 8, "-"), mark("the way", "bonded", "o", 4.5, "-")]
    if any(one != moment.spec.terminal for one in moment.gateways):
        marks.append(mark("gateway", "gain", "s", 5))
    figure.legend(handles=marks, loc="lower center", ncols=5, bbox_to_anchor=(0.5, 0.035),
                  columnspacing=1.3, handletextpad=0.5)  # fmt: skip
    spacing = _spacing(float(figure.axes[0].get_xlim()[1]))
    figure.text(
        0.5, 0.018, f"Satellites stand over what is below them. Graticule: {spacing}°. "
        "Coastlines: Natural Earth.", ha="center", color=LIGHT["soft"], fontsize=8,
    )  # fmt: skip
