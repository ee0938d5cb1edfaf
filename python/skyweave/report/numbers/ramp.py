"""How long a new path takes to carry half of what it could."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

from skyweave.model.record import Record
from skyweave.report.numbers.metrics import Values, capacity_in_bins
from skyweave.results.quantities import BIN_S

SHARE = 0.5


def carried_mbps(record: Record, path: str, duration_s: float) -> Values:
    """Return what the sender learned was delivered on a path, in bins of ``BIN_S``."""
    own = record.samples.filter((pl.col("path") == path) & (pl.col("connection") == 0))
    times = np.append(0.0, own["time_s"].to_numpy())
    delivered = np.append(0.0, own["delivered_bytes"].fill_null(0.0).to_numpy())
    edges = np.arange(int(duration_s / BIN_S + 1e-9) + 1) * BIN_S
    return np.asarray(np.diff(np.interp(edges, times, delivered)) * 8e-6 / BIN_S)


def lasted_s(record: Record) -> float:
    """Return how many seconds a run lasted; where its engine does not say, until its last sample.

    >>> lasted_s(Record(pl.DataFrame({"time_s": [0.5, 1.0]}), pl.DataFrame(), {}, {}))
    1.0
    """
    told = record.totals.get("simulated_s")
    return max(record.samples["time_s"].to_list(), default=0.0) if told is None else float(told)


def ramps_s(record: Record, paths: list[Mapping[str, Any]], direction: str) -> Values:
    """Return, for each path added to the first connection under way, seconds until it is in use.

    In use: ``SHARE`` of its capacity in a bin in which it has some. Infinite where it left, or the
    run ended, before that; the first path of the connection is not counted.
    """
    duration_s = lasted_s(record)
    first_s = min(_times(record, "established"), default=0.0)
    found = []
    for path in paths:
        name = path["name"]
        # Paths over an interface follow each other: the k-th end is that of the k-th one.
        came, gone = _times(record, "established", name), _times(record, "closed", name)
        ends = [*gone, *[duration_s] * len(came)]
        rates = carried_mbps(record, name, duration_s)
        capacity = capacity_in_bins(path, direction, BIN_S, duration_s)
        count = min(len(rates), len(capacity))
        busy = (capacity[:count] > 0) & (rates[:count] >= SHARE * capacity[:count])
        for start, end in zip(came, ends, strict=False):
            if start == first_s:
                continue
            first = int(np.ceil(start / BIN_S))
            used = np.flatnonzero(busy[first : int(end / BIN_S)])
            found.append((first + used[0] + 1) * BIN_S - start if len(used) else np.inf)
    return np.array(found)


def _times(record: Record, event: str, path: str | None = None) -> list[float]:
    """Return when an event was, on a path or on any, in order."""
    found = record.events.filter((pl.col("event") == event) & (pl.col("connection") == 0))
    if path is not None:
        found = found.filter(pl.col("path") == path)
    times: list[float] = found["time_s"].sort().to_list()
    return times
