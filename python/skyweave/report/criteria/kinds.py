"""The kinds of criteria: how each is evaluated, in a file of its own that registers itself here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from skyweave.plotting.words import seeds_text
from skyweave.report.criteria.finding import Finding
from skyweave.report.numbers.panel import Panel, Results
from skyweave.report.numbers.variants import Variant, variants


@dataclass(frozen=True)
class Found:
    """A finding, and on what it was made."""

    finding: Finding
    drives: int
    """Runs of each cell: seeds, or pieces of recorded drives; the fewest if cells differ."""
    samples: int
    seeds: str
    data: str
    one_drive: bool = False
    """All of them are pieces of one recorded drive."""


Evaluate = Callable[[Any, Results], Found | str]
"""Evaluates a criterion; a sentence says why that is not possible."""
KINDS: dict[type, Evaluate] = {}
"""How each kind is evaluated, by its class in the language of studies."""
Find = TypeVar("Find", bound=Callable[..., Any])


def of_results(kind: type) -> Callable[[Find], Find]:
    """Register a function of a criterion and the results as what evaluates ``kind``."""

    def register(find: Find) -> Find:
        KINDS[kind] = find
        return find

    return register


def of_panel(kind: type) -> Callable[[Find], Find]:
    """Register a function of a criterion and its panel; it returns a :class:`Finding`."""

    def register(find: Find) -> Find:
        def evaluate(criterion: Any, results: Results) -> Found | str:
            why = missing(results, criterion.drives)
            if why is not None:
                return why
            panel = results.panel(criterion)
            return found_on(panel, find(criterion, panel))

        KINDS[kind] = evaluate
        return find

    return register


def of_variants(kind: type) -> Callable[[Find], Find]:
    """Register a function of a criterion and the variants of its selection."""

    def register(find: Find) -> Find:
        def evaluate(criterion: Any, results: Results) -> Found | str:
            why = missing(results, criterion.drives)
            if why is not None:
                return why
            found = variants_of(results, criterion)
            fewest = min((one.panel for one in found), key=lambda panel: len(panel.names))
            return found_on(fewest, find(criterion, found))

        KINDS[kind] = evaluate
        return find

    return register


def variants_of(results: Results, criterion: Any) -> list[Variant]:
    """Return the runs of a criterion, one variant for each combination of settings."""
    return variants(results, criterion, getattr(criterion, "where_any", None))


def found_on(panel: Panel, finding: Finding) -> Found:
    """Return a finding that was made on a panel."""
    return Found(
        finding,
        drives=len(panel.names),
        samples=panel.samples_each,
        seeds=seeds_text(panel.seeds),
        data=data_text(panel),
        one_drive=not panel.synthetic and len({n.partition("#")[0] for n in panel.names}) == 1,
    )


def missing(results: Results, *drives: str) -> str | None:
    """Return why a criterion is not tested when one of its groups of drives was not run."""
    absent = [name for name in drives if name not in results.groups]
    if not absent:
        return None
    return f"Not tested: drives '{absent[0]}' were not there (see the notes on data)."


def data_text(panel: Panel) -> str:
    """Return where a panel's drives come from, in a few words."""
    return f"{'synthetic' if panel.synthetic else 'measured'} drives '{panel.drives}'"
