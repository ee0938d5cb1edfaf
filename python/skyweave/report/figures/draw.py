"""The kinds of figures, each a function from a panel to a matplotlib figure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter

from skyweave.plotting.style import LIGHT
from skyweave.plotting.words import percent
from skyweave.report.numbers import metrics
from skyweave.report.numbers.metrics import Values
from skyweave.report.numbers.panel import Panel
from skyweave.report.numbers.variants import Variant
from skyweave.results.pathset import PathSet
from skyweave.study.language.figures import FigureSpec, PublishedValue

WIDTH_IN = 9.4
WHISKERS = {"bin": (5.0, 95.0), "drive": (0.0, 100.0)}
"""Percentiles at the ends of whiskers; over whole drives AK-HI draws them to the extremes."""
MINUS = "\N{MINUS SIGN}"


@dataclass(frozen=True)
class Canvas:
    """What a figure is drawn from."""

    spec: FigureSpec
    panel: Panel
    colours: dict[str, str]
    published: Sequence[PublishedValue] = ()
    variants: Sequence[tuple[str, Panel]] = ()
    grid: Sequence[Variant] = ()
    facets: Sequence[tuple[str, Sequence[Variant]]] = ()


def boxes(canvas: Canvas) -> Figure:
    """Box plots in the style of AK-HI's figures 18 and 19.

    Left: goodput of each path alone and of each set; right: MPTCP - Max and Sum - MPTCP. Boxes
    are quartiles, whiskers as in ``WHISKERS``, no fliers; marks are published values.
    """
    panel = canvas.panel
    pairs = panel.comparable
    figure = Figure(figsize=(WIDTH_IN, 4.0), layout="constrained")
    left = len(panel.singles) + len(panel.bonded) + 1
    if pairs:
        ratio = (max(left, 4), max(2 * len(pairs) + 1, 4))
        main, rest = figure.subplots(1, 2, width_ratios=ratio)
    else:
        main = figure.subplots(1, 1)
    groups = [("each alone", "goodput", panel.singles), ("bonded", "goodput", panel.bonded)]
    _box_groups(main, groups, canvas)
    main.set_ylabel("goodput (Mbit/s)")
    top = canvas.spec.y_max_mbps
    main.set_ylim(0, top)
    if pairs:
        differences = [
            (f"bonded {MINUS} best alone", "bonded_minus_max", pairs),
            (f"sum {MINUS} bonded", "sum_minus_bonded", pairs),
        ]
        _box_groups(rest, differences, canvas)
        rest.axhline(0, color=LIGHT["soft"], linewidth=0.8)
        rest.set_ylabel("difference (Mbit/s)")
    if canvas.published:
        _published_legend(figure)
    return figure


def _box_groups(
    axes: Axes, groups: Sequence[tuple[str, str, Sequence[PathSet]]], canvas: Canvas
) -> None:
    """Draw groups of boxes side by side with a gap and a heading each."""
    at, ticks, labels = 0.0, [], []
    for heading, quantity, cells in groups:
        for place, cell in enumerate(cells):
            position = at + place
            samples = canvas.panel.pooled(quantity, cell)
            ends = WHISKERS[canvas.panel.unit]
            _box(axes, position, samples, _colour(canvas, quantity, cell), ends)
            _marks(axes, position, quantity, cell, canvas.published)
            ticks.append(position)
            labels.append(cell.replace("+", "\n+"))
        if cells:
            axes.text(
                (at - 0.45), 1.02, heading, transform=axes.get_xaxis_transform(),
                fontsize=9, fontweight="bold", va="bottom",
            )  # fmt: skip
        at += len(cells) + 0.7
    axes.set_xticks(ticks, labels, fontsize=8 if len(ticks) <= 8 else 7)
    axes.set_xlim(-0.7, at - 0.9)


def _colour(canvas: Canvas, quantity: str, cell: PathSet) -> str:
    if quantity == "bonded_minus_max":
        return LIGHT["gain"]
    if quantity == "sum_minus_bonded":
        return LIGHT["loss"]
    return LIGHT["bonded"] if cell.is_bonded else canvas.colours.get(cell, LIGHT["other1"])


def _box(
    axes: Axes, position: float, samples: Values, colour: str, ends: tuple[float, float]
) -> None:
    low, first, middle, third, high = np.percentile(samples, [ends[0], 25, 50, 75, ends[1]])
    stats = {"whislo": low, "q1": first, "med": middle, "q3": third, "whishi": high, "fliers": []}
    drawn = axes.bxp(
        [stats], positions=[position], widths=0.62, showfliers=False, patch_artist=True,
        manage_ticks=False,
        whiskerprops={"color": colour, "linewidth": 1.1},
        capprops={"color": colour, "linewidth": 1.1},
        medianprops={"color": colour, "linewidth": 2.2, "solid_capstyle": "butt"},
    )  # fmt: skip
    for patch in drawn["boxes"]:
        patch.set(facecolor=colour, edgecolor="none", alpha=0.28)


_SHAPES = {"median": "D", "p25": "^", "p75": "v"}
_SHAPE_WORDS = {"median": "published median", "p25": "published 25th percentile"}


def _marks(
    axes: Axes, position: float, quantity: str, cell: PathSet, published: Sequence[PublishedValue]
) -> None:
    """Mark the published values of a box."""
    for value in published:
        if (value.cell, value.quantity) == (cell, quantity) and value.statistic in _SHAPES:
            axes.plot(
                [position], [value.value], _SHAPES[value.statistic], markersize=5.2,
                markerfacecolor="none", markeredgecolor=LIGHT["mark"], markeredgewidth=1.4,
                zorder=5, clip_on=False,
            )  # fmt: skip


def _published_legend(figure: Figure) -> None:
    handles = [
        Line2D(
            [], [], linestyle="", marker=_SHAPES[name], markersize=5.2, markerfacecolor="none",
            markeredgecolor=LIGHT["mark"], markeredgewidth=1.4, label=words,
        )
        for name, words in _SHAPE_WORDS.items()
    ]  # fmt: skip
    figure.legend(handles=handles, loc="outside lower left", ncols=2)


def cdf(canvas: Canvas) -> Figure:
    """Share of seconds below a rate: each path alone, and up to three sets."""
    panel = canvas.panel
    figure = Figure(figsize=(WIDTH_IN, 3.8), layout="constrained")
    axes = figure.subplots()
    by_median = sorted(panel.bonded, key=lambda c: -panel.estimate("goodput", c, "median").value)
    styles = dict(zip(by_median, ("-", "--", ":"), strict=False))
    for cell in [*panel.singles, *styles]:
        values = np.quantile(panel.pooled("goodput", cell), np.linspace(0, 1, 201))
        axes.plot(
            values, np.linspace(0, 100, 201), styles.get(cell, "-"),
            color=_colour(canvas, "goodput", cell), linewidth=2.0 if cell.is_bonded else 1.5,
            label=cell,
        )  # fmt: skip
    axes.set_xlim(0, canvas.spec.y_max_mbps)
    axes.set_ylim(0, 100)
    axes.set_xlabel("goodput (Mbit/s)")
    axes.set_ylabel("seconds with at most that (%)")
    axes.grid(visible=True, axis="both")
    axes.legend(loc="lower right")
    return figure


def outage(canvas: Canvas) -> Figure:
    """Seconds without data: each path alone, both traces at once (Table 1), and bonded."""
    panel = canvas.panel
    pairs = [cell for cell in panel.bonded if cell.is_pair]
    rows = max(len(panel.singles), 2 * len(pairs) * 0.62)
    figure = Figure(figsize=(WIDTH_IN, 1.45 + 0.34 * max(rows, 2)), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(1, 1.35))
    alone = [panel.estimate("goodput", name, "zero_share").value for name in panel.singles]
    colours = [_colour(canvas, "goodput", name) for name in panel.singles]
    _bars(left, panel.singles, alone, colours, 0.6, 0.0)
    _bar_axes(left, panel.singles, "each alone")
    both = [_concurrent(panel, cell) for cell in pairs]
    bonded = [panel.estimate("goodput", cell, "zero_share").value for cell in pairs]
    _bars(right, pairs, both, [LIGHT["soft"]] * len(pairs), 0.34, -0.19)
    _bars(right, pairs, bonded, [LIGHT["bonded"]] * len(pairs), 0.34, 0.19)
    opening = [100 * panel.opening_share(cell) for cell in pairs]
    places = np.arange(len(pairs)) + 0.19
    right.barh(places, opening, height=0.34, color=LIGHT["opening"], zorder=3)
    _bar_axes(right, pairs, "bonded")
    handles = [
        Line2D([], [], linewidth=6, color=LIGHT[role], label=words)
        for role, words in (
            ("soft", "both links at zero"),
            ("bonded", "bonded got nothing"),
            ("opening", "of it: not yet open"),
        )
    ]
    figure.legend(handles=handles, loc="outside lower right", ncols=3)
    top = max([*alone, *both, *bonded, 0.001])
    for axes in (left, right):
        axes.set_xlim(0, 100 * top * 1.25)
    return figure


def _concurrent(panel: Panel, cell: PathSet) -> float:
    a, b = (np.concatenate(panel.capacity[name]) for name in cell.names)
    return metrics.concurrent_outage_share(a, b)


def _bars(
    axes: Axes, names: Sequence[str], shares: Sequence[float], colours: Sequence[str],
    height: float, shift: float,
) -> None:  # fmt: skip
    places = np.arange(len(names)) + shift
    axes.barh(places, [100 * share for share in shares], height=height, color=colours)
    for place, share in zip(places, shares, strict=True):
        axes.annotate(
            percent(share), (100 * share, place), xytext=(4, 0), textcoords="offset points",
            va="center", fontsize=8, color=LIGHT["soft"],
        )  # fmt: skip


def _bar_axes(axes: Axes, names: Sequence[str], title: str) -> None:
    axes.set_yticks(np.arange(len(names)), names)
    axes.tick_params(axis="y", labelcolor=LIGHT["ink"])
    axes.tick_params(axis="x", labelcolor=LIGHT["soft"])
    axes.invert_yaxis()
    axes.grid(visible=False)
    axes.grid(visible=True, axis="x")
    axes.set_xlabel("seconds without any data (%)")
    axes.set_title(title)
    axes.spines["left"].set_visible(False)


def timeline(canvas: Canvas) -> Figure:
    """One drive: what the links could carry, stacked, and what the bonded connection got.

    The drive is the one whose gain over the best single path is the median of all drives.
    """
    panel = canvas.panel
    cell = best_set(panel)
    number = typical_drive(panel, cell)
    names = cell.names
    count = len(panel.goodput[cell][number])
    edges = np.arange(count + 1) * panel.bin_s
    figure = Figure(figsize=(WIDTH_IN, 3.3), layout="constrained")
    axes = figure.subplots()
    floor = np.zeros(count + 1)
    for name in names:
        layer = floor + _held(panel.capacity[name][number])
        axes.fill_between(
            edges, floor, layer, step="post", linewidth=0, alpha=0.32,
            color=canvas.colours.get(name, LIGHT["other1"]), label=f"{name} link",
        )  # fmt: skip
        floor = layer
    axes.step(
        edges, _held(panel.goodput[cell][number]), where="post", color=LIGHT["bonded"],
        linewidth=1.8, label=f"{cell} bonded",
    )  # fmt: skip
    axes.set_xlim(0, float(edges[-1]))
    axes.set_ylim(0, None)
    axes.set_xlabel("time in the drive (s)")
    axes.set_ylabel("Mbit/s")
    axes.set_title(f"{panel.names[number]}, {panel.direction}link", pad=22)
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=len(names) + 1, borderaxespad=0.2)
    return figure


def _held(values: Values) -> Values:
    """Repeat the last value, so that the last step is drawn to its end."""
    return np.append(values, values[-1])


def best_set(panel: Panel) -> PathSet:
    """Return the bonded set with the highest median (of all sets if none is bonded)."""
    cells = panel.comparable or panel.bonded or panel.singles
    return max(cells, key=lambda cell: panel.estimate("goodput", cell, "median").value)


def typical_drive(panel: Panel, cell: PathSet) -> int:
    """Return the drive whose mean gain of ``cell`` over its best path is the median one."""
    if cell not in panel.comparable:
        return 0
    gains = [float(np.mean(gain)) for gain in panel.samples("bonded_minus_max", cell)]
    return int(np.argsort(gains, kind="stable")[(len(gains) - 1) // 2])


def settings(canvas: Canvas) -> Figure:
    """Median goodput of each bonded set (with 95 % interval) for each value of one setting."""
    figure = Figure(figsize=(WIDTH_IN, 3.6), layout="constrained")
    axes = figure.subplots()
    cells = canvas.panel.bonded or canvas.panel.singles
    roles = (
        "bonded", "satellite", "cellular1", "cellular2", "cellular3",
        "other1", "other2", "mark", "soft", "gain",
    )  # fmt: skip
    shift = 0.8 / max(len(canvas.variants), 1)
    for number, (value, panel) in enumerate(canvas.variants):
        found = [panel.estimate("goodput", cell, "median") for cell in cells]
        middle = np.array([estimate.value for estimate in found])
        places = np.arange(len(cells)) + (number - (len(canvas.variants) - 1) / 2) * shift
        errors = np.nan_to_num(
            [[e.value - e.low for e in found], [e.high - e.value for e in found]], nan=0.0
        )
        axes.errorbar(
            places, middle, yerr=np.maximum(errors, 0), fmt="o", markersize=5, capsize=0,
            color=LIGHT[roles[number % len(roles)]], label=value, linewidth=1.6,
        )  # fmt: skip
    axes.set_xticks(np.arange(len(cells)), cells)
    axes.set_ylim(0, canvas.spec.y_max_mbps)
    axes.set_ylabel("median goodput (Mbit/s)")
    axes.legend(
        title=(canvas.spec.by or "").replace("_", " "), loc="center left",
        bbox_to_anchor=(1.0, 0.5), alignment="left",
    )  # fmt: skip
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    return figure


KINDS: dict[str, Callable[[Canvas], Figure]] = {
    "boxes": boxes,
    "cdf": cdf,
    "outage": outage,
    "timeline": timeline,
    "settings": settings,
}
