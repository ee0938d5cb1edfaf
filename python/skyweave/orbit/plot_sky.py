"""A sky plot: the satellites over a terminal at one moment, seen from below."""

from __future__ import annotations

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.projections.polar import PolarAxes

from skyweave.orbit.plot import basis, words
from skyweave.orbit.scene import Floats, Scene, gso_angles_deg, gso_arc_deg
from skyweave.report.style import LIGHT, drawing

TRACK_POINTS = 7
TRACK_WITHOUT_SLOTS_S = 15.0
SHOWN_FROM_DEG = 0.0


def sky_figure(here: Scene) -> Figure:
    """North above, east to the right, as on a map; the zenith in the middle, the horizon outside.

    Lines are the tracks over the coming slot, dots the satellites at its beginning.
    """
    with drawing(f"sky {here.moment}"):
        figure = Figure(figsize=(7.6, 8.3))
        FigureCanvasAgg(figure)
        axes = figure.add_axes((0.09, 0.1, 0.82, 0.75), projection="polar")
        assert isinstance(axes, PolarAxes)
        _frame(axes, here)
        _arc(axes, here)
        _satellites(axes, here)
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.06), ncols=3, columnspacing=1.4)
        when = f"{here.moment:%Y-%m-%d %H:%M:%S} UTC, tracks over {_track_s(here):g} s"
        words(figure, _title(here), f"{basis(here.spec)}.  {when}")
    return figure


def _title(here: Scene) -> str:
    count = f"{int(here.usable.sum())} usable"
    if here.serving is None:
        reason = here.path.outages[0].reason if here.path.outages else "no-satellite"
        return f"The sky over {here.spec.terminal}: {count}, none serves ({reason})"
    return f"The sky over {here.spec.terminal}: {count}, {here.names[here.serving]} serves"


def _track_s(here: Scene) -> float:
    return here.spec.slot_s or TRACK_WITHOUT_SLOTS_S


def _frame(axes: PolarAxes, here: Scene) -> None:
    axes.set_theta_zero_location("N")
    axes.set_theta_direction(-1)
    axes.set_rlim(0, 90 - SHOWN_FROM_DEG)
    axes.set_thetagrids(np.arange(0, 360, 45), ["N", "NE", "E", "SE", "S", "SW", "W", "NW"])
    axes.set_rgrids([0, 30, 60], ["", "60°", "30°"], angle=22.5, color=LIGHT["soft"], fontsize=8)
    axes.grid(True, color=LIGHT["line"], lw=0.6)
    axes.spines["polar"].set(color=LIGHT["line"])
    around = np.radians(np.linspace(0, 360, 181))
    edge = 90 - here.spec.min_elevation_deg
    axes.fill_between(around, edge, 90, color=LIGHT["line"], alpha=0.35, lw=0, zorder=0)
    axes.plot(around, np.full(181, edge), color=LIGHT["soft"], lw=1, ls=(0, (4, 3)),
              label=f"mask, {here.spec.min_elevation_deg:g}°", zorder=2)  # fmt: skip


def _arc(axes: PolarAxes, here: Scene) -> None:
    """The geostationary arc and the band that is kept free of it."""
    avoided = here.spec.gso_avoidance_deg
    azimuth, elevation = gso_arc_deg(here.spec.terminal)
    if avoided == 0 or not len(azimuth):
        return
    grid_azimuth, grid_elevation = np.meshgrid(np.linspace(0, 360, 181), np.linspace(0, 90, 91))
    apart = gso_angles_deg(here.spec.terminal, grid_azimuth, grid_elevation)
    axes.contourf(np.radians(grid_azimuth), 90 - grid_elevation, apart, levels=[0, avoided],
                  colors=[LIGHT["cellular1"]], alpha=0.18, zorder=1)  # fmt: skip
    order = np.argsort((azimuth - _gap_deg(azimuth)) % 360)
    axes.plot(np.radians(azimuth[order]), 90 - elevation[order], color=LIGHT["cellular1"], lw=1.3,
              label=f"geostationary arc, {avoided:g}° kept free", zorder=2)  # fmt: skip


def _gap_deg(azimuth_deg: Floats) -> float:
    """The azimuth after the widest gap: where a line through all begins without crossing it."""
    rising = np.sort(azimuth_deg)
    gaps = np.diff(rising, append=rising[0] + 360)
    return float(rising[(int(np.argmax(gaps)) + 1) % len(rising)])


def _satellites(axes: PolarAxes, here: Scene) -> None:
    up = here.elevation_deg > SHOWN_FROM_DEG
    usable = here.usable
    tracks = _tracks(here, np.flatnonzero(up))
    for place, (azimuth, elevation) in tracks.items():
        colour = LIGHT["satellite"] if usable[place] else LIGHT["soft"]
        strong = place == here.serving
        axes.plot(np.unwrap(np.radians(azimuth)), 90 - elevation,
                  color=LIGHT["mark"] if strong else colour, lw=2 if strong else 1.1,
                  alpha=1 if strong else 0.6, zorder=3)  # fmt: skip
    rest = up & ~usable
    groups = (
        (rest, LIGHT["soft"], 2.6, f"up, not usable ({int(rest.sum())})"),
        (up & usable, LIGHT["satellite"], 5.0, f"usable ({int((up & usable).sum())})"),
    )
    for which, colour, size, label in groups:
        axes.plot(np.radians(here.azimuth_deg[which]), 90 - here.elevation_deg[which], "o",
                  ms=size, color=colour, mec=LIGHT["paper"], mew=0.5, label=label,
                  zorder=4)  # fmt: skip
    if here.serving is not None:
        where = np.radians(here.azimuth_deg[here.serving])
        axes.plot(where, 90 - here.elevation_deg[here.serving], "o", ms=10, color=LIGHT["mark"],
                  mec=LIGHT["paper"], mew=0.8, zorder=5,
                  label=f"{here.names[here.serving]}, serving")  # fmt: skip


def _tracks(here: Scene, places: Floats) -> dict[int, tuple[Floats, Floats]]:
    """Azimuths and elevations of satellites over the coming slot."""
    place = here.spec.terminal.coordinates
    seen = [
        here.constellation.look_angles(here.flight_unix_s(float(second)), place)
        for second in np.linspace(0, _track_s(here), TRACK_POINTS)
    ]
    return {
        int(k): (
            np.array([one["azimuth_deg"][k] for one in seen]),
            np.array([one["elevation_deg"][k] for one in seen]),
        )
        for k in places.tolist()
    }
