"""From one record to what a panel compares."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from skyweave.model.record import Record
from skyweave.report.numbers import metrics
from skyweave.report.numbers.applications import application_quantities
from skyweave.report.numbers.link_rtt import link_rtts
from skyweave.report.numbers.metrics import Values
from skyweave.report.numbers.of_paths import of_paths
from skyweave.report.numbers.playback import playback_quantities
from skyweave.report.numbers.ramp import ramps_s
from skyweave.report.numbers.recovery import recoveries_s
from skyweave.report.numbers.reorder import in_order_waits, reorder_quantities
from skyweave.report.numbers.run_totals import run_totals

Labels = dict[str, Any]


@dataclass(frozen=True)
class Reduction:
    """How records are reduced: lengths of bins and of RTT windows, and the kind of each path."""

    bin_s: float
    rtt_window_s: float
    kinds: Mapping[str, str]


@dataclass(frozen=True)
class Reduced:
    """What a panel keeps of one record."""

    goodput: Values
    """Of all connections together, in bins; of a file one value: its size over its time."""
    capacity: dict[str, Values]
    """Of each link, in the same bins."""
    links: dict[str, Values]
    """The same for all the time that the run could have taken, in bins of the report."""
    others: dict[str, Values]
    """``srtt_ms``: every sample of every path and flow; ``flow_ratio``: goodput of the first group
    of flows over that of the last, in bins; :mod:`skyweave.report.numbers.link_rtt` and
    :mod:`skyweave.report.numbers.run_totals`."""
    of_paths: dict[str, Values]
    """:mod:`skyweave.report.numbers.of_paths`."""


def read(folder: Path, labels: Labels, how: Reduction) -> Reduced:
    """Reduce one record to what a panel compares."""
    record = Record.read(folder)
    run = record.provenance["run"]
    duration_s = float(run["stop_after_s"])
    is_file = run["connections"][0]["workload"].get("bytes") is not None
    if is_file:
        duration_s = min(float(record.totals["simulated_s"]), duration_s)
    bin_s = duration_s if is_file else how.bin_s
    counts: list[int] = labels["flow_counts"]
    flows = [
        _whole(record, number) if is_file else _goodput(record, number, bin_s, duration_s)
        for number in range(sum(counts))
    ]
    srtt = record.samples.filter(pl.col("path") != "")["srtt_ms"].drop_nulls().to_numpy()
    names = labels["paths"].names
    used = [path for path in run["paths"] if path["name"] in names]
    capacity = _capacities(run, labels, bin_s, duration_s)
    return Reduced(
        goodput=metrics.total_of(flows),
        capacity=capacity,
        links=_capacities(run, labels, how.bin_s, float(run["stop_after_s"])),
        others={
            "srtt_ms": srtt,
            "flow_ratio": _flow_ratio(flows, counts),
            "ramp_s": ramps_s(record, used, labels["direction"]),
            "recovery_s": recoveries_s(record, used, labels["direction"]),
            "utilisation": _utilisation(metrics.total_of(flows), [capacity[n] for n in names]),
            **link_rtts(run["paths"], how, float(run["stop_after_s"])),
            **application_quantities(record),
            **playback_quantities(record),
            **reorder_quantities(record),
            **in_order_waits(record.totals["connections"]),
            **run_totals(record.totals, labels["direction"], how.kinds),
        },
        of_paths=of_paths(record, names),
    )


def _capacities(
    run: Mapping[str, Any], labels: Labels, bin_s: float, duration_s: float
) -> dict[str, Values]:
    return {
        path["name"]: metrics.capacity_in_bins(path, labels["direction"], bin_s, duration_s)
        for path in run["paths"]
    }


def _whole(record: Record, connection: int) -> Values:
    return np.array([float(record.totals["connections"][connection]["goodput_mbps"])])


def _goodput(record: Record, connection: int, bin_s: float, duration_s: float) -> Values:
    own = record.goodput_mbps(connection)
    times, rates = own["time_s"].to_numpy(), own["goodput_mbps"].fill_null(0.0).to_numpy()
    return metrics.to_bins(times, rates, bin_s, duration_s)


def _utilisation(goodput: Values, capacities: list[Values]) -> Values:
    total = float(np.sum(metrics.total_of(capacities)))
    return np.array([float(np.sum(goodput)) / total]) if total > 0 else np.empty(0)


def _flow_ratio(flows: list[Values], sizes: list[int]) -> Values:
    """Return the first group's goodput over the last one's; empty without several groups."""
    if len(sizes) < 2:
        return np.empty(0)
    first, last = flows[: sizes[0]], flows[-sizes[-1] :]
    return metrics.ratio_of(metrics.total_of(first), metrics.total_of(last))
