"""The picture of a drive past cells: capacity of each operator, together, and available cells."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from skyweave.data.plot import LABELS
from skyweave.model.drive import Values
from skyweave.plotting.style import LIGHT, drawing, roles
from skyweave.radio.offer import Offer, window_means

WINDOW_S = 5
"""The paper draws 1 s values and means of 5 s."""


def cells_figure(offered: Offer, title: str) -> Figure:
    """Above, the best cell of each operator; then alone and together; below, available cells.

    Faint, every second; strong, means of 5 s. Where the operators were not compared there is none.
    """
    with drawing(title):
        figure = Figure(figsize=(10.2, 7.2), layout="constrained", facecolor=LIGHT["paper"])
        each, together, cells = figure.subplots(3, 1, sharex=True, height_ratios=(1, 1, 0.6))
        _each(each, offered)
        _together(together, offered)
        _cells(cells, offered)
        cells.set_xlim(0, offered.seconds)
        cells.set_xlabel("seconds since the drive began")
        figure.suptitle(
            f"{title}\n{headline(offered)}", x=0.012, ha="left", fontsize=10.5,
            fontweight="bold", color=LIGHT["ink"],
        )  # fmt: skip
    return figure


def headline(offered: Offer) -> str:
    """The drive in a sentence."""
    known = offered.known
    if not known.any():
        return "In no second was every operator heard"
    return (
        f"Best single cell {np.nanmean(offered.best_single):.1f} Mbit/s, "
        f"all carriers {np.nanmean(offered.multipath):.1f} Mbit/s, "
        f"{np.nanmean(offered.available):.1f} available cells "
        f"({known.sum()} of {offered.seconds} s compared)"
    )


def _each(axes: Axes, offered: Offer) -> None:
    colours = roles(dict.fromkeys(offered.operators, "cellular"))
    for name in offered.operators:
        values = np.where(offered.known, offered.best_of(name), np.nan)
        _line(axes, values, LIGHT[colours[name]], LABELS.get(name, name))
    _finish(axes, "Best cell of each operator (Mbit/s)")


def _together(axes: Axes, offered: Offer) -> None:
    _line(axes, offered.best_single, LIGHT["satellite"], "best single cell")
    if len(offered.operators) > 1:
        _line(axes, offered.one_each, LIGHT["other1"], "best cell of each operator")
    _line(axes, offered.multipath, LIGHT["bonded"], "all carriers")
    _finish(axes, "Alone and together (Mbit/s)")


def _cells(axes: Axes, offered: Offer) -> None:
    times_s = np.arange(offered.seconds)
    axes.step(times_s, offered.available, where="post", color=LIGHT["ink"], linewidth=0.9)
    axes.yaxis.set_major_locator(MaxNLocator(integer=True, nbins=5))
    axes.set_ylim(0, None)
    axes.set_title("Cells that can serve at once (one per carrier)")


def _line(axes: Axes, values: Values, colour: str, label: str) -> None:
    means = window_means(values, WINDOW_S)
    axes.plot(np.arange(len(values)) + 0.5, values, color=colour, alpha=0.25, linewidth=0.6)
    middles = (np.arange(len(means)) + 0.5) * WINDOW_S
    axes.plot(middles, means, color=colour, linewidth=1.6, label=label)


def _finish(axes: Axes, title: str) -> None:
    axes.set_ylim(0, None)
    axes.set_title(title)
    axes.legend(
        loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=4, borderaxespad=0.2,
        handlelength=1.2, columnspacing=1.4,
    )  # fmt: skip
