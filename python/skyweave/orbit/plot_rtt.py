"""The round-trip time over a run as a picture, with handovers and outages below it."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from skyweave.orbit.path import OrbitPath, fibre_rtt_ms
from skyweave.orbit.spec import OrbitSpec
from skyweave.orbit.words import WHY, constellation, place, route, summary
from skyweave.plotting.style import LIGHT, drawing

COLOURS = {
    "no-satellite": "mark",
    "no-gateway": "cellular1",
    "no-route": "cellular3",
    "handover": "soft",
}
_UNITS = ((2 * 86_400, 86_400, "days"), (7200, 3600, "hours"), (600, 60, "minutes"))


def rtt_figure(spec: OrbitSpec, path: OrbitPath) -> Figure:
    """Draw the series; each change of satellite and each outage has its mark in a lane below."""
    with drawing("orbit-rtt"):
        figure = Figure(figsize=(9.5, 4.9))
        FigureCanvasAgg(figure)
        upper, lower = figure.subplots(
            2, 1, sharex=True, height_ratios=(5, 1),
            gridspec_kw={"hspace": 0.08, "left": 0.085, "right": 0.98, "top": 0.8, "bottom": 0.17},
        )  # fmt: skip
        scale, unit = _unit(path.duration_s)
        _series(upper, spec, path, scale)
        _lanes(lower, path, scale)
        lower.set_xlim(0, path.duration_s / scale)
        lower.set_xlabel(f"{unit} after {path.start:%Y-%m-%d %H:%M:%S} UTC")
        _words(figure, spec, path)
    return figure


def _unit(duration_s: float) -> tuple[float, str]:
    for least, scale, name in _UNITS:
        if duration_s >= least:
            return scale, name
    return 1.0, "seconds"


def _series(axes: Axes, spec: OrbitSpec, path: OrbitPath, scale: float) -> None:
    known = path.rtt_ms[~np.isnan(path.rtt_ms)]
    axes.step(
        path.times_s / scale, path.rtt_ms, where="post", color=LIGHT["satellite"],
        lw=1.4 if len(path.times_s) < 3000 else 0.8,
    )  # fmt: skip
    for one in path.outages:
        if one.reason != "handover":
            axes.axvspan(
                one.start_s / scale, one.end_s / scale, color=LIGHT[COLOURS[one.reason]],
                alpha=0.13, lw=0,
            )  # fmt: skip
    axes.set_ylabel("RTT (ms)")
    axes.tick_params(axis="x", labelbottom=False)
    if not len(known):
        axes.set_yticks([])
        axes.text(
            0.5, 0.5, "no path at any time", transform=axes.transAxes, ha="center",
            color=LIGHT["mark"], fontsize=12,
        )  # fmt: skip
        return
    low, high = float(known.min()), float(known.max())
    if spec.via == "isl" and spec.to is not None:
        fibre_ms = fibre_rtt_ms(spec.terminal, spec.to)
        axes.axhline(fibre_ms, color=LIGHT["other2"], lw=1.2, ls=(0, (5, 3)))
        axes.annotate(
            f"fibre along the great circle, {fibre_ms:.1f} ms", (1, fibre_ms),
            xycoords=("axes fraction", "data"), xytext=(0, 3), textcoords="offset points",
            ha="right", color=LIGHT["other2"],
        )  # fmt: skip
        low, high = min(low, fibre_ms), max(high, fibre_ms)
    margin = max(0.12 * (high - low), 0.3)
    axes.set_ylim(low - margin, high + 1.3 * margin)


def _lanes(axes: Axes, path: OrbitPath, scale: float) -> None:
    """Upper lane: a tick for each handover. Lower lane: outages, at least a tick wide."""
    times = np.array([one.time_s for one in path.handovers]) / scale
    axes.vlines(times, 1.12, 1.88, color=LIGHT["bonded"], lw=1.0 if len(times) < 300 else 0.4)
    for one in path.outages:
        colour = LIGHT[COLOURS[one.reason]]
        begin, length = one.start_s / scale, (one.end_s - one.start_s) / scale
        axes.broken_barh([(begin, length)], (0.12, 0.76), facecolor=colour, edgecolor=colour,
                         linewidth=0.8)  # fmt: skip
    axes.set_ylim(0, 2)
    axes.set_yticks([0.5, 1.5], ["outages", "handovers"])
    axes.grid(False)
    axes.spines["left"].set_visible(False)
    axes.axhline(1, color=LIGHT["grid"], lw=0.8)


def _words(figure: Figure, spec: OrbitSpec, path: OrbitPath) -> None:
    figure.text(
        0.015, 0.965, f"{place(spec.terminal)} {route(spec)}", fontsize=13, fontweight="bold",
        va="top",
    )  # fmt: skip
    figure.text(
        0.015, 0.895, f"{constellation(spec)} · {spec.policy}\n{summary(path)}", fontsize=9,
        color=LIGHT["soft"], va="top", linespacing=1.5,
    )  # fmt: skip
    reasons = list(dict.fromkeys(one.reason for one in path.outages))
    for index, reason in enumerate(reasons):
        figure.text(
            0.985 - 0.235 * index, 0.025, f"■ {WHY[reason]}", ha="right", fontsize=8.5,
            color=LIGHT[COLOURS[reason]],
        )  # fmt: skip
