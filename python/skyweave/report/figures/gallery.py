"""Makes the figures of a report: those of the study file, or a standard set without them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import polars as pl
from matplotlib.figure import Figure

from skyweave.errors import ResultsError
from skyweave.plotting.style import LIGHT, drawing, inline_svg, png_bytes, roles, svg_text
from skyweave.plotting.words import seeds_text
from skyweave.printing import visible
from skyweave.report.criteria.agreement import members_of
from skyweave.report.criteria.evaluate import data_text
from skyweave.report.figures.across import ACROSS
from skyweave.report.figures.compare import COMPARE
from skyweave.report.figures.draw import KINDS, Canvas
from skyweave.report.figures.engines import engines_figure
from skyweave.report.figures.paths import paths_figure
from skyweave.report.figures.ping import ping_figure
from skyweave.report.figures.playback import playback_figure, windows_figure
from skyweave.report.numbers.engines import compare
from skyweave.report.numbers.namer import Namer
from skyweave.report.numbers.panel import Panel, Results
from skyweave.report.numbers.variants import cells_or_default, variants
from skyweave.results.selection import Selection, Setting
from skyweave.study.language.criteria import Published
from skyweave.study.language.figures import FigureSpec, PublishedValue
from skyweave.study.language.labels import matches as chosen_by
from skyweave.study.language.labels import settings_of

FOLDER = "figures"
WIDE = ACROSS | COMPARE
"""Kinds that look at several settings."""
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
        stem = f"{chosen.drives}-{chosen.direction}"
        number = counts[stem] = counts.get(stem, 0) + 1
        suffix = f"-{number}" if number > 1 else ""
        for kind, words in _TITLES.items():
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


def draw_all(results: Results, specs: list[FigureSpec], published: Published) -> list[Drawn]:
    """Draw each figure whose drives were run and write it as SVG and PNG."""
    plan = results.frozen["plan"]
    by_path = roles({name: spec["kind"] for name, spec in plan["paths"].items()})
    colours = {name: LIGHT[role] for name, role in by_path.items()}
    folder = results.store.out / FOLDER
    drawn = []
    for spec in specs:
        if spec.kind == "engines":
            drawn += _engines(results, spec, folder)
            continue
        if spec.drives not in results.groups:
            continue
        marks = [value for value in published.values if value.figure == spec.id]
        if spec.kind == "ping":
            drawn.append(_ping(results, spec, folder))
            continue
        if spec.kind == "paths":
            drawn.append(_paths(results, spec, colours, folder))
            continue
        if spec.kind in ("playback", "windows"):
            drawn.append(_first_trials(results, spec, colours, folder))
            continue
        if spec.kind in WIDE:
            canvas = _across(results, spec, colours, marks)
        else:
            panel, several = _panels(results, spec)
            canvas = Canvas(spec, panel, colours, marks, several)
        drawn.append(_draw(canvas, folder))
    return drawn


def _engines(results: Results, spec: FigureSpec, folder: Path) -> list[Drawn]:
    """Draw a comparison of engines; nothing where no run has a partner."""
    cases = compare(results).chosen(spec, spec.cells)
    if not cases:
        return []
    with drawing(spec.id):
        svg = _written(engines_figure(cases, Namer(results.frozen["plan"])), spec, folder)
    members = members_of(cases)
    return [
        Drawn(
            spec=spec,
            svg=svg,
            seeds=seeds_text([seed for _, seed in members]),
            drives=len({drive for drive, _ in members}),
            samples=sum(len(case.members) for case in cases),
            data=f"{len(cases)} cases",
        )
    ]


def _ping(results: Results, spec: FigureSpec, folder: Path) -> Drawn:
    """Draw the pings of the first run of a selection, over its first satellite path."""
    panel = results.panel(spec)
    run = next(results.records(spec)).provenance["run"]
    kinds = results.reduction.kinds
    satellites = [path for path in run["paths"] if kinds.get(path["name"]) == "satellite"]
    with drawing(spec.id):
        figure = ping_figure((satellites or run["paths"])[0], float(run["stop_after_s"]))
        svg = _written(figure, spec, folder)
    return Drawn(spec, svg, seeds_text(panel.seeds[:1]), 1, 1, data_text(panel))


def _paths(results: Results, spec: FigureSpec, colours: dict[str, str], folder: Path) -> Drawn:
    """Draw the paths of one run of a selection, over the first of its sets.

    It is the run in which most paths were established, the first of those.
    """
    panel = results.panel(spec)
    records = results.records_of(panel, cells_or_default(panel, spec.cells)[0])
    came = pl.col("event") == "established"
    place, record = max(enumerate(records), key=lambda one: one[1].events.filter(came).height)
    with drawing(spec.id):
        svg = _written(paths_figure(record, colours, spec.direction), spec, folder)
    return Drawn(spec, svg, seeds_text([panel.seeds[place]]), 1, 1, data_text(panel))


def _first_trials(
    results: Results, spec: FigureSpec, colours: dict[str, str], folder: Path
) -> Drawn:
    """Draw the first run of a selection, or of each value of ``by``, over the first of its sets."""
    panel, several = _panels(results, spec)
    runs = [
        (label, next(results.records_of(one, cells_or_default(one, spec.cells)[0])))
        for label, one in several or [("", panel)]
    ]
    with drawing(spec.id):
        figure = playback_figure(runs) if spec.kind == "playback" else windows_figure(runs, colours)
        svg = _written(figure, spec, folder)
    return Drawn(spec, svg, seeds_text(panel.seeds[:1]), 1, len(runs), data_text(panel))


def _across(
    results: Results, spec: FigureSpec, colours: dict[str, str], marks: list[PublishedValue]
) -> Canvas:
    """Return what a figure over settings is drawn from."""
    namer = Namer(results.frozen["plan"])
    chosen: list[Selection] = [spec, *(s for s in spec.beside if s.drives in results.groups)]
    facets = [
        (_facet_title(one, chosen, namer), variants(results, one, spec.where_any)) for one in chosen
    ]
    grid = facets[0][1]
    return Canvas(spec, grid[0].panel, colours, marks, grid=grid, facets=facets)


def _facet_title(chosen: Selection, others: list[Selection], namer: Namer) -> str:
    """Return in words what sets a selection apart from those beside it."""
    parts = [namer.drives(chosen.drives)] if len({one.drives for one in others}) > 1 else []
    for key, value in chosen.where.items():
        by_flows = key == "flows" or (key == "congestion" and "flows" in chosen.where)
        if not by_flows and len({one.where.get(key) for one in others}) > 1:
            parts.append(
                _loss_words(value) if key == "loss" else f"{key.replace('_', ' ')} {value}"
            )
    return ", ".join(parts) or namer.drives(chosen.drives)


def _loss_words(loss: Setting) -> str:
    """Return a random loss in words: of all paths, or of those that are named."""
    if not isinstance(loss, str):
        return f"random loss {100 * float(loss):g} %"
    named = [part.partition("=") for part in loss.split(", ")]
    return ", ".join(f"loss {100 * float(ratio):g} % on {name}" for name, _, ratio in named)


def _panels(results: Results, spec: FigureSpec) -> tuple[Panel, list[tuple[str, Panel]]]:
    """Return the panel of a figure and, for kind ``settings``, one for each value."""
    if spec.by is None:
        return results.panel(spec), []
    found = settings_of(labels for _, labels in results.runs if chosen_by(labels, spec))
    values = list(dict.fromkeys(item[spec.by] for item in found))
    several = [
        (
            f"{value:g}" if isinstance(value, float) else str(value),
            results.panel(spec.model_copy(update={"where": {**spec.where, spec.by: value}})),
        )
        for value in values
    ]
    return several[0][1], several


def _draw(canvas: Canvas, folder: Path) -> Drawn:
    """Draw one figure and write its files."""
    spec, panel = canvas.spec, canvas.panel
    with drawing(spec.id):
        svg = _written((KINDS | WIDE)[spec.kind](canvas), spec, folder)
    return Drawn(
        spec=spec,
        svg=svg,
        seeds=seeds_text(panel.seeds),
        drives=len(panel.names),
        samples=panel.samples_each,
        data=data_text(panel),
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


def _escaped(text: str) -> str:
    text = visible(text)
    return text.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")
