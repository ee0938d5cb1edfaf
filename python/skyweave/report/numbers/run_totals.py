"""Quantities with one value a run: how long a file took, what was sent again, and why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from skyweave.model.totals import RunTotals
from skyweave.report.numbers.metrics import Values


def run_totals(totals: RunTotals, direction: str, kinds: Mapping[str, str]) -> dict[str, Values]:
    """Return arrays of one value, or of none where a run has no such number.

    Packets are those of the sender of all connections, on all their paths; shares are 0 to 1.
    ``completion_s`` is infinite for a transfer that was stopped before its end.
    """
    connections = totals["connections"]
    times = [c["completion_s"] for c in connections if "completion_s" in c]
    durations = [np.inf if time is None else time for time in times]
    paths = [(name, path) for c in connections for name, path in c.get("paths", {}).items()]
    sent = _sum(paths, "sent_packets")
    again = _sum(paths, "retransmitted_packets")
    by_outages = _sum(paths, "outage_retransmitted_packets")
    unique = _sum(paths, "unique_bytes")
    satellite = _sum([path for path in paths if kinds.get(path[0]) == "satellite"], "unique_bytes")
    links = totals.get("links", {})
    lost = [
        link["dropped_outage"] for name, link in links.items() if name.endswith(f".{direction}")
    ]
    stalls = [c.get("longest_stall_s") for c in connections]
    known = [stall for stall in stalls if stall is not None]
    return {
        "longest_stall_s": np.array([max(known)]) if known else np.empty(0),
        "completion_s": np.array([max(durations)]) if durations else np.empty(0),
        "satellite_share": _ratio(satellite, unique),
        "retransmissions": np.empty(0) if again is None else np.array([again]),
        "retransmission_rate": _ratio(again, sent),
        "outage_retransmission_rate": _ratio(by_outages, sent),
        "outage_share": _ratio(by_outages, again),
        "lost_in_outages": np.array([float(sum(lost))]) if lost else np.empty(0),
    }


def _sum(paths: list[tuple[str, Any]], key: str) -> float | None:
    """Return a sum over paths; ``None`` where an engine does not report it."""
    values = [path.get(key) for _, path in paths]
    told = [value for value in values if value is not None]
    return float(sum(told)) if values and len(told) == len(values) else None


def _ratio(part: float | None, whole: float | None) -> Values:
    return np.array([part / whole]) if part is not None and whole else np.empty(0)
