"""Which runs a figure shows: panels for the values of a setting, selections side by side."""

from __future__ import annotations

from skyweave.report.numbers.namer import Namer
from skyweave.report.numbers.panel import Panel, Results
from skyweave.report.numbers.variants import Variant, variants
from skyweave.results.selection import Selection, Setting
from skyweave.study.language.figures import FigureSpec
from skyweave.study.language.labels import matches as chosen_by
from skyweave.study.language.labels import settings_of


def facets_of(results: Results, spec: FigureSpec) -> list[tuple[str, list[Variant]]]:
    """Return the variants of a selection and of those beside it, each with a title."""
    namer = Namer(results.frozen["plan"])
    chosen: list[Selection] = [spec, *(s for s in spec.beside if s.drives in results.groups)]
    return [
        (_facet_title(one, chosen, namer), variants(results, one, spec.where_any)) for one in chosen
    ]


def panels_of(results: Results, spec: FigureSpec) -> tuple[Panel, list[tuple[str, Panel]]]:
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
