"""Criteria about a stretch of time inside a run: what was carried, and when it began again."""

from __future__ import annotations

import numpy as np
import polars as pl

from skyweave.record import Record
from skyweave.report.criterion import Window
from skyweave.report.finding import Finding, amount, with_interval
from skyweave.report.grades import grade_bound
from skyweave.report.metrics import capacity_in_bins
from skyweave.report.panel import Panel, Results
from skyweave.report.ramp import BIN_S, carried_mbps

_IS_SHARE = ("utilisation", "peak")


def find_window(criterion: Window, panel: Panel, results: Results) -> Finding:
    """Grade a bound on the mean over drives."""
    records = results.records(criterion, criterion.cells)
    each = [np.array([_measured(criterion, record)]) for record in records]
    found = panel.draws.estimate(each, "mean")
    percent = criterion.measure in _IS_SHARE
    what = criterion.path or criterion.cells[0]
    name = f"{what}, {criterion.between_s[0]:g} to {criterion.between_s[1]:g} s"
    band = f"{criterion.relation} {amount(criterion.limit, percent)}"
    return Finding(
        grade_bound(found, criterion.relation, criterion.limit),
        f"{name} {with_interval(found, percent)}",
        criterion.published or band,
        band,
        {name: found},
    )


def _measured(criterion: Window, record: Record) -> float:
    """Return the measure of one run."""
    start_s, end_s = criterion.between_s
    run = record.provenance["run"]
    paths = [path for path in run["paths"] if criterion.path in (None, path["name"])]
    delivered = sum(carried_mbps(record, path["name"], end_s) for path in paths)
    bins = slice(round(start_s / BIN_S), round(end_s / BIN_S))
    rates = np.asarray(delivered)[bins]
    if criterion.measure == "delivered_mbps":
        return float(rates.mean())
    if criterion.measure == "resumed_after_s":
        return _first_arrival(record, criterion) - start_s
    capacity = np.asarray(
        sum(capacity_in_bins(path, criterion.direction, BIN_S, end_s) for path in paths)
    )[bins]
    if criterion.measure == "utilisation":
        return _goodput(record, criterion) / float(capacity.mean())
    return float(np.max(rates[capacity > 0] / capacity[capacity > 0]))


def _goodput(record: Record, criterion: Window) -> float:
    """Return the application's mean goodput in the stretch, in Mbit/s."""
    own = record.goodput_mbps()
    inside = own.filter(
        (pl.col("time_s") > criterion.between_s[0] + 1e-9)
        & (pl.col("time_s") <= criterion.between_s[1] + 1e-9)
    )
    return float(np.mean(inside["goodput_mbps"].fill_null(0.0).to_numpy()))


def _first_arrival(record: Record, criterion: Window) -> float:
    """Return when a path first delivered anything in the stretch; infinite if it did not."""
    start_s, end_s = criterion.between_s
    own = record.samples.filter(pl.col("path") == criterion.path).sort("time_s")
    times, delivered = own["time_s"].to_numpy(), own["delivered_bytes"].to_numpy()
    before = delivered[times <= start_s + 1e-9]
    base = before[-1] if len(before) else 0.0
    more = times[(times > start_s) & (times <= end_s) & (delivered > base)]
    return float(more[0]) if len(more) else float("inf")
