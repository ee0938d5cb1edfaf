"""A path over time as text for files: schedule and RTT series."""

from __future__ import annotations

import csv
import io
import json
import math
from datetime import timedelta
from itertools import pairwise

import numpy as np

from skyweave.orbit.path import OrbitPath
from skyweave.orbit.spec import OrbitSpec


def schedule_csv(path: OrbitPath) -> str:
    """One row per choice: when, which satellite, whether it took over, seconds out and why."""
    changed = {handover.time_s for handover in path.handovers}
    begins = path.serving_times_s.tolist()
    rows: list[list[object]] = [
        [_plain(begin), utc(path, begin), name, int(begin in changed), _plain(out_s), why]
        for begin, name, (out_s, why) in zip(
            begins, path.serving, out_within(path, begins), strict=True
        )
    ]
    return _csv(["time_s", "utc", "satellite", "handover", "outage_s", "outage"], rows)


def schedule_json(spec: OrbitSpec, path: OrbitPath) -> str:
    """The same for programs, with each handover and each outage of its own."""
    facts = {
        "start": path.start.isoformat().replace("+00:00", "Z"),
        "duration_s": path.duration_s,
        "orbit": spec.model_dump(mode="json", exclude={"start"}),
        "serving": [
            {"time_s": _round(time_s), "satellite": name or None}
            for time_s, name in zip(path.serving_times_s.tolist(), path.serving, strict=True)
        ],
        "handovers": [
            {"time_s": _round(one.time_s), "before": one.before, "after": one.after}
            for one in path.handovers
        ],
        "outages": [
            {"start_s": _round(one.start_s), "end_s": _round(one.end_s), "reason": one.reason}
            for one in path.outages
        ],
        "notes": list(path.notes),
    }
    return json.dumps(facts, indent=1, allow_nan=False) + "\n"


def rtt_csv(path: OrbitPath) -> str:
    """One row per step; without a path the RTT is empty. Seconds out until the next row, and why.

    In the gap of a handover the RTT is the new satellite's, though nothing gets through.
    """
    begins = path.times_s.tolist()
    served = np.searchsorted(path.serving_times_s, path.times_s, side="right") - 1
    rows: list[list[object]] = []
    for begin, rtt_ms, slot, (out_s, why) in zip(
        begins, path.rtt_ms.tolist(), served.tolist(), out_within(path, begins), strict=True
    ):
        there = not math.isnan(rtt_ms)
        rtt, satellite = (f"{rtt_ms:.4f}", path.serving[slot]) if there else ("", "")
        rows.append([_plain(begin), rtt, satellite, _plain(out_s), why])
    return _csv(["time_s", "rtt_ms", "satellite", "outage_s", "outage"], rows)


def out_within(path: OrbitPath, begins: list[float]) -> list[tuple[float, str]]:
    """Seconds without service from each moment to the next, and the reasons joined by '+'.

    The moments rise; the last span ends with the run.
    """
    found, first = [], 0
    for begin_s, end_s in pairwise([*begins, path.duration_s]):
        while first < len(path.outages) and path.outages[first].end_s <= begin_s:
            first += 1
        total_s, reasons, index = 0.0, [], first
        while index < len(path.outages) and (one := path.outages[index]).start_s < end_s:
            total_s += min(one.end_s, end_s) - max(one.start_s, begin_s)
            reasons.append(one.reason)
            index += 1
        found.append((total_s, "+".join(dict.fromkeys(reasons))))
    return found


def utc(path: OrbitPath, time_s: float) -> str:
    """A second of the run on the clock, to the millisecond where it is not whole."""
    at = path.start + timedelta(seconds=time_s)
    fraction = f".{at.microsecond // 1000:03d}" if at.microsecond else ""
    return f"{at:%Y-%m-%dT%H:%M:%S}{fraction}Z"


def _round(seconds: float) -> float:
    """Seconds to the nanosecond, which is how the core counts."""
    return round(seconds, 9)


def _plain(seconds: float) -> str:
    return f"{_round(seconds):.15g}"


def _csv(head: list[str], rows: list[list[object]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(head)
    writer.writerows(rows)
    return text.getvalue()
