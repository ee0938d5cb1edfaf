"""What a report knows runs by: their labels, and which of them can vary."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from skyweave.results.pathset import PathSet
from skyweave.results.selection import SPANNING, Selection
from skyweave.study.language.settings import LABELS

_NAMES = list(LABELS)
SETTINGS = (*_NAMES[: _NAMES.index("engine")], "flows", *_NAMES[_NAMES.index("engine") :])
"""The labels that a plan can vary besides drives, direction, paths and transport."""
LINKED: dict[str, set[str]] = {
    leader: {name for name, about in LABELS.items() if leader in about.leaders}
    for leader in SETTINGS
}
"""Labels that may vary along another one, because they vary with it."""
Labels = dict[str, Any]


def matches(labels: Labels, chosen: Selection) -> bool:
    """Tell whether a run belongs to a selection; TCP has no scheduler and no mode to differ in."""
    every = "all" if getattr(chosen, "kind", None) in SPANNING else None
    if chosen.drives not in (labels["drives"], every):
        return False
    if chosen.direction not in (labels["direction"], every):
        return False
    return all(labels[key] in (value, None) for key, value in chosen.where.items())


def with_linked(keys: Iterable[str]) -> set[str]:
    """Return settings together with those that may vary because they follow them."""
    return {other for key in keys for other in (key, *LINKED.get(key, ()))}


def different(labels: Iterable[Labels]) -> list[Labels]:
    """Return a run for each combination of settings, those of TCP if it is alone."""
    labels = list(labels)
    together = [item for item in labels if item["transport"] != "tcp"] or labels
    seen = {tuple(item[key] for key in SETTINGS): item for item in reversed(together)}
    return list(reversed(seen.values()))


def settings_of(labels: Iterable[Labels]) -> list[Labels]:
    """Return the settings of :func:`different`, and nothing else of their labels."""
    return [{key: item[key] for key in SETTINGS} for item in different(labels)]


def pairs_of(runs: Iterable[tuple[str, Labels]]) -> tuple[list[tuple[str, str, Labels]], int]:
    """Return the key of the simulated and of the live run of each pair, its labels, and the rest.

    The rest is the number of runs without a partner. Runs with the same labels (a study can have
    them, under settings that are no label) pair in their order.
    """
    found: dict[str, dict[str, list[tuple[str, Labels]]]] = {}
    for key, labels in runs:
        own = {name: value for name, value in labels.items() if name != "engine"}
        twins = found.setdefault(json.dumps(own, sort_keys=True), defaultdict(list))
        twins[labels["engine"]].append((key, own))
    pairs, alone = [], 0
    for twins in found.values():
        both = list(zip(twins["sim"], twins["live"], strict=False))
        pairs += [(sim, live, labels) for (sim, labels), (live, _) in both]
        alone += len(twins["sim"]) + len(twins["live"]) - 2 * len(both)
    return pairs, alone


def number_of(settings: Labels, control: dict[str, Any], key: str) -> float | None:
    """Return a setting, or a parameter of the congestion control, if it is a number."""
    value = settings.get(key)
    if value is None:
        value = control.get(key)
    return float(value) if isinstance(value, int | float) else None


def read_labels(written: dict[str, Any]) -> Labels:
    """Return the labels of a run as values, from what a results folder holds of them.

    Folders of earlier versions lack settings that came later.
    """
    control = {"name": written["congestion"]}
    earlier = {**dict.fromkeys(SETTINGS), "engine": "sim", "flow_counts": [1], "control": control}
    return {**earlier, **written, "paths": PathSet(written["paths"])}
