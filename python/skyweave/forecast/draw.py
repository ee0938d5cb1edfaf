"""The picture of an estimate: folded shifts with the phase found, and a stretch of the series."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from skyweave.forecast.edges import Edge
from skyweave.forecast.measurement import Measurement
from skyweave.forecast.slots import SlotEstimate
from skyweave.model.drive import Values
from skyweave.plotting.style import LIGHT, drawing

STRETCH_SLOTS = 10
"""Slots in the lower panel."""
GAP = 5.0
"""Samples farther apart than this many spacings are not connected."""
TOP_PERCENTILE = 99.0
"""A few extreme round trips must not flatten the others; they are cut at the frame."""


def slots_figure(series: Measurement, estimate: SlotEstimate) -> Figure:
    """Above, the mean shift by phase; below, a stretch with its slot edges and handovers.

    The stretch is a typical one: its share of handovers is the closest to that of the whole series
    among those with the most edges.
    """
    with drawing(estimate.name):
        figure = Figure(figsize=(10.2, 6.4), layout="constrained", facecolor=LIGHT["paper"])
        profile, stretch = figure.subplots(2, 1, height_ratios=(1, 1.15))
        _profile(profile, estimate)
        _stretch(stretch, series, estimate)
        figure.suptitle(
            f"{estimate.name}\n{headline(estimate)}", x=0.012, ha="left", fontsize=10.5,
            fontweight="bold", color=LIGHT["ink"],
        )  # fmt: skip
    return figure


def headline(estimate: SlotEstimate) -> str:
    """What was found, in a sentence.

    The same words stand above the figure and in what the command prints.
    """
    chance = f"p = {estimate.p_value:.2g}"
    if not estimate.found:
        return f"No slots found at a period of {estimate.period_s:g} s ({chance})"
    return (
        f"Slots of {estimate.period_s:g} s, edges at {estimate.offset_s:.2f} s modulo the period "
        f"({estimate.offset_low_s:.2f} to {estimate.offset_high_s:.2f}; {chance})"
    )


def _profile(axes: Axes, estimate: SlotEstimate) -> None:
    profile, period = estimate.profile, estimate.period_s
    axes.plot(profile.offsets_s, profile.shifts, color=LIGHT["satellite"], linewidth=1.6)
    low, high = estimate.offset_low_s, estimate.offset_high_s
    if estimate.found:
        for turn in (-period, 0.0, period):
            axes.axvspan(low + turn, high + turn, color=LIGHT["mark"], alpha=0.15, linewidth=0)
        axes.axvline(estimate.offset_s, color=LIGHT["mark"], linewidth=1.2)
        late = estimate.offset_s > period / 2
        axes.annotate(
            f"{estimate.offset_s:.2f} s",
            xy=(estimate.offset_s, 1.0), xycoords=("data", "axes fraction"),
            xytext=(-8 if late else 8, -4), textcoords="offset points",
            ha="right" if late else "left", va="top", color=LIGHT["mark"], fontweight="bold",
        )  # fmt: skip
    axes.set_xlim(0, period)
    axes.set_ylim(0, 1.12 * float(np.nanmax(profile.shifts)) or 1.0)
    axes.set_xlabel(f"seconds of UTC modulo {period:g} s")
    axes.set_ylabel("mean shift (rank, 0 to 1)")
    axes.set_title("How far the level moves, by phase", fontweight="normal")


def _stretch(axes: Axes, series: Measurement, estimate: SlotEstimate) -> None:
    begin, end = _typical(series, estimate)
    part = (series.times_unix_s >= begin) & (series.times_unix_s <= end)
    times, values = series.times_unix_s[part], series.values[part]
    known = np.isfinite(values)
    lone = ".-" if np.sum(known) < 400 else "-"
    axes.plot(*_broken(times[known], values[known], series.spacing_s), lone,
              color=LIGHT["satellite"], linewidth=0.9, markersize=3)  # fmt: skip
    lost = times[~known]
    axes.plot(lost, np.full(len(lost), 0.985), "|", color=LIGHT["ink"], markersize=6,
              transform=axes.get_xaxis_transform())  # fmt: skip
    edges = [edge for edge in estimate.edges if begin <= edge.time_unix_s <= end]
    if estimate.found:
        _edges(axes, edges)
    top = float(np.percentile(values[known], TOP_PERCENTILE)) if known.any() else 1.0
    bottom = float(values[known].min()) if known.any() and series.kind == "rtt" else 0.0
    room = 0.08 * max(top - bottom, 1e-9)
    axes.set_ylim(bottom - room if series.kind == "rtt" else 0.0, top + 2.5 * room)
    axes.set_xlim(begin, end)
    _clock(axes, [edge.time_unix_s for edge in edges], begin)
    axes.set_ylabel(
        f"round-trip time ({series.unit})" if series.kind == "rtt" else f"rate ({series.unit})"
    )
    _key(axes, estimate.found, bool(len(lost)))


def _edges(axes: Axes, edges: Sequence[Edge]) -> None:
    for edge in edges:
        colour, width = (LIGHT["mark"], 1.6) if edge.handover else (LIGHT["line"], 1.0)
        line = "-" if edge.handover else (0, (3, 3))
        axes.axvline(edge.time_unix_s, color=colour, linewidth=width, linestyle=line, zorder=0.5)
        if edge.handover:
            axes.annotate(
                f"{100 * edge.confidence:.0f} %",
                xy=(edge.time_unix_s, 0.95), xycoords=("data", "axes fraction"),
                xytext=(3, 0), textcoords="offset points", va="top", fontsize=8,
                color=LIGHT["mark"],
            )  # fmt: skip


def _key(axes: Axes, found: bool, lost: bool) -> None:
    """What the lines mean, right of the panel's title."""
    entries = []
    if found:
        entries += [
            Line2D([], [], color=LIGHT["mark"], linewidth=1.6, label="handover, its confidence"),
            Line2D([], [], color=LIGHT["soft"], linestyle=(0, (3, 3)), label="slot edge without"),
        ]
    if lost:
        entries.append(
            Line2D([], [], color=LIGHT["ink"], marker="|", linewidth=0, label="probe lost")
        )
    if entries:
        axes.legend(handles=entries, loc="lower right", bbox_to_anchor=(1, 1), ncols=3)


