"""A figure of cumulative distributions, a line for each value of a setting."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, PercentFormatter

from skyweave.plotting.style import LIGHT
from skyweave.report.figures.axes import LINES
from skyweave.report.figures.canvas import WIDTH_IN, Canvas
from skyweave.report.figures.kinds import of_settings
from skyweave.report.figures.steps import cumulated
from skyweave.report.numbers.variants import cells_or_default
from skyweave.results.quantities import words


@of_settings("distribution")
def distribution(canvas: Canvas) -> Figure:
    """Cumulative distributions, a line for each value of ``by``; other selections beside it."""
    spec = canvas.spec
    quantity = spec.quantity or "goodput"
    figure = Figure(figsize=(WIDTH_IN, 3.7), layout=ConstrainedLayoutEngine(wspace=0.06))
    row = figure.subplots(1, len(canvas.facets), sharey=True, sharex=True, squeeze=False)[0]
    values = list(
        dict.fromkeys(str(v.settings[spec.by or ""]) for _, vs in canvas.facets for v in vs)
    )
    colours = dict(zip(values, (LIGHT[role] for role in _roles(len(values))), strict=True))
    for axes, (title, found) in zip(row, canvas.facets, strict=True):
        for variant in found:
            name = str(variant.settings[spec.by or ""])
            for cell in cells_or_default(variant.panel, spec.cells)[:1]:
                _cumulated(axes, variant.panel.pooled(quantity, cell), colours[name])
        axes.set_title(title if len(canvas.facets) > 1 else "")
        axes.set_xlabel(_quantity_words(quantity, values))
        axes.grid(visible=True, axis="both")
        _quantity_axis(axes, quantity, spec.x_max)
    row[0].set_ylabel("samples with at most that (%)")
    row[0].set_ylim(0, 100)
    title, names = short_names(values)
    handles = [
        Line2D([], [], linewidth=2, color=colours[value], label=name)
        for value, name in zip(values, names, strict=True)
    ]
    if len(handles) == 1:
        return figure
    columns = 4 if max(map(len, names)) <= 20 else 3
    figure.legend(
        handles=handles, loc="outside lower left", ncols=columns, title=title or None,
        alignment="left", title_fontsize=8.5,
    )  # fmt: skip
    return figure


def _roles(count: int) -> list[str]:
    return [LINES[number % len(LINES)] for number in range(count)]


def short_names(values: Sequence[str]) -> tuple[str, list[str]]:
    """Return what labels have in common before their parameters, and what is left of each.

    >>> short_names(["8 cubic + 8 bbr2(a=1)", "8 cubic + 8 bbr2(a=2)"])
    ('8 cubic + 8 bbr2', ['a=1', 'a=2'])
    >>> short_names(["bbr", "cubic"])
    ('', ['bbr', 'cubic'])
    """
    stem, bracket, _ = values[0].rpartition("(")
    alike = all(value.startswith(f"{stem}(") for value in values)
    if len(values) < 2 or not bracket or not alike:
        return "", list(values)
    return stem, [value[len(stem) + 1 :].removesuffix(")") for value in values]


def _quantity_words(quantity: str, values: Sequence[str]) -> str:
    """Return a quantity as an axis says it; groups of flows by their names."""
    groups = {tuple(part.split("(")[0] for part in value.split(" + ")) for value in values}
    if quantity == "flow_ratio" and len(groups) == 1:
        first, *_, last = groups.pop()
        return f"aggregate goodput, {first} ÷ {last}"
    return words(quantity).axis


def _cumulated(axes: Axes, samples: np.ndarray, colour: str) -> None:
    if not len(samples):  # a kernel need not report everything
        return
    axes.plot(*cumulated(samples), color=colour, linewidth=1.8, drawstyle="steps-post")
    axes.plot([np.median(samples)], [50], "o", color=colour, markersize=4.6, zorder=4)


def _quantity_axis(axes: Axes, quantity: str, x_max: float | None) -> None:
    """Set limits and units of the axis of a quantity."""
    if quantity == "share_of_max":
        axes.xaxis.set_major_formatter(PercentFormatter(1.0, symbol=""))
    if quantity == "flow_ratio":
        axes.set_xscale("log")
        axes.minorticks_off()
        axes.set_xticks([0.1, 0.2, 0.5, 1, 2, 5, 10])
        axes.axvline(1, color=LIGHT["soft"], linewidth=0.9, linestyle="--", zorder=1)
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.set_xlim(1 / (x_max or 20), x_max or 20)
    else:
        axes.set_xlim(0, x_max)
