"""What figures are drawn from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from skyweave.plotting.style import LIGHT
from skyweave.report.numbers.panel import Panel
from skyweave.report.numbers.variants import Variant
from skyweave.results.pathset import PathSet
from skyweave.study.language.figures import FigureSpec, PublishedValue

WIDTH_IN = 9.4


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


def colour_of(canvas: Canvas, quantity: str, cell: PathSet) -> str:
    """Return the colour of a quantity of a path set."""
    if quantity == "bonded_minus_max":
        return LIGHT["gain"]
    if quantity == "sum_minus_bonded":
        return LIGHT["loss"]
    return LIGHT["bonded"] if cell.is_bonded else canvas.colours.get(cell, LIGHT["other1"])
