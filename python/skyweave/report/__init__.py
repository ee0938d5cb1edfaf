"""From records to metrics, grades, figures and one page that a person likes to read."""

from skyweave.report.criteria.artefacts import Graded
from skyweave.report.criteria.evaluate import Outcome
from skyweave.report.numbers.namer import Namer
from skyweave.report.numbers.panel import Panel
from skyweave.report.numbers.stats import Draws, Estimate
from skyweave.report.page.render import Rendered, render_report
from skyweave.report.page.words import Answer

__all__ = [
    "Answer",
    "Draws",
    "Estimate",
    "Graded",
    "Namer",
    "Outcome",
    "Panel",
    "Rendered",
    "render_report",
]
