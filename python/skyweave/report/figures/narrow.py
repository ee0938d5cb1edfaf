"""A figure for a narrow screen: the same axes, one below the other."""

from __future__ import annotations

import warnings

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.legend import Legend

WIDTH_IN = 3.9
LEAST_AXES_IN = 1.3
"""Axes that are left less than this by their labels are better scrolled."""
LEAST_HEIGHT_IN = 1.7


def stack(figure: Figure) -> bool:
    """Lay a finished figure out anew: narrow, its panels in one column, its legends below.

    The figure is changed, so whoever wants it wide saves that first. False where labels leave the
    axes no room; then it is good for nothing.
    """
    panels = _panels(figure)
    rows = max(axes.get_gridspec().nrows for group in panels for axes in group)  # type: ignore[union-attr]
    height_in = max(figure.get_figheight() / rows, LEAST_HEIGHT_IN)
    figure.set_size_inches(WIDTH_IN, height_in * len(panels))
    grid = figure.add_gridspec(len(panels), 1)
    for row, group in enumerate(panels):
        for axes in group:
            axes.set_subplotspec(grid[row, 0])
            axes.title.set_wrap(True)
            if rows < len(panels):
                axes.tick_params(labelleft=axes.yaxis.get_ticks_position() != "right")
                axes.tick_params(labelbottom=True)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        _legends_below(figure)
        figure.set_figheight(figure.get_figheight() * _stretch(figure))
        figure.draw_without_rendering()
    widths = [axes.get_window_extent().width / figure.dpi for axes in figure.axes]
    return not said and min(widths, default=0.0) >= LEAST_AXES_IN


def _panels(figure: Figure) -> list[list[Axes]]:
    """The axes of each place of the grid, in the order in which they are read."""
    places: dict[tuple[int, int], list[Axes]] = {}
    for axes in figure.axes:
        spec = axes.get_subplotspec()
        if spec is not None:
            places.setdefault((spec.rowspan.start, spec.colspan.start), []).append(axes)
    return [places[key] for key in sorted(places)]


def _legends_below(figure: Figure) -> None:
    """Put legends that stand around the axes below them, in as many columns as there is room."""
    figure.draw_without_rendering()
    around = list(figure.legends)
    for axes in figure.axes:
        held = axes.get_legend()
        if held is not None and _is_outside(held, axes):
            axes.set_title(axes.get_title(loc="left"), loc="left")  # close to the axes again
            around.append(held)
    for legend in around:
        legend.remove()
        _below(figure, legend)


def _below(figure: Figure, legend: Legend) -> None:
    """Draw a legend anew at the bottom: how many columns it has is decided when it is made."""
    texts = legend.get_texts()
    handles = [handle for handle in legend.legend_handles if handle is not None]
    for columns in range(len(texts), 0, -1):
        drawn = figure.legend(
            handles, [text.get_text() for text in texts],
            loc="outside lower left", ncols=columns, fontsize=texts[0].get_fontsize(),
            title=legend.get_title().get_text() or None,
        )  # fmt: skip
        figure.draw_without_rendering()
        if columns == 1 or drawn.get_window_extent().width / figure.dpi <= WIDTH_IN:
            return
        drawn.remove()


def _stretch(figure: Figure) -> float:
    """How much higher panels must be for the words along them."""
    figure.draw_without_rendering()
    ratios = [
        axes.yaxis.label.get_window_extent().height / axes.get_window_extent().height
        for axes in figure.axes
    ]
    return max([1.0, *(1.05 * ratio for ratio in ratios)])


def _is_outside(legend: Legend, axes: Axes) -> bool:
    room, taken = axes.get_window_extent(), legend.get_window_extent()
    return bool(taken.x0 >= room.x1 or taken.y0 >= room.y1)
