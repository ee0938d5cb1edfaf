"""One self-contained page: headline, numbers, figures, grades, provenance; light and dark."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from skyweave.plotting.style import DARK, LIGHT, variables
from skyweave.plotting.words import mbps, percent, seeds_text
from skyweave.printing import visible_lines
from skyweave.report.criteria.agreement import engines_table
from skyweave.report.criteria.artefacts import Graded, tally, tally_words
from skyweave.report.criteria.evaluate import Outcome
from skyweave.report.criteria.grades import DIRECTION, NOT_ATTEMPTED, NOT_REPRODUCED, ORDER
from skyweave.report.figures.gallery import Drawn
from skyweave.report.numbers.engines import compare
from skyweave.report.numbers.lateness import LATE_MS, EngineFacts, engine_facts
from skyweave.report.numbers.namer import Namer
from skyweave.report.numbers.panel import Panel, Results
from skyweave.report.page.behind import waits_ms, waits_words
from skyweave.report.page.method import settings_held
from skyweave.report.page.probed import probed
from skyweave.report.page.words import answers, differing
from skyweave.results.pathset import PathSet

GRADE_CLASS = {
    "reproduced": "good",
    "direction only": "half",
    "not reproduced": "bad",
    "preliminary": "none",
    "assumption": "none",
    "input or identity": "none",
    "not attempted": "none",
}


_NUMBERS = re.compile(r"([\d.]+ (?:Mbit/s|times|%))")


@dataclass(frozen=True)
class Content:
    """Everything that a page shows."""

    results: Results
    panels: Sequence[Panel]
    figures: Sequence[Drawn]
    outcomes: Sequence[Outcome]
    artefacts: Sequence[Graded]
    caveats: Sequence[str]


def render(content: Content) -> str:
    """Return the page as HTML without any reference to the outside."""
    environment = Environment(
        loader=PackageLoader("skyweave.report.page", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_printable,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(mbps=mbps, percent=percent, emphasised=_emphasised)
    page = environment.get_template("report.html.j2").render(**_context(content))
    return page if page.endswith("\n") else page + "\n"


def _printable(value: Any) -> Any:
    """Return foreign text without control characters, which HTML does not allow."""
    return visible_lines(value) if type(value) is str else value


def _emphasised(sentence: str) -> Markup:
    """Return a sentence with its rates, factors and shares in bold."""
    return Markup(_NUMBERS.sub(r"<b>\1</b>", str(escape(visible_lines(sentence)))))


def _context(content: Content) -> dict[str, Any]:
    """Return the variables of the template."""
    frozen = content.results.frozen
    plan, namer = frozen["plan"], Namer(frozen["plan"])
    facts = engine_facts(content.results)
    return {
        "study": plan["study"],
        "report": plan["report"],
        "published": frozen["published"],
        "notes": [*frozen["notes"], *_missing(content)],
        "flagged": facts.flagged,
        "live_runs": facts.live_runs,
        "late_ms": LATE_MS,
        "engines": engines_table(compare(content.results), content.results),
        "answers": answers(content.panels, namer),
        "tables": [_table(one, namer, content.panels) for one in content.panels if one.has_rates],
        "probed": [row for panel in content.panels for row in probed(panel, namer)],
        "figures": [_figure(figure, content.outcomes) for figure in content.figures],
        "outcomes": content.outcomes,
        "failed": [o for o in content.outcomes if o.said in (DIRECTION, NOT_REPRODUCED)],
        "untested": [o for o in content.outcomes if o.grade == NOT_ATTEMPTED],
        "artefacts": content.artefacts,
        "counts": [(g, n) for g, n in tally(content.artefacts).items() if n or g in ORDER[:3]],
        "caveats": content.caveats,
        "tally_words": tally_words,
        "grade_class": GRADE_CLASS,
        "origins": _origins(content.panels, namer),
        "paths": plan["paths"],
        "real": facts.engines == ["field"],
        "held": settings_held(content.results),
        "provenance": _provenance(content, facts),
        "light": Markup(variables(LIGHT)),
        "dark": Markup(variables(DARK)),
    }


def _table(panel: Panel, namer: Namer, panels: Sequence[Panel]) -> dict[str, Any]:
    """Return the key numbers of a panel, one row for each path set."""
    return {
        "title": f"{namer.drives(panel.drives)}, {panel.direction}link",
        "settings": differing(panel, panels),
        "n": len(panel.names),
        "seeds": seeds_text(panel.seeds),
        "last": "without data" if panel.file_mib is None else f"time for {panel.file_mib:g} MiB",
        "rows": [_row(panel, namer, cell) for cell in panel.goodput],
        "top": max(panel.estimate("goodput", c, "median").value for c in panel.goodput),
    }


def _row(panel: Panel, namer: Namer, cell: PathSet) -> dict[str, Any]:
    median = panel.estimate("goodput", cell, "median")
    gain = None
    if cell in panel.comparable:
        best = max(panel.estimate("goodput", n, "median").value for n in cell.alone)
        gain = median.value / best if best > 0 else None
    return {
        "label": namer.cell(cell),
        "code": cell if not cell.is_bonded and namer.cell(cell) != cell else "",
        "role": "bonded" if cell.is_bonded else namer.role(cell),
        "bonded": cell.is_bonded,
        "median": median.value,
        "interval": (median.low, median.high) if median.low == median.low else None,
        "p25": panel.estimate("goodput", cell, "p25").value,
        "mean": panel.estimate("goodput", cell, "mean").value,
        "last": _last(panel, cell),
        "waits": waits_words(waits_ms(panel, cell)),
        "gain": gain,
    }


def _last(panel: Panel, cell: PathSet) -> str:
    """Return the share of time without data, or the median time of a file, in words."""
    if panel.file_mib is None:
        return percent(panel.estimate("goodput", cell, "zero_share").value)
    return f"{panel.estimate('completion_s', cell, 'median').value:.1f} s"


def _figure(figure: Drawn, outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Return a figure with the criteria that are read from it."""
    return {
        "drawn": figure,
        "svg": Markup(figure.svg),  # our own drawing
        "narrow": Markup(figure.narrow) if figure.narrow else None,
        "criteria": [outcome for outcome in outcomes if outcome.figure == figure.spec.id],
    }


