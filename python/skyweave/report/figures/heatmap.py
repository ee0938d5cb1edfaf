"""A figure of two parameters of an algorithm."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from skyweave.plotting.style import LIGHT
from skyweave.report.criteria.reference import against_reference, best_under
from skyweave.report.figures.axes import shown, words_of
from skyweave.report.figures.canvas import WIDTH_IN, Canvas
from skyweave.report.figures.kinds import of_settings
from skyweave.report.numbers.stats import Estimate
from skyweave.report.numbers.variants import Variant


@of_settings("heatmap")
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
