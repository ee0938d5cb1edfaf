"""The panels of a selection, one for each combination of the settings that still vary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from skyweave.report.numbers.panel import Panel, Results
from skyweave.results.selection import Selection
from skyweave.study.language.labels import (
    SETTINGS,
    Labels,
    matches,
    number_of,
    parameters,
    settings_of,
    with_linked,
)


@dataclass(frozen=True)
class Variant:
    """One combination of settings and what was run under it."""

    settings: Labels
    panel: Panel

    def number(self, key: str) -> float | None:
        """Return a setting, or a parameter of the congestion control, if it is a number."""
        return number_of(self.settings, key)

    def others(self, *keys: str) -> tuple[str, ...]:
        """Return all settings but ``keys``: what two variants share that differ only in those.

        A key that is no setting is a parameter of the congestion control.
        """
        gone = with_linked(keys)
        left = {key: str(value) for key, value in self.settings.items() if key not in gone}
        for key in keys:
            if key not in SETTINGS:
                own = parameters(left["congestion"])
                own.pop(key, None)
                left["congestion"] = str(sorted(own.items()))
        return tuple(left.values())


def variants(
    results: Results, chosen: Selection, any_of: Mapping[str, Sequence[Any]] | None = None
) -> list[Variant]:
    """Return a panel for each combination of settings that ``chosen`` leaves open."""
    labels = [
        item
        for _, item in results.runs
        if matches(item, chosen)
        and all(item[key] in (*values, None) for key, values in (any_of or {}).items())
    ]
    return [
        Variant(settings, results.panel(_selection(chosen, settings)))
        for settings in settings_of(labels)
    ]


def _selection(chosen: Selection, settings: Labels) -> Selection:
    where = {key: value for key, value in settings.items() if value is not None}
    return Selection(drives=chosen.drives, direction=chosen.direction, where=where)


def cells_or_default(panel: Panel, cells: Sequence[str]) -> list[str]:
    """Return the path sets that are meant: those named, the bonded ones, or all."""
    return list(cells) or panel.bonded or panel.singles
