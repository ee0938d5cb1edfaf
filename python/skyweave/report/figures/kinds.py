"""The kinds of figures: how each is drawn, in a file of its own that registers itself here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from matplotlib.figure import Figure

from skyweave.model.record import Record
from skyweave.plotting.words import seeds_text
from skyweave.report.criteria.kinds import data_text
from skyweave.report.figures.canvas import Canvas
from skyweave.report.figures.facets import facets_of, panels_of
from skyweave.report.numbers.panel import Panel, Results
from skyweave.report.numbers.variants import cells_or_default
from skyweave.study.language.figures import FigureSpec, PublishedValue


@dataclass(frozen=True)
class Source:
    """What a kind of figure gets: the results, what the study asks for, colours and marks."""

    results: Results
    spec: FigureSpec
    colours: dict[str, str]
    published: Sequence[PublishedValue]


@dataclass(frozen=True)
class Sketch:
    """A figure with what its caption must say."""

    figure: Figure
    seeds: str
    drives: int
    samples: int
    data: str


Draw = Callable[[Source], Sketch | None]
"""Draws a figure; ``None`` where there is nothing to draw."""
KINDS: dict[str, Draw] = {}
"""How each kind is drawn, by its name in the language of studies."""
Drawing = TypeVar("Drawing", bound=Callable[..., Any])


def of_results(kind: str) -> Callable[[Drawing], Drawing]:
    """Register a function of a :class:`Source` as what draws ``kind``."""

    def register(draw: Drawing) -> Drawing:
        KINDS[kind] = draw
        return draw

    return register


def of_panel(kind: str) -> Callable[[Drawing], Drawing]:
    """Register a function of a canvas with a panel, and one more for each value of ``by``."""

    def register(draw: Drawing) -> Drawing:
        def drawn(source: Source) -> Sketch:
            panel, several = panels_of(source.results, source.spec)
            canvas = Canvas(source.spec, panel, source.colours, source.published, several)
            return over(panel, draw(canvas))

        KINDS[kind] = drawn
        return draw

    return register


def of_settings(kind: str) -> Callable[[Drawing], Drawing]:
    """Register a function of a canvas with all variants of its selection, and of those beside."""

    def register(draw: Drawing) -> Drawing:
        def drawn(source: Source) -> Sketch:
            spec, marks = source.spec, source.published
            facets = facets_of(source.results, spec)
            grid = facets[0][1]
            panel = grid[0].panel
            canvas = Canvas(spec, panel, source.colours, marks, grid=grid, facets=facets)
            return over(panel, draw(canvas))

        KINDS[kind] = drawn
        return draw

    return register


def over(panel: Panel, figure: Figure) -> Sketch:
    """Return a figure of a whole panel."""
    return Sketch(
        figure,
        seeds=seeds_text(panel.seeds),
        drives=len(panel.names),
        samples=panel.samples_each,
        data=data_text(panel),
    )


def first_trials(source: Source) -> tuple[list[tuple[str, Record]], Callable[[Figure], Sketch]]:
    """Return the first run of a selection, or of each value of ``by``, over the first of its sets.

    And what makes a sketch of a figure of them.
    """
    results, spec = source.results, source.spec
    panel, several = panels_of(results, spec)
    runs = [
        (label, next(results.records_of(one, cells_or_default(one, spec.cells)[0])))
        for label, one in several or [("", panel)]
    ]

    def sketch(figure: Figure) -> Sketch:
        return Sketch(figure, seeds_text(panel.seeds[:1]), 1, len(runs), data_text(panel))

    return runs, sketch
