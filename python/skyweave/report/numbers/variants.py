"""The panels of a selection, one for each combination of the settings that still vary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from skyweave.report.numbers.panel import Panel, Results
from skyweave.results.pathset import PathSet
from skyweave.results.selection import Selection
from skyweave.study.language.labels import (
    SETTINGS,
    Labels,
    different,
    matches,
    number_of,
    with_linked,
)


@dataclass(frozen=True)
class Variant:
    """One combination of settings and what was run under it."""

    settings: Labels
    panel: Panel
    control: dict[str, Any]
    """Name and parameters of the congestion control."""

    def number(self, key: str) -> float | None:
        """Return a setting, or a parameter of the congestion control, if it is a number."""
        return number_of(self.settings, self.control, key)

    def others(self, *keys: str) -> tuple[str, ...]:
        """Return all settings but ``keys``: what two variants share that differ only in those.

        A key that is no setting is a parameter of the congestion control.
        """
        gone = with_linked(keys)
        left = {key: str(value) for key, value in self.settings.items() if key not in gone}
        for key in keys:
            if key not in SETTINGS:
                own = {name: value for name, value in self.control.items() if name != key}
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
    found = []
    for item in different(labels):
        settings = {key: item[key] for key in SETTINGS}
        panel = results.panel(_selection(chosen, settings))
        found.append(Variant(settings, panel, item["control"]))
    return found


def _selection(chosen: Selection, settings: Labels) -> Selection:
    where = {key: value for key, value in settings.items() if value is not None}
    return Selection(drives=chosen.drives, direction=chosen.direction, where=where)


def cells_or_default(panel: Panel, cells: Sequence[PathSet]) -> list[PathSet]:
    """Return the path sets that are meant: those named, the bonded ones, or all."""
    return list(cells) or panel.bonded or panel.singles
