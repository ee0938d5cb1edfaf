"""``skyweave report OUT``: reads records only and writes page, figures and summary anew."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from skyweave.errors import ResultsError
from skyweave.model.files import write_whole
from skyweave.report.criteria.artefacts import Graded, graded
from skyweave.report.criteria.evaluate import Outcome, evaluate
from skyweave.report.figures.gallery import DrawnSoFar, draw_all, standard_figures
from skyweave.report.numbers.lateness import engine_facts
from skyweave.report.numbers.namer import Namer
from skyweave.report.numbers.panel import Panel, Results
from skyweave.report.page.caveats import caveats_of
from skyweave.report.page.html import Content, render
from skyweave.report.page.summary import selections_of, summary
from skyweave.report.page.words import Answer, answers
from skyweave.study.language.criteria import Published
from skyweave.study.language.figures import FigureSpec

PAGE = "report.html"
SUMMARY = "summary.json"


@dataclass(frozen=True)
class Rendered:
    """Where the report is and what it says, for the command line."""

    page: Path
    panels: list[Panel]
    outcomes: list[Outcome]
    artefacts: list[Graded]
    answers: list[Answer]
    namer: Namer
    flagged: int
    """Live runs that were late; the page names them."""
    caveats: list[str]
    """What the whole report stands on, in sentences."""


def render_report(out: Path, say: DrawnSoFar = lambda _done, _figures: None) -> Rendered:
    """Make the report of a finished study; raise :class:`ResultsError` if runs are missing.

    ``say`` hears how many figures are drawn, and of how many.
    """
    results = Results(out)
    plan = results.frozen["plan"]
    published = Published.model_validate(results.frozen["published"])
    selections = selections_of(results)
    panels = [results.panel(selection) for selection in selections]
    specs = [FigureSpec.model_validate(spec) for spec in plan["figures"]]
    outcomes = evaluate(published.criteria, results)
    if not specs and plan["report"]["auto_figures"]:
        specs = standard_figures(results, selections)
    figures = draw_all(results, specs, published, say)
    artefacts = graded(published.artefacts, outcomes, {spec.id: spec.title for spec in specs})
    caveats = caveats_of(results, panels)
    page = render(Content(results, panels, figures, outcomes, artefacts, caveats))
    facts = json.dumps(summary(results, panels, outcomes, artefacts), indent=1, sort_keys=True)
    try:
        write_whole(out / SUMMARY, facts + "\n")
        write_whole(out / PAGE, page)
    except OSError as error:
        raise ResultsError(
            f"{out}: cannot be written ({error.strerror}); make it writable and repeat "
            "'skyweave report'"
        ) from error
    namer = Namer(plan)
    late = len(engine_facts(results).flagged)
    said = answers(panels, namer)
    return Rendered(out / PAGE, panels, outcomes, artefacts, said, namer, late, caveats)
