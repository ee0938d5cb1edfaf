"""What a recorded folder says: distributions, spikes against slots, attitude, outages by cause."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from skyweave.errors import DataError
from skyweave.telemetry.dish import history, status
from skyweave.telemetry.dish.record import PIXELS
from skyweave.telemetry.probes import pinger
from skyweave.telemetry.store import hours, read

Floats = npt.NDArray[np.float64]
PERCENTS = (5, 25, 50, 75, 95, 99)
SLOT_S = 15.0
SLOT_OFFSET_S = 12.0
SPIKE = 2.0
"""A spike is a round trip above this many times the mean of the 5 s before it (T3P's rule)."""
BEFORE_S = 5.0
LEAST_BEFORE = 3
"""Samples that the mean before must have."""
CONNECTED = "CONNECTED"


@dataclass(frozen=True)
class Recorded:
    """The rows of a folder; empty where a kind was not recorded."""

    status: pl.DataFrame
    history: pl.DataFrame
    probes: pl.DataFrame
    pixels: pl.DataFrame


@dataclass(frozen=True)
class Outage:
    """A stretch of statuses with one cause; ``length_s`` from its first to the next status."""

    start_unix_s: float
    length_s: float
    cause: str


def read_recorded(folder: Path) -> Recorded:
    """Read what was recorded; :class:`DataError` if there is nothing, or it is damaged."""
    kinds = {"status": status.SCHEMA, "history": history.SCHEMA, "probes": pinger.SCHEMA}
    kinds["pixels"] = PIXELS
    try:
        there = {kind: bool(hours(folder, kind)) for kind in kinds}
    except OSError as error:
        raise DataError(f"{folder}: cannot be read ({error.strerror}); name a folder") from None
    if not any(there.values()):
        raise DataError(f"{folder}: holds nothing that 'dish record' or 'probe run' wrote")
    frames = {
        kind: read(folder, kind, schema) if there[kind] else pl.DataFrame(schema=schema)
        for kind, schema in kinds.items()
    }
    return Recorded(**frames)


def series(recorded: Recorded) -> dict[str, tuple[Floats, Floats]]:
    """Return each measured quantity as times and values; NaN where it is not known."""
    found = {}
    for name in ("ping_latency_ms", "ping_drop_ratio", "down_mbps", "up_mbps"):
        frame = recorded.history if len(recorded.history) else recorded.status
        if frame[name].is_not_null().any():
            found[f"dish {name}"] = _columns(frame, name)
    for probe in recorded.probes["probe"].unique().sort().to_list():
        frame = recorded.probes.filter((pl.col("probe") == probe) & pl.col("refused").is_null())
        found[f"{probe} rtt_ms"] = _columns(frame, "rtt_ms")
    return found


def distribution(values: Floats) -> dict[str, float]:
    """Return count, share not known, mean and percentiles of a series."""
    known = values[np.isfinite(values)]
    if not len(known):
        return {"n": 0, "missing": 1.0}
    cuts = np.percentile(known, PERCENTS).tolist()
    named = {f"p{percent}": cut for percent, cut in zip(PERCENTS, cuts, strict=True)}
    missing = 1 - len(known) / len(values)
    return {"n": len(known), "missing": missing, "mean": float(known.mean()), **named}


def spikes(times: Floats, values: Floats) -> Floats:
    """Return when the round trip was above :data:`SPIKE` times the mean of the 5 s before.

    The sample itself is not in the mean; lost samples are in neither. Times rise.
    """
    known = np.isfinite(values)
    when, what = times[known], values[known]
    total = np.concatenate([[0.0], np.cumsum(what)])
    first = np.searchsorted(when, when - BEFORE_S)
    count = np.arange(len(when)) - first
    enough = count >= LEAST_BEFORE
    mean = (total[np.arange(len(when))] - total[first]) / np.maximum(count, 1)
    return np.asarray(when[enough & (what > SPIKE * mean)])


def phases(times: Floats) -> Floats:
    """Return the seconds since the last slot edge."""
    return np.asarray((times - SLOT_OFFSET_S) % SLOT_S)


def outages(rows: pl.DataFrame) -> list[Outage]:
    """Return the outages that statuses report; a gap of the recorder is a cause of its own."""
    found: list[Outage] = []
    times, states = rows["time_unix_s"].to_list(), rows["state"].to_list()
    gaps = rows["gap_s"].to_list()
    begin, cause = 0.0, ""
    for place, (time_s, state) in enumerate(zip(times, states, strict=True)):
        if gaps[place] is not None:
            if cause:
                found.append(Outage(begin, time_s - gaps[place] - begin, cause))
            found.append(Outage(time_s - gaps[place], gaps[place], "not recorded"))
            begin, cause = time_s, ""
        now = "" if state in (None, CONNECTED) else state
        if now != cause:
            if cause:
                found.append(Outage(begin, time_s - begin, cause))
            begin, cause = time_s, now
    if cause:
        found.append(Outage(begin, times[-1] - begin, cause))
    return found


def by_cause(found: Sequence[Outage]) -> dict[str, dict[str, float]]:
    """Return number and seconds of the outages of each cause, the longest in all first."""
    causes: dict[str, dict[str, float]] = {}
    for one in found:
        there = causes.setdefault(one.cause, {"count": 0, "seconds": 0.0})
        there["count"] += 1
        there["seconds"] += one.length_s
    return dict(sorted(causes.items(), key=lambda item: -item[1]["seconds"]))


def summary(recorded: Recorded) -> dict[str, Any]:
    """Return everything that ``skyweave dish stats`` shows, as plain numbers."""
    quantities = series(recorded)
    found: dict[str, Any] = {
        "statuses": len(recorded.status),
        "gaps": int(recorded.status["gap_s"].is_not_null().sum()),
        "firmware": sorted(recorded.status["firmware"].drop_nulls().unique().to_list()),
        "clock_offset_s": recorded.status["clock_offset_s"].median(),
        "series": {name: distribution(values) for name, (_, values) in quantities.items()},
        "spikes": {},
        "outages": by_cause(outages(recorded.status)),
        "attitude": {},
    }
    for name, (times, values) in quantities.items():
        if name.endswith(("rtt_ms", "latency_ms")):
            there = spikes(times, values)
            edge = phases(there) < 2
            found["spikes"][name] = {
                "count": len(there), "at_edge": float(edge.mean()) if len(there) else None,
            }  # fmt: skip
    for name in ("azimuth_deg", "elevation_deg", "tilt_deg"):
        column = recorded.status[name].drop_nulls().to_numpy()
        if len(column):
            found["attitude"][name] = distribution(column)
    return found


def _columns(frame: pl.DataFrame, name: str) -> tuple[Floats, Floats]:
    frame = frame.sort("time_unix_s")
    values = frame[name].cast(pl.Float64).fill_null(float("nan")).to_numpy()
    return frame["time_unix_s"].to_numpy(), values