def _origins(panels: Sequence[Panel], namer: Namer) -> list[tuple[str, str, int]]:
    """Return for each group of drives: its label, where it comes from, how many drives."""
    found: dict[str, tuple[str, str, int]] = {}
    for panel in panels:
        first, *others = panel.origins
        more = f" (and {len(others)} more)" if others else ""
        found[panel.drives] = (namer.drives(panel.drives), first + more, len(panel.names))
    return list(found.values())


def _missing(content: Content) -> list[str]:
    """Return a note on each figure of the file that compares engines and has nothing to compare."""
    specs = content.results.frozen["plan"]["figures"]
    drawn = {figure.spec.id for figure in content.figures}
    return [
        f"Figure '{spec['id']}' was left out: it compares engines, and no simulated run has a live "
        "one that is equal in all else."
        for spec in specs
        if spec["kind"] == "engines" and spec["id"] not in drawn
    ]


def _engine_words(facts: EngineFacts) -> list[tuple[str, str]]:
    """Return which engines and kernels were used."""
    words = {
        "sim": "simulator (virtual time)", "live": "live (Linux, real time)",
        "field": "field (real networks)",
    }  # fmt: skip
    said = [("engine", ", ".join(words[name] for name in facts.engines))]
    if facts.kernels:
        said.append(("kernel", ", ".join(facts.kernels)))
        said.append(("traffic", ", ".join(facts.sources)))
    if facts.networks:
        said += [("networks", "; ".join(facts.networks)), ("server", "; ".join(facts.servers))]
    if facts.players:
        said.append(("players", "; ".join(facts.players)))
    return said


def _provenance(content: Content, facts: EngineFacts) -> list[tuple[str, str]]:
    """Return what is needed to get these numbers again; no clock times."""
    results, frozen = content.results, content.results.frozen
    keys = {key for key, _ in results.runs}
    seeds = sorted({labels["seed"] for _, labels in results.runs})
    return [
        ("study", frozen["plan"]["study"]["name"]),
        ("plan hash", frozen["plan_hash"]),
        ("code version", frozen["code_version"]),
        *_engine_words(facts),
        ("runs", str(len(keys))),
        ("seeds", seeds_text(seeds).removeprefix("seeds ").removeprefix("seed ")),
        ("sample", f"mean of {'a drive' if results.unit == 'drive' else f'{results.bin_s:g} s'}"),
        ("intervals", f"95 % bootstrap over drives, {results.bootstrap} draws, paired"),
    ]
