"""Numbers that a unit may have slipped into: said beside the results, and nothing is refused."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from skyweave.data.sense.units import LEAST_TRIP_MS, MOST_LIKELY_MBPS, MOST_TRIP_MS
from skyweave.model.drive import Series
from skyweave.study.compile.drives import DriveRun
from skyweave.study.language.plan import Plan


def slips(plan: Plan, drives: Iterable[DriveRun]) -> list[str]:
    """Return a sentence for each path with a round trip or a rate that no network has."""
    found = [
        f"[paths.{name}] rtt_ms = {spec.rtt_ms:g} is no round trip over the Internet; it counts ms."
        for name, spec in plan.paths.items()
        if isinstance(spec.rtt_ms, float | int) and not _is_trip(spec.rtt_ms)
    ]
    said: dict[str, None] = {}
    for member in drives:
        for name, path in member.drive.paths.items():
            if name not in plan.paths:
                continue
            of = f"Drives '{member.source}': {name}"
            for way, rates in (("down", path.downlink_mbps), ("up", path.uplink_mbps)):
                median = _median(rates)
                if median > MOST_LIKELY_MBPS:
                    said[
                        f"{of} has a median {way}link of {median:,.0f} Mbit/s; check its unit."
                    ] = None
            if path.rtt_ms is not None and not _is_trip(median := _median(path.rtt_ms)):
                said[f"{of} has a median round trip of {median:g} ms; check its unit."] = None
    return [*found, *list(said)[:MOST_SAID]]


MOST_SAID = 5


def _is_trip(rtt_ms: float) -> bool:
    return not rtt_ms > 0 or LEAST_TRIP_MS <= rtt_ms <= MOST_TRIP_MS


def _median(series: Series | None) -> float:
    """Of what was logged and is above zero; 0 if nothing is."""
    if series is None:
        return 0.0
    known = series.values[series.values > 0]
    return float(np.median(known)) if len(known) else 0.0
