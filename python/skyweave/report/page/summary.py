"""``summary.json``: the numbers of a report for programs (schema in ``docs/studies.md``)."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from skyweave.report.criteria.agreement import engines_summary
from skyweave.report.criteria.artefacts import Graded, facts, tally
from skyweave.report.criteria.evaluate import Outcome
from skyweave.report.criteria.grades import ORDER
from skyweave.report.numbers import metrics
from skyweave.report.numbers.lateness import engine_facts
from skyweave.report.numbers.panel import Panel, Results
from skyweave.report.numbers.stats import Estimate
from skyweave.report.page.behind import WAITS
from skyweave.results.pathset import PathSet
from skyweave.results.selection import Selection
from skyweave.study.language.labels import settings_of

SCHEMA = 1
PROBED = ("p5", "median", "p95")
STATISTICS = ("p5", "p25", "median", "p75", "p95", "mean", "zero_share")


def selections_of(results: Results) -> list[Selection]:
    """Return a selection for each group of drives, direction and combination of settings."""
    found = []
    for drives in results.groups:
        for direction in results.directions(drives):
            runs = [
                labels
                for _, labels in results.runs
                if labels["drives"] == drives and labels["direction"] == direction
            ]
            for chosen in settings_of(runs):
                where = {key: value for key, value in chosen.items() if value is not None}
                found.append(Selection(drives=drives, direction=direction, where=where))
    return found


def summary(
    results: Results, panels: list[Panel], outcomes: list[Outcome], artefacts: list[Graded]
) -> dict[str, Any]:
    """Return what ``summary.json`` holds."""
    frozen = results.frozen
    return {
        "schema": SCHEMA,
        "study": frozen["plan"]["study"]["name"],
        "plan_hash": frozen["plan_hash"],
        "code_version": frozen["code_version"],
        "runs": len({key for key, _ in results.runs}),
        "notes": frozen["notes"],
        **engine_facts(results).summary(),
        "engines": engines_summary(results),
        "panels": [_panel(panel) for panel in panels],
        "artefact_grades": tally(artefacts),
        "artefacts": facts(artefacts),
        "grades": {grade: sum(outcome.grade == grade for outcome in outcomes) for grade in ORDER},
        "criteria": [asdict(outcome) for outcome in outcomes],
    }


def _panel(panel: Panel) -> dict[str, Any]:
    """Return the numbers of one panel."""
    return {
        "drives": panel.drives,
        "direction": panel.direction,
        "settings": panel.settings,
        "synthetic": panel.synthetic,
        "n_drives": len(panel.names),
        "n_samples": panel.samples_each,
        "bin_s": panel.bin_s,
        "unit": panel.unit,
        "seeds": sorted(set(panel.seeds)),
        "path_sets": {cell: _cell(panel, cell) for cell in panel.goodput},
    }


def _cell(panel: Panel, cell: PathSet) -> dict[str, Any]:
    """Return the numbers of one path set."""
    if panel.is_probed:
        return _probes(panel, cell)
    facts: dict[str, Any] = {
        "transport": panel.transports[cell],
        "goodput_mbps": {
            name: _numbers(panel.estimate("goodput", cell, name)) for name in STATISTICS
        },
    }
    if all(name in panel.others for name in WAITS):
        facts["in_order_wait_ms"] = {
            name.removeprefix("in_order_wait_").removesuffix("_ms"): _numbers(
                panel.estimate(name, cell, "median")
            )
            for name in WAITS
        }
    if cell in panel.comparable:
        best = max(panel.estimate("goodput", n, "median").value for n in cell.alone)
        facts["median_over_best_single"] = (
            panel.estimate("goodput", cell, "median").value / best if best > 0 else None
        )
        for quantity in ("bonded_minus_max", "sum_minus_bonded"):
            facts[f"{quantity}_mbps"] = {
                name: _numbers(panel.estimate(quantity, cell, name))
                for name in (*STATISTICS[:-1], "max")
            }
    if cell.is_pair and panel.knows_capacity:
        a, b = (np.concatenate(panel.capacity[name]) for name in cell.names)
        facts["concurrent_outage_share"] = {
            "zero": metrics.concurrent_outage_share(a, b),
            "below_1_mbps": metrics.concurrent_outage_share(a, b, 1.0),
            "below_5_mbps": metrics.concurrent_outage_share(a, b, 5.0),
        }
    return facts


def _probes(panel: Panel, cell: PathSet) -> dict[str, Any]:
    """Return the numbers of probes over one path set."""
    return {
        "transport": panel.transports[cell],
        "round_trip_ms": {
            name: _numbers(panel.estimate("probe_ms", cell, name)) for name in PROBED
        },
        "lost_share": _numbers(panel.estimate("lost_share", cell, "mean")),
    }


def _numbers(estimate: Estimate) -> dict[str, float | None]:
    """Return value and interval, null where JSON has no number for it."""
    found = {"value": estimate.value, "low": estimate.low, "high": estimate.high}
    return {key: float(v) if np.isfinite(v) else None for key, v in found.items()}
