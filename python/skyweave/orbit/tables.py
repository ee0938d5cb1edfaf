"""A path over time as text for files: schedule and RTT series."""

from __future__ import annotations

import csv
import io
import json
import math
from datetime import timedelta

import numpy as np

from skyweave.orbit.path import OrbitPath
from skyweave.orbit.spec import OrbitSpec


def schedule_csv(path: OrbitPath) -> str:
    """One row per choice: when, which satellite, whether it took over, seconds out and why."""
    changed = {handover.time_s for handover in path.handovers}
    rows = [
        [_plain(begin), utc(path, begin), name, int(begin in changed), _plain(out_s), why]
        for (begin, end), name in zip(spans(path), path.serving, strict=True)
        for out_s, why in [out_within(path, begin, end)]
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
    """One row per step; without a path the RTT is empty and ``outage`` says why.

    In the gap of a handover both stand there: the new satellite's RTT, and that nothing passes.
    """
    served = np.searchsorted(path.serving_times_s, path.times_s, side="right") - 1
    reasons = _reasons(path)
    rows = []
    for time_s, rtt_ms, slot, why in zip(
        path.times_s.tolist(), path.rtt_ms.tolist(), served.tolist(), reasons, strict=True
    ):
        rtt = "" if math.isnan(rtt_ms) else f"{rtt_ms:.4f}"
        rows.append([_plain(time_s), rtt, path.serving[slot] if rtt else "", why])
    return _csv(["time_s", "rtt_ms", "satellite", "outage"], rows)


def spans(path: OrbitPath) -> list[tuple[float, float]]:
    """From each choice to the next; the last ends with the run."""
    begins = path.serving_times_s.tolist()
    return list(zip(begins, [*begins[1:], path.duration_s], strict=True))


def out_within(path: OrbitPath, begin_s: float, end_s: float) -> tuple[float, str]:
    """Seconds without service in [begin, end), and the reasons joined by '+'."""
    ends = np.array([one.end_s for one in path.outages])
    total_s, reasons = 0.0, []
    for one in path.outages[int(np.searchsorted(ends, begin_s, side="right")) :]:
        if one.start_s >= end_s:
            break
        total_s += min(one.end_s, end_s) - max(one.start_s, begin_s)
        reasons.append(one.reason)
    return total_s, "+".join(dict.fromkeys(reasons))


def utc(path: OrbitPath, time_s: float) -> str:
    """A second of the run on the clock, to the millisecond where it is not whole."""
    at = path.start + timedelta(seconds=time_s)
    fraction = f".{at.microsecond // 1000:03d}" if at.microsecond else ""
    return f"{at:%Y-%m-%dT%H:%M:%S}{fraction}Z"


def _reasons(path: OrbitPath) -> list[str]:
    """Why nothing gets through at each step; '' where it does."""
    reasons = [""] * len(path.times_s)
    for one in path.outages:
        begin, end = np.searchsorted(path.times_s, [one.start_s, one.end_s]).tolist()
        reasons[begin:end] = [one.reason] * (end - begin)
    return reasons


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
