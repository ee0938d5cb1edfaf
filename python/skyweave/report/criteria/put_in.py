"""What was put into the runs of a criterion, so that it cannot come out as a result.

A criterion that its inputs decide is an *input or identity*, whatever the transport does. All of it
is read from plan and runs; nothing that a study file says of itself changes it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from skyweave.errors import ConfigError
from skyweave.report.numbers.panel import Panel, Results
from skyweave.results.pathset import PathSet
from skyweave.study.language.criteria import (
    Bound,
    Every,
    Identity,
    Ordering,
    RatioBand,
    Window,
)
from skyweave.synthesis.preset import load_preset

LINK_RTTS = ("link_rtt_ms", "link_rtt_span_ms")
OF_LINKS = ("capacity", *LINK_RTTS)
"""Quantities of idle links, which no transport changes."""
OF_CAPACITY = ("utilisation", "share_of_max")
"""Goodput as a share of the capacity: never above 1."""
_GROUNDED = ("published", "measured", "fitted")


def decided(criterion: Any, results: Results) -> str:
    """Return why a criterion cannot fail, or holds by its inputs alone; empty if it can fail."""
    if isinstance(criterion, Identity):
        return "holds by arithmetic"
    quantity = getattr(criterion, "quantity", "")
    if quantity in OF_LINKS and not (quantity in LINK_RTTS and _orbits(criterion, results)):
        return "of the links alone: no transport is in it"
    if isinstance(criterion, Window):
        return _window(criterion, results)
    if isinstance(criterion, Bound | Every) and quantity in OF_CAPACITY:
        return _never_above(criterion)
    if isinstance(criterion, Ordering):
        panel = results.panel(criterion)
        steps = list(zip(criterion.cells, criterion.cells[1:], strict=False))
        if criterion.quantity == "goodput" and all(dominates(panel, a, b) for a, b in steps):
            return _by_capacity(*steps[0])
    return ""


def direction_put_in(criterion: Any, results: Results) -> str:
    """Return why the side of 1 on which a ratio lies is put in; its band can still be missed."""
    if not isinstance(criterion, RatioBand) or criterion.quantity != "goodput":
        return ""
    panel = results.panel(criterion)
    pair = (criterion.numerator, criterion.denominator)
    above, below = pair if criterion.published > 1 else pair[::-1]
    return _by_capacity(above, below) if dominates(panel, above, below) else ""


def dominates(panel: Panel, above: PathSet, below: PathSet) -> bool:
    """Tell whether one single path has in each bin of each drive at least another's capacity."""
    if above == below or above.is_bonded or below.is_bonded:
        return False
    pairs = zip(panel.links[above.names[0]], panel.links[below.names[0]], strict=True)
    return all(len(a) == len(b) and bool(np.all(a >= b - 1e-9)) for a, b in pairs)


def assumed_paths(criterion: Any, results: Results) -> list[str]:
    """Return the paths of a criterion whose rates no source gives: a preset assumes them all."""
    found: dict[str, None] = {}
    for group in dict.fromkeys((criterion.drives, getattr(criterion, "than", criterion.drives))):
        source = _source(group, results)
        if source is None or source.get("preset") is None:
            continue
        names = source.get("rename") or {}
        used = _used(criterion, group, results)
        for old, path in _preset_paths(str(source["preset"])):
            name = names.get(old, old)
            rates = path.uplink_mbps if criterion.direction == "up" else path.downlink_mbps
            if name in used and rates is not None and not _grounded(rates):
                found[name] = None
    return list(found)


def inputs(criterion: Any, results: Results) -> str:
    """Return in a few words what the links of a criterion were made from."""
    source = _source(criterion.drives, results)
    if source is None:
        return "the same links for both engines"
    if source.get("preset") is not None:
        return f"rates and delays by preset '{source['preset']}'"
    if source.get("links") is not None:
        orbits = " over orbits" if _orbits(criterion, results) else ""
        return f"links as the study describes them{orbits}"
    if source.get("radio") is not None:
        return "rates of made-up cells"
    return "recorded rates"


def _window(criterion: Window, results: Results) -> str:
    if not criterion.relation.startswith("<"):
        return ""
    if criterion.measure in ("utilisation", "peak"):
        return _never_above(criterion)
    if criterion.measure != "delivered_mbps" or criterion.path is None:
        return ""
    panel = results.panel(criterion)
    start_s, end_s = criterion.between_s
    for values in panel.capacity[criterion.path]:
        covered = values[int(start_s / panel.bin_s) : int(np.ceil(end_s / panel.bin_s))]
        if not len(covered) or np.any(covered > 0):
            return ""
    return f"{criterion.path} has no capacity in that stretch"


def _never_above(criterion: Any) -> str:
    if criterion.relation.startswith("<") and criterion.limit >= 1:
        return "goodput cannot exceed the capacity"
    return ""


def _by_capacity(above: PathSet, below: PathSet) -> str:
    return f"{above} has at least the capacity of {below} in each bin of each drive"


def _orbits(criterion: Any, results: Results) -> bool:
    """Tell whether satellites on their orbits gave a delay of these drives."""
    links = (_source(criterion.drives, results) or {}).get("links") or {}
    delays = [link.get("rtt_ms") for link in links.values()]
    return any(isinstance(delay, dict) and "orbit" in delay for delay in delays)


def _used(criterion: Any, group: str, results: Results) -> set[str]:
    """Return the paths that a criterion looks at: those of its cells, or all that are bonded."""
    singles = ("cell", "minus", "numerator", "denominator")
    cells = [*getattr(criterion, "cells", ()), *(getattr(criterion, one, None) for one in singles)]
    names = {name for cell in cells if cell is not None for name in cell.names}
    runs = [labels["paths"] for _, labels in results.runs if labels["drives"] == group]
    return names or {name for cell in runs for name in cell.names}


def _source(group: str, results: Results) -> dict[str, Any] | None:
    found = (one for one in results.frozen["plan"]["drives"] if one["name"] == group)
    return next(found, None)


def _preset_paths(name: str) -> list[tuple[str, Any]]:
    try:
        return list(load_preset(name).paths.items())
    except ConfigError:  # a folder of another version, whose preset has gone
        return []


def _grounded(rates: Any) -> bool:
    """Tell whether anyone published or measured a quantile of these rates."""
    table = rates.target_run_means.quantiles if rates.target_run_means else rates.quantiles
    return any(point.source.startswith(_GROUNDED) for point in table)
