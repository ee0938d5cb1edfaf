"""A figure of a statistic along a setting."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.transforms import ScaledTranslation

from skyweave.plotting.style import LIGHT
from skyweave.report.figures.axes import DODGE_PT, LINES, shown, words_of
from skyweave.report.figures.canvas import WIDTH_IN, Canvas
from skyweave.report.figures.kinds import of_settings
from skyweave.report.numbers.stats import Estimate
from skyweave.report.numbers.variants import cells_or_default
from skyweave.results.quantities import words


@of_settings("sweep")
def sweep(canvas: Canvas) -> Figure:
    """A statistic along a setting, with 95 % intervals: a line for each value of ``by`` or set."""
    spec = canvas.spec
    key, quantity = spec.x or "", spec.quantity or "goodput"
    figure = Figure(figsize=(WIDTH_IN * 0.78, 3.7), layout="constrained")
    axes = figure.subplots()
    lines: dict[str, dict[float, Estimate]] = {}
    for variant in canvas.grid:
        at = variant.number(key)
        for cell in cells_or_default(variant.panel, spec.cells) if at is not None else []:
            name = cell if spec.by is None else str(variant.settings[spec.by])
            estimate = variant.panel.estimate(quantity, cell, spec.statistic)
            lines.setdefault(name, {})[at or 0.0] = estimate
    scale = 100 if quantity == "share_of_max" else 1
    for number, (name, points) in enumerate(lines.items()):
        shift = (number - (len(lines) - 1) / 2) * DODGE_PT
        _line(axes, points, LINES[number % len(LINES)], name, (scale, shift))
    _sweep_axes(axes, key, sorted({x for points in lines.values() for x in points}))
    axes.set_ylabel(f"{spec.statistic} {words(quantity).axis}")
    top = spec.y_max_mbps
    if quantity == "gain":
        axes.axhline(1, color=LIGHT["soft"], linewidth=0.9, linestyle="--", zorder=1)
    elif quantity == "qoe":
        axes.set_ylim(None, top)  # a film can be worse than none
    else:
        axes.set_ylim(0, top)
    axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5))
    return figure


def _line(
    axes: Axes, points: dict[float, Estimate], role: str, name: str, how: tuple[float, float]
) -> None:
    """Draw one line with its intervals, ``how`` = (scale of values, shift to the side in pt)."""
    scale, shift = how
    x = sorted(points)
    middle, low, high = (
        scale * np.array([getattr(points[place], part) for place in x])
        for part in ("value", "low", "high")
    )
    inches = axes.figure.dpi_scale_trans
    aside = axes.transData + ScaledTranslation(shift / 72, 0, inches)
    axes.vlines(x, low, high, color=LIGHT[role], linewidth=1.3, alpha=0.55, transform=aside)
    axes.plot(
        x, middle, "o-", color=LIGHT[role], label=name, linewidth=1.6, markersize=4.6,
        markeredgecolor=LIGHT["paper"], markeredgewidth=0.6, transform=aside,
    )  # fmt: skip
    ends = [np.where(np.isnan(end), middle, end) for end in (low, high)]  # one drive has none
    axes.update_datalim(np.column_stack([np.tile(x, 2), np.nan_to_num(np.concatenate(ends))]))
    axes.autoscale_view()


def _sweep_axes(axes: Axes, key: str, places: Sequence[float]) -> None:
    """Label a swept axis; logarithmic where it spans more than a factor of 20 above 0."""
    positive = [place for place in places if place > 0]
    if positive and positive[-1] / positive[0] > 20:
        if positive == list(places):
            axes.set_xscale("log")
        else:
            axes.set_xscale("symlog", linthresh=positive[0], linscale=0.5)
            axes.set_xlim(-0.3 * positive[0], 1.3 * positive[-1])
        axes.minorticks_off()
    axes.set_xticks(places, [shown(key, place) for place in places])
    axes.set_xlabel(words_of(key))
