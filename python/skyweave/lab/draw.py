"""The picture of a closed loop: round trips, boundaries, satellites, forecasts, firings."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from skyweave.forecast.predictors.target import Target
from skyweave.lab.closed_loop import Loop
from skyweave.lab.judge import TARGETS, Seen
from skyweave.plotting.style import LIGHT, drawing

STRETCH_S = 180.0
"""Length of the stretch in the lower panels."""
BAND = Target("at", 5)
SKY = ("satellite", "cellular2", "bonded", "other1", "cellular3", "other2")
"""Colours that satellites take in turn; neighbours differ."""


def loop_figure(loop: Loop, seen: Seen, headline: str) -> Figure:
    """Above, the whole loop; below, the stretch with most firings, with bands and satellites."""
    begin, end = seen.rows[0][0], seen.rows[-1][0]
    first = _stretch(seen, begin, end)
    last = min(first + STRETCH_S, end)
    with drawing("closed loop"):
        figure = Figure(figsize=(10.2, 7.2), layout="constrained", facecolor=LIGHT["paper"])
        whole, close, sky = figure.subplots(3, 1, height_ratios=(1, 1.5, 0.3))
        _round_trips(whole, seen, (begin, end), 1.5)
        whole.axvspan(first - begin, last - begin, color=LIGHT["grid"], zorder=0, linewidth=0)
        whole.set_title("The whole loop: own probes and firings", fontweight="normal")
        _round_trips(close, seen, (first, last), 3.0)
        _band(close, seen, (first, last))
        for edge in loop.sky.edges_unix_s:
            if first <= edge <= last:
                for axes in (close, sky):
                    axes.axvline(edge - first, color=LIGHT["line"], linewidth=0.8, zorder=0)
        close.set_ylim(top=1.15 * close.get_ylim()[1])  # the legend stands above all
        close.set_title("The marked stretch; lines: edges of slots", fontweight="normal")
        close.tick_params(labelbottom=False)
        close.legend(handles=_legend(), loc="upper right", ncols=3)
        _satellites(sky, loop, seen, (first, last))
        start = datetime.fromtimestamp(first, UTC)
        sky.set_xlabel(f"seconds after {start:%Y-%m-%d %H:%M:%S} UTC")
        figure.suptitle(
            headline, x=0.012, ha="left", fontsize=10.5, fontweight="bold", color=LIGHT["ink"]
        )
    return figure


def _stretch(seen: Seen, begin: float, end: float) -> float:
    """Return where the stretch begins that has most firings, bands being there."""
    times = [one.time_s for one in seen.firings]
    starts = np.arange(begin, max(begin + 1.0, end - STRETCH_S), 15.0)
    counts = [sum(start < one < start + STRETCH_S for one in times) for start in starts.tolist()]
    return float(starts[int(np.argmax(counts))])


def _round_trips(axes: Axes, seen: Seen, span: tuple[float, float], size: float) -> None:
    probes, (first, last) = seen.probes, span
    inside = (probes.sent_s >= first) & (probes.sent_s <= last)
    axes.plot(
        probes.sent_s[inside] - first, probes.rtt_ms[inside], ".", markersize=size,
        color=LIGHT["satellite"], rasterized=True,
    )  # fmt: skip
    top = float(probes.rtt_ms[inside].max()) if inside.any() else 1.0
    fired = [one.time_s - first for one in seen.firings if first <= one.time_s <= last]
    axes.plot(fired, [1.07 * top] * len(fired), "v", color=LIGHT["mark"], markersize=5)
    axes.set_xlim(0, last - first)
    axes.set_ylim(0, 1.15 * top)
    axes.set_ylabel("round trip (ms)")


def _band(axes: Axes, seen: Seen, span: tuple[float, float]) -> None:
    """Draw what was foreseen five seconds before."""
    place, (first, last) = TARGETS.index(BAND), span
    said = [
        (one.second + BAND.ahead_s + 0.5 - first, one.foreseen[place])
        for one in seen.predicted
        if first <= one.second + BAND.ahead_s <= last
    ]
    if said:
        times = [when for when, _ in said]
        low, high = [one.low for _, one in said], [one.high for _, one in said]
        axes.fill_between(times, low, high, color=LIGHT["opening"], alpha=0.35, linewidth=0)
        axes.plot(times, [one.middle for _, one in said], color=LIGHT["bonded"], linewidth=1.0)


def _satellites(axes: Axes, loop: Loop, seen: Seen, span: tuple[float, float]) -> None:
    """Draw a bar a slot: above who served, below who was found to have served."""
    slot_s, (first, last) = loop.world.spec.slot_s or 15.0, span
    colours: dict[str, str] = {}
    for edge in [loop.sky.edges_unix_s[0] - slot_s, *loop.sky.edges_unix_s]:
        if edge > last or edge + slot_s < first:
            continue
        for row, name in ((1, loop.world.serving(edge + slot_s / 2)), (0, seen.said.get(edge))):
            if not name:
                continue
            colour = colours.setdefault(name, LIGHT[SKY[len(colours) % len(SKY)]])
            axes.barh(row, slot_s, left=edge - first, height=0.8, color=colour, alpha=0.8)
            if row and min(edge + slot_s, last) - max(edge, first) > slot_s / 2:
                axes.text(
                    max(edge - first, 0) + 0.4, row, name.lower().removeprefix("starlink-")[:12],
                    va="center", fontsize=6, color=LIGHT["paper"], clip_on=True,
                )  # fmt: skip
    axes.set_xlim(0, last - first)
    axes.set_yticks([0, 1], ["found", "served"])
    axes.grid(visible=False)


def _legend() -> list[Line2D]:
    return [
        Line2D([], [], marker=".", linestyle="", color=LIGHT["satellite"], label="own probe"),
        Line2D([], [], color=LIGHT["bonded"], label="foreseen 5 s before, with 80 % band"),
        Line2D([], [], marker="v", linestyle="", color=LIGHT["mark"], label="firing"),
    ]
