"""Makes the figures of a report: those of the study file, or a standard set without them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from matplotlib.figure import Figure

from skyweave.errors import ResultsError
from skyweave.plotting.style import LIGHT, drawing, inline_svg, png_bytes, roles, svg_text
from skyweave.printing import visible
from skyweave.report.figures.kinds import KINDS, Sketch, Source
from skyweave.report.figures.narrow import stack
from skyweave.report.numbers.namer import Namer
from skyweave.report.numbers.panel import Results
from skyweave.results.selection import SPANNING, Selection
from skyweave.study.language.criteria import Published
from skyweave.study.language.figures import OF_CAPACITY, SCROLLED, FigureSpec

FOLDER = "figures"
DrawnSoFar = Callable[[int, int], None]
"""Called with how many figures are drawn, and how many there will be."""
_TITLES: dict[Literal["boxes", "timeline", "outage", "cdf"], str] = {
    "boxes": "what each network gives alone, and together",
    "timeline": "one typical drive",
    "outage": "seconds without data",
    "cdf": "how often at least how much",
}


@dataclass(frozen=True)
class Drawn:
    """A finished figure with what its caption must say."""

    spec: FigureSpec
    svg: str
    """For the middle of the page; standalone SVG and PNG lie in the folder ``figures``."""
    narrow: str | None
    """The same for a narrow screen; ``None``: it can only be scrolled."""
    seeds: str
    drives: int
    samples: int
    data: str


def standard_figures(results: Results, selections: list[Selection]) -> list[FigureSpec]:
    """Return the figures of a study that names none: four kinds for each selection."""
    namer = Namer(results.frozen["plan"])
    counts: dict[str, int] = {}
    specs = []
    for chosen in selections:
        panel = results.panel(chosen)
        if panel.is_probed:
            continue  # no rates: what probes say is in figures that a study names
        stem = f"{chosen.drives}-{chosen.direction}"
        number = counts[stem] = counts.get(stem, 0) + 1
        suffix = f"-{number}" if number > 1 else ""
        for kind, words in _TITLES.items():
            if kind in OF_CAPACITY and not panel.knows_capacity:
                continue
            specs.append(
                FigureSpec(
                    id=f"{stem}-{kind}{suffix}",
                    title=f"{namer.drives(chosen.drives)}, {chosen.direction}link: {words}",
                    kind=kind,
                    drives=chosen.drives,
                    direction=chosen.direction,
                    where=chosen.where,
                )
            )
    return specs


def draw_all(
    results: Results, specs: list[FigureSpec], published: Published, say: DrawnSoFar
) -> list[Drawn]:
    """Draw each figure whose drives were run and write it as SVG and PNG."""
    plan = results.frozen["plan"]
    by_path = roles({name: spec["kind"] for name, spec in plan["paths"].items()})
    colours = {name: LIGHT[role] for name, role in by_path.items()}
    folder = results.store.out / FOLDER
    drawn = []
    for number, spec in enumerate(specs):
        say(number, len(specs))
        if spec.kind not in SPANNING and spec.drives not in results.groups:
            continue
        marks = [value for value in published.values if value.figure == spec.id]
        with drawing(spec.id):
            sketch = KINDS[spec.kind](Source(results, spec, colours, marks))
            if sketch is not None:
                drawn.append(_drawn(sketch, spec, folder))
    say(len(specs), len(specs))
    return drawn


def _drawn(sketch: Sketch, spec: FigureSpec, folder: Path) -> Drawn:
    """Write the files of a figure."""
    return Drawn(
        spec=spec,
        svg=_written(sketch.figure, spec, folder),
        narrow=None if spec.kind in SCROLLED else _narrow(sketch.figure, spec),
        seeds=sketch.seeds,
        drives=sketch.drives,
        samples=sketch.samples,
        data=sketch.data,
    )


def _written(figure: Figure, spec: FigureSpec, folder: Path) -> str:
    """Write a figure as SVG and PNG; return the SVG for the middle of the page."""
    svg, png = svg_text(figure), png_bytes(figure)
    try:
        folder.mkdir(exist_ok=True)
        (folder / f"{spec.id}.svg").write_text(svg, encoding="utf-8")
        (folder / f"{spec.id}.png").write_bytes(png)
    except OSError as error:
        raise ResultsError(
            f"{folder}: cannot be written ({error.strerror}); make it writable and repeat "
            "'skyweave report'"
        ) from error
    return inline_svg(svg, _escaped(spec.title), spec.id)


def _narrow(figure: Figure, spec: FigureSpec) -> str | None:
    """Return the figure with its panels below each other, which is how it stays."""
    if not stack(figure):
        return None
    return inline_svg(svg_text(figure), _escaped(spec.title), f"{spec.id}-narrow")


def _escaped(text: str) -> str:
    text = visible(text)
    return text.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")
