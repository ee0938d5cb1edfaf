"""A figure of a quantity under several values of a setting, side by side, with published marks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D

from skyweave.plotting.style import LIGHT
from skyweave.report.figures.axes import LINES, words_of
from skyweave.report.figures.canvas import WIDTH_IN, Canvas
from skyweave.report.figures.kinds import of_settings
from skyweave.report.numbers.metrics import Values
from skyweave.report.numbers.stats import Estimate
from skyweave.report.numbers.variants import Variant, cells_or_default
from skyweave.results.pathset import PathSet
from skyweave.results.quantities import words
from skyweave.study.language.figures import PublishedValue

LEGEND_LETTERS = 120
"""About as many letters fit into a line of the legend, its marks included."""
WIDTH = 0.8
"""Of a group, in units of the distance of two groups."""
FEW = 12
"""Up to this number runs are drawn one by one."""


@of_settings("compare")
def compare(canvas: Canvas) -> Figure:
    """A group for each value of ``x`` (or each path set), in it a mark for each value of ``by``.

    Dot: the statistic of the runs; thick line: its 95 % interval; thin line (of medians): 5 to
    95 % of the runs; points: the runs themselves, up to ``FEW``; diamond: published. Other
    selections (``beside``) stand next to it.
    """
    spec = canvas.spec
    figure = Figure(figsize=(WIDTH_IN, 3.9), layout=ConstrainedLayoutEngine(wspace=0.06))
    row = figure.subplots(1, len(canvas.facets), sharey=True, squeeze=False)[0]
    names = list(
        dict.fromkeys(str(v.settings[spec.by or ""]) for _, found in canvas.facets for v in found)
    )
    for axes, (title, found) in zip(row, canvas.facets, strict=True):
        _facet(axes, canvas, found, names)
        axes.set_title(title if len(canvas.facets) > 1 else "")
    quantity = spec.quantity or "goodput"
    row[0].set_ylabel(words(quantity).axis)
    row[0].set_ylim(0, spec.y_max_mbps)
    _legend(figure, names, bool(canvas.published))
    return figure


def _facet(axes: Axes, canvas: Canvas, found: Sequence[Variant], names: Sequence[str]) -> None:
    """Draw one selection."""
    spec = canvas.spec
    groups = _groups(canvas, found)
    step = WIDTH / len(names)
    for variant in found:
        name = str(variant.settings[spec.by or ""])
        for cell in cells_or_default(variant.panel, spec.cells):
            group = groups.index(cell if spec.x is None else variant.settings[spec.x])
            at = group + (names.index(name) - (len(names) - 1) / 2) * step
            _mark(axes, at, LIGHT[LINES[names.index(name) % len(LINES)]], canvas, variant, cell)
    axes.set_xticks(range(len(groups)), [_label(group) for group in groups])
    axes.set_xlim(-0.6, len(groups) - 0.4)
    axes.set_xlabel("" if spec.x is None else words_of(spec.x))


def _groups(canvas: Canvas, found: Sequence[Variant]) -> list[Any]:
    """Return what stands along the axis, in order."""
    spec = canvas.spec
    if spec.x is not None:
        values = {v.settings[spec.x]: None for v in found if v.settings[spec.x] is not None}
        return sorted(values) if all(isinstance(v, int | float) for v in values) else list(values)
    cells = [cell for v in found for cell in cells_or_default(v.panel, spec.cells)]
    return list(dict.fromkeys(cells))


def _label(group: Any) -> str:
    """Return what stands below a group, in lines that fit."""
    if isinstance(group, int | float):
        return f"{group:g}"
    return str(group).replace("+", "\n+").replace("(", "\n(").replace("droptail ", "droptail\n")


def _mark(
    axes: Axes, at: float, colour: str, canvas: Canvas, variant: Variant, cell: PathSet
) -> None:
    """Draw the runs of one variant, and what was published of it."""
    quantity = canvas.spec.quantity or "goodput"
    scale = 100 if words(quantity).is_share else 1
    samples = variant.panel.pooled(quantity, cell)
    samples = samples[np.isfinite(samples)]
    if len(samples):
        if canvas.spec.statistic == "median":
            low, high = np.percentile(samples, [5, 95])
            axes.vlines(at, scale * low, scale * high, color=colour, linewidth=1.1, alpha=0.6)
        middle = variant.panel.estimate(quantity, cell, canvas.spec.statistic)
        if 1 < len(samples) <= FEW:
            places = at + 0.05 * (np.arange(len(samples)) - (len(samples) - 1) / 2)
            axes.plot(places, scale * samples, ".", color=colour, alpha=0.55, markersize=4)
        low, high = ends(middle, samples)
        axes.vlines(at, scale * low, scale * high, color=colour, linewidth=3.2)
        if np.isinf(middle.high):  # runs that did not finish: it goes on
            axes.plot([at], [scale * high], "^", color=colour, markersize=5)
        axes.plot([at], [scale * middle.value], "o", color=colour, markersize=5, zorder=4)
    for value in canvas.published:
        if _is_of(value, canvas, variant, cell):
            axes.plot(
                [at], [scale * value.value], "D", markersize=5.2, markerfacecolor="none",
                markeredgecolor=LIGHT["mark"], markeredgewidth=1.4, zorder=5,
            )  # fmt: skip


def ends(middle: Estimate, samples: Values) -> tuple[float, float]:
    """Return what is drawn of an interval: an end that no run reached is that of the runs that did.

    >>> draws = np.array([141.0] * 50 + [float("inf")] * 50)
    >>> ends(Estimate(230.0, draws), np.array([90.0, 280.0]))
    (141.0, 280.0)
    """
    low, high = np.nan_to_num([middle.low, middle.high], nan=middle.value, posinf=samples.max())
    return float(low), float(high)


def _is_of(value: PublishedValue, canvas: Canvas, variant: Variant, cell: PathSet) -> bool:
    """Tell whether a published value belongs to a variant."""
    wanted = {canvas.spec.by or "": value.of, **value.where}
    alike = all(variant.settings.get(key) == of for key, of in wanted.items())
    return alike and (value.cell, value.quantity) == (cell, canvas.spec.quantity or "goodput")


def _legend(figure: Figure, names: Sequence[str], published: bool) -> None:
    handles = [
        Line2D([], [], marker="o", linewidth=3, color=LIGHT[LINES[n % len(LINES)]], label=name)
        for n, name in enumerate(names)
    ]
    if published:
        handles.append(
            Line2D(
                [], [], linestyle="", marker="D", markersize=5.2, markerfacecolor="none",
                markeredgecolor=LIGHT["mark"], markeredgewidth=1.4, label="published",
            )
        )  # fmt: skip
    longest = max(len(str(handle.get_label())) for handle in handles)
    columns = max(LEGEND_LETTERS // (longest + 6), 1)
    figure.legend(handles=handles, loc="outside lower left", ncols=min(len(handles), columns))
