"""A figure of round trips over time, with who serves, handovers and outages."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from skyweave.orbit.path import OrbitPath
from skyweave.orbit.spec import OrbitSpec
from skyweave.report.style import LIGHT, drawing

MARKED_HANDOVERS = 150
"""With more, ticks at the foot of the panel stand for the lines."""
TICKS_S = (15, 30, 60, 120, 300, 600, 1800, 3600, 7200, 14400, 21600, 43200, 86400)
REASONS = {
    "no-satellite": "no satellite",
    "no-gateway": "no gateway in reach",
    "no-route": "no route",
    "handover": "gap of a handover",
}


def rtt_figure(spec: OrbitSpec, path: OrbitPath, fibre_ms: float | None = None) -> Figure:
    """Round trips of propagation, handovers as lines, outages shaded; fibre for comparison."""
    with drawing(f"rtt {spec.constellation}"):
        figure = Figure(figsize=(11, 4.2))
        FigureCanvasAgg(figure)
        axes = figure.subplots()
        axes.plot(path.times_s, path.rtt_ms, color=LIGHT["satellite"], lw=1.1, zorder=3)
        known = path.rtt_ms[~np.isnan(path.rtt_ms)]
        _limits(axes, known, fibre_ms)
        _outages(axes, path)
        _handovers(axes, path)
        if fibre_ms is not None:
            axes.axhline(fibre_ms, color=LIGHT["cellular1"], ls=(0, (6, 3)), lw=1.2,
                         label=f"fibre along the great circle, {fibre_ms:.1f} ms")  # fmt: skip
        clock_axis(axes, path.start, path.duration_s)
        axes.set_ylabel("round-trip time, ms")
        words(figure, f"{spec.terminal} to {_other_end(spec)}", _subtitle(spec, path))
        if axes.get_legend_handles_labels()[0]:
            axes.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=4, borderaxespad=0.1)
        figure.tight_layout(rect=(0, 0, 1, 0.88))
    return figure


def words(figure: Figure, title: str, subtitle: str) -> None:
    """Title and what it rests on, above all panels."""
    height = float(figure.get_size_inches()[1])
    left = 0.15 / float(figure.get_size_inches()[0])
    figure.text(left, 1 - 0.2 / height, title, fontsize=11.5, fontweight="bold", va="center")
    figure.text(left, 1 - 0.43 / height, subtitle, fontsize=8.5, color=LIGHT["soft"], va="center")


def basis(spec: OrbitSpec) -> str:
    """The constellation's name and the mask, for subtitles."""
    name = spec.constellation.rsplit("/", 1)[-1]
    avoided = f", {spec.gso_avoidance_deg:g}° off the geostationary arc"
    return (
        f"{name}, {spec.min_elevation_deg:g}° and higher"
        f"{avoided if spec.gso_avoidance_deg else ''}, {spec.policy}"
    )


def _other_end(spec: OrbitSpec) -> str:
    if spec.via == "isl":
        return f"{spec.to} over links between satellites"
    if isinstance(spec.gateways, tuple) and len(spec.gateways) == 1:
        here = spec.gateways[0].coordinates == spec.terminal.coordinates
        return "a satellite and back" if here else f"gateway {spec.gateways[0]}"
    count = f"{len(spec.gateways)} " if isinstance(spec.gateways, tuple) else ""
    return f"the nearest of {count}gateways"


def _subtitle(spec: OrbitSpec, path: OrbitPath) -> str:
    extra = f" plus {spec.extra_rtt_ms:g} ms" if spec.extra_rtt_ms else ""
    return (
        f"{basis(spec)}.  Propagation{extra}; {len(path.handovers):,} handovers, "
        f"{sum(one.end_s - one.start_s for one in path.outages):,.1f} s of outages"
    )


def _limits(axes: Axes, known_ms: np.ndarray, fibre_ms: float | None) -> None:
    """All values and the fibre with some air around; not from 0, where nothing can be."""
    if not len(known_ms):
        axes.set_ylim(0, 1)
        axes.text(0.5, 0.5, "no path at any time", transform=axes.transAxes, ha="center")
        return
    values = [*np.quantile(known_ms, [0, 1]).tolist(), *([fibre_ms] if fibre_ms else [])]
    room = max(max(values) - min(values), 1.0)
    axes.set_ylim(max(0.0, min(values) - 0.15 * room), max(values) + 0.12 * room)


def _outages(axes: Axes, path: OrbitPath) -> None:
    shades = {"handover": LIGHT["opening"]}
    told: set[str] = set()
    for one in path.outages:
        label = None if one.reason in told else REASONS[one.reason]
        told.add(one.reason)
        shade = shades.get(one.reason, LIGHT["mark"])
        axes.axvspan(one.start_s, one.end_s, color=shade, alpha=0.25, lw=0, label=label, zorder=1)


def _handovers(axes: Axes, path: OrbitPath) -> None:
    times = [one.time_s for one in path.handovers]
    if not times:
        return
    label = f"handover ({len(times):,})"
    bottom, top = axes.get_ylim()
    reach = top if len(times) <= MARKED_HANDOVERS else bottom + 0.04 * (top - bottom)
    axes.vlines(times, bottom, reach, color=LIGHT["soft"], lw=0.6, alpha=0.7, label=label, zorder=2)


def clock_axis(axes: Axes, start: datetime, duration_s: float) -> None:
    """UTC below a panel whose axis counts seconds of the run."""
    step = next((s for s in TICKS_S if duration_s / s <= 9), TICKS_S[-1])
    begin = start.astimezone(UTC).timestamp()
    ticks = np.arange(-(-begin // step) * step, begin + duration_s + 1e-6, step)
    form = "%H:%M:%S" if step % 60 else "%H:%M" if step < 86400 else "%m-%d"
    labels = [f"{datetime.fromtimestamp(tick, UTC):{form}}" for tick in ticks.tolist()]
    axes.set_xticks(ticks - begin, labels)
    axes.set_xlim(0, duration_s)
    end = start + timedelta(seconds=duration_s)
    days = f"{start:%Y-%m-%d}" if start.date() == end.date() else f"{start:%Y-%m-%d} to {end:%m-%d}"
    axes.set_xlabel(f"UTC, {days}")