def _clock(axes: Axes, edges: Sequence[float], begin: float) -> None:
    """Ticks at the slot edges, to the tenth of a second: what recurs is then read directly."""
    moments = [datetime.fromtimestamp(round(edge, 1), UTC) for edge in edges]
    words = [f"{m:%M:%S}.{m.microsecond // 100_000}" for m in moments]
    axes.set_xticks(list(edges), words)
    first = datetime.fromtimestamp(begin, UTC)
    axes.set_title(f"A typical stretch from {first:%Y-%m-%d %H:%M} UTC", fontweight="normal")
    axes.set_xlabel("UTC, minutes and seconds")


def _typical(series: Measurement, estimate: SlotEstimate) -> tuple[float, float]:
    """Begin and end of the stretch to show."""
    period, edges = estimate.period_s, estimate.edges
    times = np.array([edge.time_unix_s for edge in edges])
    if len(times) <= STRETCH_SLOTS:
        return float(series.times_unix_s[0]), float(series.times_unix_s[-1])
    handover = np.cumsum([0, *(edge.handover for edge in edges)])
    places = np.arange(len(times))
    end = np.searchsorted(times, times + (STRETCH_SLOTS - 0.5) * period)
    share = (handover[end] - handover[places]) / (end - places)
    away = np.abs(share - handover[-1] / len(edges))
    first = int(np.argmin(away - (end - places)))  # the number of edges first, then the share
    begin = float(times[first]) - period / 2
    return begin, begin + STRETCH_SLOTS * period


def _broken(times: Values, values: Values, spacing: float) -> tuple[Values, Values]:
    """The line with a NaN in every gap, so that nothing is drawn across it."""
    cuts = np.flatnonzero(np.diff(times) > GAP * spacing) + 1
    return np.insert(times, cuts, np.nan), np.insert(values, cuts, np.nan)
