"""Figures over settings: heatmaps of two parameters, sweeps with intervals, distributions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.ticker import FuncFormatter, PercentFormatter
from matplotlib.transforms import ScaledTranslation

from skyweave.plotting.style import LIGHT
from skyweave.report.criteria.across import against_reference, best_under
from skyweave.report.figures.draw import WIDTH_IN, Canvas
from skyweave.report.numbers.stats import Estimate
from skyweave.report.numbers.variants import Variant, cells_or_default
from skyweave.results.quantities import words
from skyweave.study.language.settings import LABELS

LINES = (
    "satellite", "cellular1", "cellular2", "cellular3",
    "bonded", "other1", "other2", "mark", "soft",
)  # fmt: skip
"""Colour roles of lines, in order."""
DODGE_PT = 3.0
"""How far apart points of different lines stand at the same place."""
PARAMETER_WORDS = {"loss_thresh": "loss_thresh (%)", "probe_rtt_win_ms": "probe_rtt_win (ms)"}
"""Parameters of algorithms as an axis says them, where the name alone does not."""
_PERCENT = {"loss_thresh", *(name for name, about in LABELS.items() if about.percent)}


def words_of(key: str) -> str:
    """Return a setting, or a parameter of an algorithm, as an axis says it."""
    said = LABELS[key].axis if key in LABELS else PARAMETER_WORDS.get(key)
    return said or key.replace("_", " ")


def shown(key: str, value: float) -> str:
    """Return a value of a setting as an axis says it."""
    return f"{round(100 * value if key in _PERCENT else value, 2):g}"


def heatmap(canvas: Canvas) -> Figure:
    """Two parameters of an algorithm: change of mean goodput and of p95 srtt to the reference."""
    spec = canvas.spec
    x, y = spec.x or "", spec.y or ""  # the study file was checked to have both
    found = [v for v in canvas.grid if None not in (v.number(x), v.number(y))]
    gains, rises = against_reference(canvas.grid, spec.reference or "", spec.cells)
    limit = spec.rtt_rise_below
    known = {str(v.settings["congestion"]) for v in found}
    best = best_under({name: gains[name] for name in known}, rises, limit) if limit else None
    figure = Figure(figsize=(WIDTH_IN, 3.7), layout="constrained")
    for axes, title, values, good in zip(
        figure.subplots(1, 2),
        ("mean throughput, change (%)", "p95 of smoothed RTT, change (%)"),
        (gains, rises),
        (1, -1),
        strict=True,
    ):
        _grid(axes, found, (x, y), values, good)
        axes.set_title(title)
        for variant in found:
            name = variant.settings["congestion"]
            if name == best:
                _outline(axes, _place(found, variant, (x, y)), "-")
            if name == spec.reference:
                _outline(axes, _place(found, variant, (x, y)), ":")
    _outline_legend(figure, limit)
    return figure


def _grid(
    axes: Axes, found: Sequence[Variant], keys: tuple[str, str],
    values: dict[str, Estimate], good: int,
) -> None:  # fmt: skip
    """Draw the cells, good ones in one hue and bad ones in another, deeper with their size."""
    top = max(max(abs(e.value) for e in values.values()), 0.01)
    for variant in found:
        column, row = _place(found, variant, keys)
        value = values[variant.settings["congestion"]].value
        hue = LIGHT["gain"] if value * good >= 0 else LIGHT["loss"]
        axes.add_patch(
            Rectangle(
                (column - 0.48, row - 0.48), 0.96, 0.96, linewidth=0, facecolor=hue,
                alpha=0.06 + 0.69 * abs(value) / top,
            )
        )  # fmt: skip
        axes.text(column, row, _signed(value), ha="center", va="center", fontsize=9.5)
    for axis, key in zip((axes.xaxis, axes.yaxis), keys, strict=True):
        steps = _steps(found, key)
        axis.set_ticks(range(len(steps)), [shown(key, step) for step in steps])
        axis.set_label_text(words_of(key))
    axes.tick_params(labelcolor=LIGHT["ink"])
    axes.set_xlim(-0.55, len(_steps(found, keys[0])) - 0.45)
    axes.set_ylim(-0.55, len(_steps(found, keys[1])) - 0.45)
    axes.grid(visible=False)
    axes.spines[:].set_visible(False)


def _signed(share: float) -> str:
    rounded = round(100 * share)
    return f"{rounded:+d}".replace("-", "\N{MINUS SIGN}") if rounded else "0"


def _steps(found: Sequence[Variant], key: str) -> list[float]:
    return sorted({n for v in found if (n := v.number(key)) is not None})


def _place(found: Sequence[Variant], variant: Variant, keys: tuple[str, str]) -> tuple[int, int]:
    """Return column and row of a variant."""
    x, y = (_steps(found, key).index(variant.number(key) or 0.0) for key in keys)
    return x, y


def _outline(axes: Axes, place: tuple[int, int], style: str) -> None:
    axes.add_patch(
        Rectangle(
            (place[0] - 0.47, place[1] - 0.47), 0.94, 0.94, fill=False, linewidth=1.8,
            linestyle=style, edgecolor=LIGHT["ink"],
        )
    )  # fmt: skip


def _outline_legend(figure: Figure, limit: float | None) -> None:
    handles = [Line2D([], [], linestyle=":", linewidth=1.8, color=LIGHT["ink"], label="default")]
    if limit is not None:
        said = f"largest throughput among cells with p95 RTT below +{limit:.0%}"
        handles.append(Line2D([], [], linewidth=1.8, color=LIGHT["ink"], label=said))
    figure.legend(handles=handles, loc="outside lower left", ncols=2)


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
    else:
        axes.set_ylim(0, top)
    axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5))
    return figure


def _roles(count: int) -> list[str]:
    return [LINES[number % len(LINES)] for number in range(count)]


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
    axes.update_datalim(np.column_stack([np.tile(x, 2), np.nan_to_num([*low, *high])]))
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
    shares = np.linspace(0, 1, 401)
    axes.plot(np.quantile(samples, shares), 100 * shares, color=colour, linewidth=1.8)
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


ACROSS = {"heatmap": heatmap, "sweep": sweep, "distribution": distribution}
