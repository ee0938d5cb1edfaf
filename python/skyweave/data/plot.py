"""One picture of a drive: what each path offered over time, and how often how much."""

from __future__ import annotations

from io import BytesIO

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from skyweave.data.statistics import Quantity
from skyweave.errors import DataError
from skyweave.model.drive import Drive, Series, Values

COLOURS = {
    "starlink": "#0072B2",
    "starlink_roam": "#56B4E9",
    "att": "#009E73",
    "tmobile": "#CC79A7",
    "verizon": "#D55E00",
    "link": "#0072B2",
}
"""Okabe and Ito's colours, which readers with any colour vision can distinguish."""
OTHERS = ("#E69F00", "#000000", "#56B4E9", "#999999", "#009E73", "#CC79A7")
LABELS = {
    "starlink": "Starlink",
    "starlink_roam": "Starlink Roam",
    "att": "AT&T",
    "tmobile": "T-Mobile",
    "verizon": "Verizon",
}
PANELS: dict[Quantity, tuple[str, str]] = {
    "downlink_mbps": ("Downlink", "Mbit/s"),
    "uplink_mbps": ("Uplink", "Mbit/s"),
    "rtt_ms": ("Round-trip time", "ms"),
}
SMOOTH_S = 5.0
INK, FAINT = "#222222", "#8a8a8a"


@mpl.rc_context({"text.parse_math": False})  # names may have dollar signs
def drive_figure(drive: Drive) -> Figure:
    """A row per measured quantity: left over time, right the cumulative distribution.

    Over time: faint, every sample; strong, the mean of 5 s; below the axis, a mark wherever a path
    stood at exactly 0. Raises :class:`DataError` for a drive without a series.
    """
    rows = [q for q in PANELS if any(getattr(t, q) is not None for t in drive.paths.values())]
    if not rows:
        raise DataError(f"drive '{drive.name}' has no series; there is nothing to plot")
    figure = Figure(figsize=(12, 1.1 + 3.1 * len(rows)), dpi=150, facecolor="white")
    FigureCanvasAgg(figure)
    axes = figure.subplots(len(rows), 2, squeeze=False, width_ratios=(2.6, 1))
    for (left, right), quantity in zip(axes, rows, strict=True):
        series = {n: s for n, t in drive.paths.items() if (s := getattr(t, quantity)) is not None}
        _over_time(left, series, quantity)
        _distribution(right, series, quantity)
    _words(figure, drive)
    axes[-1][0].set_xlabel("seconds since the drive began", fontsize=10.5, color=INK)
    return figure


def png(figure: Figure) -> bytes:
    """The figure as the bytes of a PNG."""
    buffer = BytesIO()
    figure.savefig(buffer, format="png")
    return buffer.getvalue()


def colour(name: str, index: int) -> str:
    """A path's colour: fixed for known operators, else by its place."""
    return COLOURS.get(name, OTHERS[index % len(OTHERS)])


def _over_time(axes: Axes, series: dict[str, Series], quantity: Quantity) -> None:
    title, unit = PANELS[quantity]
    top = max(float(np.nanpercentile(one.values, 99.7)) for one in series.values()) or 1.0
    lane = 0.04 * top
    for index, (name, one) in enumerate(series.items()):
        shade = colour(name, index)
        axes.plot(one.times_s, one.values, color=shade, alpha=0.22, lw=0.6)
        axes.plot(one.times_s, smooth(one), color=shade, lw=1.6, label=LABELS.get(name, name))
        if quantity != "rtt_ms":
            _outage_marks(axes, one, index, lane, shade)
    axes.set_ylim(-(len(series) + 0.4) * lane if quantity != "rtt_ms" else 0, 1.08 * top)
    if quantity != "rtt_ms":
        axes.axhline(0, color=FAINT, lw=0.6)
        axes.set_yticks([tick for tick in axes.get_yticks() if 0 <= tick <= 1.08 * top])
    axes.set_xlim(0, max(one.duration_s for one in series.values()))
    axes.set_title(f"{title} ({unit})", loc="left", fontsize=12, color=INK, fontweight="bold")
    _legend(axes)
    _clean(axes)


def _legend(axes: Axes) -> None:
    """The paths' names in their own colours, in one line above the panel, instead of a box."""
    legend = axes.legend(
        loc="lower right",
        bbox_to_anchor=(1.0, 1.0),
        ncols=5,
        frameon=False,
        fontsize=10.5,
        handlelength=0,
        handletextpad=0,
        columnspacing=1.4,
        borderaxespad=0.2,
        labelcolor="linecolor",
    )
    for text in legend.get_texts():
        text.set_fontweight("bold")


