"""A map of one moment: satellites, the way through them, where the serving one flies."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from skyweave.orbit.basemap import beside, draw_land, draw_line, great_circle
from skyweave.orbit.places import Place
from skyweave.orbit.plot import basis, words
from skyweave.orbit.scene import Scene
from skyweave.report.style import LIGHT, drawing

TRACK_S, TRACK_STEP_S = 900.0, 20.0
"""The ground track reaches so far back and ahead."""
NEAR_DEG = 26.0
"""Half the width of a map around a terminal, in degrees of latitude."""
ROOM_DEG = 14.0
TITLE_IN, FOOT_IN = 0.75, 0.75
OUTLINE = {"markeredgecolor": LIGHT["paper"], "markeredgewidth": 0.8}


def map_figure(here: Scene) -> Figure:
    """Around the terminal, or around the whole way if links between satellites carry."""
    middle, half_width, lat = _extent(here)
    ratio = (lat[1] - lat[0]) / (2 * half_width) / max(0.3, np.cos(np.radians(np.mean(lat))))
    width = 11.0 if ratio < 0.75 else 8.2
    with drawing(f"map {here.moment}"):
        figure = Figure(figsize=(width, width * ratio * 0.9 + TITLE_IN + FOOT_IN))
        FigureCanvasAgg(figure)
        axes = figure.subplots()
        draw_land(axes, middle, half_width, lat)
        _satellites(axes, here, middle)
        _ground_track(axes, here, middle)
        _way(axes, here, middle)
        _places(axes, here, middle)
        handles, labels = axes.get_legend_handles_labels()
        axes.legend(handles, labels, loc="upper center", bbox_to_anchor=(0.5, -0.07), ncols=4,
                    columnspacing=1.6, handletextpad=0.5)  # fmt: skip
        words(figure, _title(here), f"{basis(here.spec)}.  {here.moment:%Y-%m-%d %H:%M:%S} UTC")
        height = float(figure.get_size_inches()[1])
        figure.tight_layout(rect=(0, 0, 1, 1 - 0.6 / height))
    return figure


def _title(here: Scene) -> str:
    if here.serving is None:
        reason = here.path.outages[0].reason if here.path.outages else "no-satellite"
        return f"{here.spec.terminal} has no path at this moment ({reason.replace('-', ' ')})"
    rtt = f", {here.path.rtt_ms[0]:.1f} ms" if np.isfinite(here.path.rtt_ms[0]) else ""
    end = here.spec.to if here.chain else here.gateway
    onward = f" to {end}" if end and end.coordinates != here.spec.terminal.coordinates else ""
    hops = f" over {len(here.chain)} satellites" if len(here.chain) > 1 else ""
    return f"{here.spec.terminal}{onward}: {here.names[here.serving]} serves{hops}{rtt}"


def _extent(here: Scene) -> tuple[float, float, tuple[float, float]]:
    """Middle longitude, half width and latitudes (degrees) that show everything of interest."""
    terminal = here.spec.terminal
    ends = [(terminal.lat, terminal.lon)]
    if here.spec.via == "isl" and here.spec.to is not None:
        ends.append((here.spec.to.lat, here.spec.to.lon))
        under = here.ground()[list(here.chain), :2]
        line = np.concatenate([great_circle(ends[0], ends[1]), under])
        middle = float(great_circle(ends[0], ends[1], 3)[1, 1])
        lon = beside(line[:, 1], middle)
        half = min(180.0, max(float(np.ptp(lon)) / 2 + 2 * ROOM_DEG, 40.0))
        middle = float(lon.min() + lon.max()) / 2
        low, high = float(line[:, 0].min()) - ROOM_DEG, float(line[:, 0].max()) + ROOM_DEG
        return middle, half, (max(-88.0, low), min(88.0, high))
    low = float(np.clip(terminal.lat - NEAR_DEG, -88, 88 - 2 * NEAR_DEG * 0.75))
    high = float(np.clip(terminal.lat + NEAR_DEG, -88 + 2 * NEAR_DEG * 0.75, 88))
    half = min(180.0, 1.5 * NEAR_DEG / max(0.3, np.cos(np.radians((low + high) / 2))))
    return terminal.lon, half, (low, high)


def _satellites(axes: Axes, here: Scene, middle: float) -> None:
    under = here.ground()
    lon = beside(under[:, 1], middle)
    west, east = axes.get_xlim()
    south, north = axes.get_ylim()
    inside = (lon > west) & (lon < east) & (under[:, 0] > south) & (under[:, 0] < north)
    size = 1.5 if inside.sum() > 1500 else 2.8
    others = inside & ~here.usable
    axes.plot(lon[others], under[others, 0], ".", ms=size, color=LIGHT["soft"], alpha=0.55,
              label="satellite", zorder=1)  # fmt: skip
    seen = inside & here.usable
    axes.plot(lon[seen], under[seen, 0], "o", ms=4, color=LIGHT["satellite"], **OUTLINE,
              label=f"usable from {here.spec.terminal} ({int(here.usable.sum())})",
              zorder=4)  # fmt: skip


def _ground_track(axes: Axes, here: Scene, middle: float) -> None:
    if here.serving is None:
        return
    seconds = np.arange(-TRACK_S, TRACK_S + 1, TRACK_STEP_S) / here.spec.acceleration
    points = np.stack([here.ground(float(s))[here.serving] for s in seconds])
    half = len(seconds) // 2
    past, ahead = points[: half + 1], points[half:]
    colour = LIGHT["cellular1"]
    draw_line(axes, past[:, 0], past[:, 1], middle, color=colour, lw=1.2, ls=(0, (1, 1.5)),
              zorder=3)  # fmt: skip
    draw_line(axes, ahead[:, 0], ahead[:, 1], middle, color=colour, lw=1.4, zorder=3,
              label=f"its ground track, {TRACK_S / 60:.0f} min back (dotted) and ahead")  # fmt: skip


def _way(axes: Axes, here: Scene, middle: float) -> None:
    """From the terminal up, through the satellites and down; great circles on the ground."""
    if here.serving is None:
        return
    under = here.ground()
    terminal, to = here.spec.terminal, here.spec.to
    stops = [(terminal.lat, terminal.lon)]
    stops += [(float(under[k, 0]), float(under[k, 1])) for k in here.chain or (here.serving,)]
    end = to if here.chain else here.gateway
    if end is not None:
        stops.append((end.lat, end.lon))
    for number, (a, b) in enumerate(zip(stops, stops[1:], strict=False)):
        leg = great_circle(a, b, 30)
        draw_line(axes, leg[:, 0], leg[:, 1], middle, color=LIGHT["mark"], lw=1.6, zorder=5,
                  label="the way" if number == 0 else None)  # fmt: skip
    if here.chain and to is not None:
        direct = great_circle((terminal.lat, terminal.lon), (to.lat, to.lon))
        draw_line(axes, direct[:, 0], direct[:, 1], middle, color=LIGHT["soft"], lw=1,
                  ls=(0, (4, 3)), zorder=2, label="great circle")  # fmt: skip
        on_way = under[list(here.chain[1:])]
        axes.plot(beside(on_way[:, 1], middle), on_way[:, 0], "o", ms=5, color=LIGHT["mark"],
                  **OUTLINE, zorder=6)  # fmt: skip
    lat, lon = under[here.serving, :2]
    axes.plot(beside(lon, middle), lat, "o", ms=8, color=LIGHT["mark"], **OUTLINE, zorder=7,
              label=f"{here.names[here.serving]}, serving")  # fmt: skip


def _places(axes: Axes, here: Scene, middle: float) -> None:
    """Gateways as squares, the one in use filled; the ends with their names."""
    own = here.spec.terminal.coordinates
    gateways = [place for place in here.gateways if place.coordinates != own]
    if gateways:
        lat, lon = np.array([(place.lat, place.lon) for place in gateways]).T
        x = beside(lon, middle)
        west, east = axes.get_xlim()
        inside = (x > west) & (x < east)
        axes.plot(x[inside], lat[inside], "s", ms=4, mfc=LIGHT["paper"], mec=LIGHT["cellular2"],
                  mew=1.1, label="gateway", zorder=4)  # fmt: skip
    if here.gateway is not None and here.gateway.coordinates != own:
        _named(axes, here.gateway, middle, "s", LIGHT["cellular2"])
    _named(axes, here.spec.terminal, middle, "^", LIGHT["ink"])
    if here.spec.via == "isl" and here.spec.to is not None:
        _named(axes, here.spec.to, middle, "^", LIGHT["ink"])


def _named(axes: Axes, place: Place, middle: float, marker: str, colour: str) -> None:
    x = float(beside(np.array(place.lon), middle))
    axes.plot(x, place.lat, marker, ms=8, color=colour, **OUTLINE, zorder=8)
    axes.annotate(
        str(place),
        (x, place.lat),
        xytext=(0, -12),
        textcoords="offset points",
        ha="center",
        va="top",
        fontsize=9.5,
        fontweight="bold",
        color=colour,
        bbox={"facecolor": LIGHT["paper"], "alpha": 0.75, "edgecolor": "none", "pad": 1.0},
        zorder=9,
    )
