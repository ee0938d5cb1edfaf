"""Quantities of applications: what is measured of the table that each kind of workload has."""

from __future__ import annotations

import numpy as np
import polars as pl

from skyweave.engine.workloads import PROBE
from skyweave.model.record import Record
from skyweave.report.numbers.metrics import Values


def application_quantities(record: Record) -> dict[str, Values]:
    """Return the quantities of a run; arrays are empty for workloads that it has not.

    ``request_ms``: the time of each request, infinite for those that were not complete;
    ``delay_ms``: the one-way delay of each piece, infinite for those that did not come. ``_p50_``
    and ``_p99_`` are their quantiles, one value a run. ``late_share`` is that of all pieces that
    came after their deadline, ``lost_share`` that of those that did not come (0 to 1), of probes
    as well, whose round trips are ``probe_ms``, infinite for those that were lost;
    ``timely_mbps`` is the rate of those that came in time.
    """
    requests = _column(record, "requests", "completion_ms", np.inf)
    delays = _column(record, "paced", "delay_ms", np.inf)
    probes = _probes(record.application.get(PROBE))
    found = {"request_ms": requests, "delay_ms": delays, "probe_ms": probes}
    for percent in (50, 99):
        found[f"request_p{percent}_ms"] = _quantile(requests, percent)
        found[f"delay_p{percent}_ms"] = _quantile(delays, percent)
    for share in ("late", "lost"):
        flags = _column(record, "paced", share, 0.0)
        found[f"{share}_share"] = np.array([flags.mean()]) if flags.size else flags
    if probes.size:
        found["lost_share"] = np.array([np.isinf(probes).mean()])
    found["timely_mbps"] = _timely_mbps(record.application.get("paced"))
    return found


def _probes(table: pl.DataFrame | None) -> Values:
    """Return the round trip of each probe that was sent, infinite for those that were lost."""
    if table is None:
        return np.empty(0)
    sent = table.filter(pl.col("refused").is_null())
    values: Values = sent["rtt_ms"].fill_null(np.inf).to_numpy()
    return values


def _timely_mbps(pieces: pl.DataFrame | None) -> Values:
    """Return the rate of the pieces that came in time, between the first and the last one made."""
    if pieces is None or "bytes" not in pieces.columns:  # a record of an earlier version
        return np.empty(0)
    made_s = pieces["sent_s"].to_numpy()
    if len(made_s) < 2 or not np.ptp(made_s):
        return np.empty(0)
    timely = pieces.filter(~pl.col("late") & ~pl.col("lost"))["bytes"].to_numpy().sum()
    return np.array([timely * 8e-6 / np.ptp(made_s)])


def _column(record: Record, kind: str, name: str, absent: float) -> Values:
    """Return a column of a kind's table, with a number where it has none; empty without table."""
    table = record.application.get(kind)
    if table is None:
        return np.empty(0)
    values: Values = table[name].cast(pl.Float64).fill_null(absent).to_numpy()
    return values


def _quantile(values: Values, percent: int) -> Values:
    """Return a quantile that was observed, so that infinite values do no harm."""
    if values.size == 0:
        return values
    return np.array([np.percentile(values, percent, method="higher")])