def _outage_marks(axes: Axes, one: Series, lane: int, step: float, shade: str) -> None:
    """A mark in the path's own lane below zero wherever it delivered nothing."""
    times_s = one.times_s[one.values == 0]
    heights = np.full(len(times_s), -(lane + 0.8) * step)
    axes.plot(times_s, heights, color=shade, marker="|", ms=5.5, mew=1.2, lw=0)


def smooth(series: Series) -> Values:
    """The centred mean of :data:`SMOOTH_S` seconds, NaN where nothing around was logged."""
    width = max(1, round(SMOOTH_S / series.spacing_s)) | 1
    if len(series.values) < width:
        return series.values
    known = ~np.isnan(series.values)
    kernel = np.ones(width)
    total = np.convolve(np.where(known, series.values, 0), kernel, mode="same")
    count = np.convolve(known.astype(float), kernel, mode="same")
    return np.where(known, total / np.maximum(count, 1), np.nan)


def _distribution(axes: Axes, series: dict[str, Series], quantity: Quantity) -> None:
    ends = []
    for index, (name, one) in enumerate(series.items()):
        known = np.sort(one.values[~np.isnan(one.values)])
        share = np.arange(1, len(known) + 1) / max(len(known), 1)
        axes.step(known, share, where="post", color=colour(name, index), lw=1.8)
        middle = float(np.median(known)) if len(known) else 0.0
        ends.append((middle, LABELS.get(name, name), colour(name, index)))
    _medians(axes, ends, PANELS[quantity][1])
    right = max(float(np.nanpercentile(one.values, 99)) for one in series.values())
    left = 0.0 if quantity != "rtt_ms" else min(float(np.nanmin(s.values)) for s in series.values())
    axes.set_xlim(0.95 * left, 1.05 * right if right > 0 else 1)
    axes.set_ylim(0, 1)
    axes.set_yticks([0, 0.25, 0.5, 0.75, 1], ["0", "25 %", "50 %", "75 %", "100 %"])
    axes.axhline(0.5, color=FAINT, lw=0.6, ls=(0, (2, 3)))
    title, unit = PANELS[quantity]
    axes.set_title("Share of time at or below", loc="left", fontsize=12, color=INK)
    axes.set_xlabel(f"{title} ({unit})", fontsize=10, color=INK)
    _clean(axes)


def _medians(axes: Axes, ends: list[tuple[float, str, str]], unit: str) -> None:
    """Direct labels at the lower right: each path's name and median in its colour."""
    for line, (middle, label, shade) in enumerate(sorted(ends)):
        axes.annotate(
            f"{label}  {middle:,.0f} {unit}" if middle >= 10 else f"{label}  {middle:.1f} {unit}",
            xy=(0.98, 0.05 + 0.085 * (len(ends) - 1 - line)),
            xycoords="axes fraction",
            ha="right",
            fontsize=9.5,
            color=shade,
            fontweight="bold",
            bbox={"facecolor": "white", "alpha": 0.8, "edgecolor": "none", "pad": 1.0},
        )
    axes.annotate(
        "median",
        xy=(0.98, 0.05 + 0.085 * len(ends)),
        xycoords="axes fraction",
        ha="right",
        fontsize=9,
        color=FAINT,
    )


def _words(figure: Figure, drive: Drive) -> None:
    """Title, origin and how to read the picture; makes room for them."""
    height = float(figure.get_size_inches()[1])
    kind = "synthetic drive" if drive.synthetic else "measured drive"
    when = f", {drive.start:%Y-%m-%d %H:%M:%S}" if drive.start else ""
    figure.text(
        0.012,
        1 - 0.12 / height,
        f"{drive.name} — {kind}{when}",
        fontsize=14,
        fontweight="bold",
        color=INK,
        va="top",
    )
    figure.text(
        0.012,
        1 - 0.42 / height,
        f"{drive.origin}.  Faint: samples, strong: 5 s mean, marks below 0: no capacity at all.",
        fontsize=9,
        color=FAINT,
        va="top",
    )
    figure.tight_layout(rect=(0, 0, 1, 1 - 0.6 / height), w_pad=2.0, h_pad=1.6)


def _clean(axes: Axes) -> None:
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(FAINT)
    axes.tick_params(colors=INK, labelsize=10)
    axes.grid(axis="y", color="#e6e6e6", lw=0.7)
    axes.set_axisbelow(True)
