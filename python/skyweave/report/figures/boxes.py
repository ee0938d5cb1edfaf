"""A figure of box plots in the style of AK-HI."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from skyweave.plotting.style import LIGHT
from skyweave.report.figures.canvas import WIDTH_IN, Canvas, colour_of
from skyweave.report.figures.kinds import of_panel
from skyweave.report.numbers.metrics import Values
from skyweave.results.pathset import PathSet
from skyweave.study.language.figures import PublishedValue

WHISKERS = {"bin": (5.0, 95.0), "drive": (0.0, 100.0)}
"""Percentiles at the ends of whiskers; over whole drives AK-HI draws them to the extremes."""


MINUS = "\N{MINUS SIGN}"


@of_panel("boxes")
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
            _box(axes, position, samples, colour_of(canvas, quantity, cell), ends)
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
