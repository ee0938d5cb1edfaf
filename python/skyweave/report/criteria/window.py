"""Criteria about a stretch of time inside a run: what was carried, and when it began again."""

from __future__ import annotations

import numpy as np
import polars as pl

from skyweave.errors import ResultsError
from skyweave.model.record import Record
from skyweave.report.criteria.finding import Finding, amount, with_interval
from skyweave.report.criteria.grades import grade_bound
from skyweave.report.criteria.kinds import Found, found_on, missing, of_results
from skyweave.report.numbers.metrics import Values, capacity_in_bins, total_of
from skyweave.report.numbers.panel import Results
from skyweave.report.numbers.ramp import carried_mbps
from skyweave.results.quantities import BIN_S
from skyweave.study.language.criteria import Window

_IS_SHARE = ("utilisation", "peak")


@of_results(Window)
def window(criterion: Window, results: Results) -> Found | str:
    """Grade a bound on the mean over drives."""
    why = missing(results, criterion.drives)
    if why is not None:
        return why
    panel = results.panel(criterion)
    records = results.records_of(panel, criterion.cells[0])
    each = [_measured(criterion, record) for record in records]
    found = panel.draws.estimate(each, "mean")
    percent = criterion.measure in _IS_SHARE
    what = criterion.path or criterion.cells[0]
    name = f"{what}, {criterion.between_s[0]:g} to {criterion.between_s[1]:g} s"
    band = f"{criterion.relation} {amount(criterion.limit, percent)}"
    finding = Finding(
        grade_bound(found, criterion.relation, criterion.limit),
        f"{name} {with_interval(found, percent)}",
        criterion.published or band,
        band,
        {name: found},
    )
    return found_on(panel, finding)


def _measured(criterion: Window, record: Record) -> Values:
    """Return the measure of one run; nothing where there is no capacity to compare with."""
    start_s, end_s = criterion.between_s
    run = record.provenance["run"]
    if end_s > run["stop_after_s"]:
        raise ResultsError(
            f"criterion '{criterion.id}': between_s ends at {end_s:g} s, but its runs last "
            f"{run['stop_after_s']:g} s; correct it and give the same command again: nothing is "
            "run anew"
        )
    if criterion.measure == "resumed_after_s":
        return np.array([_first_arrival(record, criterion) - start_s])
    paths = [path for path in run["paths"] if criterion.path in (None, path["name"])]
    bins = slice(round(start_s / BIN_S), round(end_s / BIN_S))
    rates = total_of([carried_mbps(record, path["name"], end_s) for path in paths])[bins]
    if criterion.measure == "delivered_mbps":
        return np.array([rates.mean()])
    capacities = [capacity_in_bins(path, criterion.direction, BIN_S, end_s) for path in paths]
    capacity = total_of(capacities)[bins]
    some = capacity > 0
    if not some.any():
        return np.empty(0)
    if criterion.measure == "utilisation":
        return np.array([_goodput(record, start_s, end_s) / capacity.mean()])
    return np.array([np.max(rates[some] / capacity[some])])


def _goodput(record: Record, start_s: float, end_s: float) -> float:
    """Return the application's mean goodput in a stretch, in Mbit/s; 0 after its last sample."""
    own = record.goodput_mbps().sort("time_s")
    times = np.append(0.0, own["time_s"].to_numpy())
    rates = own["goodput_mbps"].fill_null(0.0).to_numpy()
    carried = np.append(0.0, np.cumsum(np.diff(times) * rates))
    before, after = np.interp((start_s, end_s), times, carried)
    return float(after - before) / (end_s - start_s)


def _first_arrival(record: Record, criterion: Window) -> float:
    """Return when a path first delivered anything in the stretch; infinite if it did not."""
    start_s, end_s = criterion.between_s
    own = record.samples.filter(
        (pl.col("path") == criterion.path) & (pl.col("connection") == 0)
    ).sort("time_s")
    times, delivered = own["time_s"].to_numpy(), own["delivered_bytes"].fill_null(0.0).to_numpy()
    before = delivered[times <= start_s + 1e-9]
    base = before[-1] if len(before) else 0.0
    more = times[(times > start_s) & (times <= end_s) & (delivered > base)]
    return float(more[0]) if len(more) else float("inf")
