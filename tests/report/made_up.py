"""Two made-up engines that differ by known numbers, and a study that runs both."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
from fluid import fluid, options

from skyweave.model import config
from skyweave.model.record import SAMPLE_SCHEMA, Record
from skyweave.report.numbers.panel import Results
from skyweave.study.run.session import run_study

STUDY = """
[study]
name = "two"
title = "Two engines"

[[drives]]
name = "steady"
label = "Steady links"
seeds = 2
duration_s = 10
[drives.links.SL]
downlink_mbps = 40
uplink_mbps = 10
rtt_ms = 40
[drives.links.VZ]
downlink_mbps = 10
uplink_mbps = 10
rtt_ms = 60

[[drives]]
name = "gap"
label = "A gap"
seeds = 2
duration_s = 10
[drives.links.SL]
downlink_mbps = 20
uplink_mbps = 10
rtt_ms = 40
outages = [{ start_s = 4, end_s = 6 }]
[drives.links.VZ]
downlink_mbps = 20
uplink_mbps = 10
rtt_ms = 60

[paths.SL]
label = "Starlink"
kind = "satellite"
rtt_ms = "trace"

[paths.VZ]
kind = "cellular"
rtt_ms = "trace"

[settings]
mode = "upstream"
congestion = ["cubic", "bbr"]
engine = ["sim", "live"]
"""
FIGURE = '\n[[figures]]\nid = "agree"\ntitle = "Sim & live"\nkind = "engines"\n'
NULL = ("lost_packets", "reorder_buffer_bytes", "queue_bytes", "send_window_bytes")
RATIOS = {("cubic", 1): 0.98, ("cubic", 2): 1.25, ("bbr", 1): 1.02, ("bbr", 2): 0.8}
"""Live ÷ sim by congestion control and number of paths."""


def simulated(run: config.Run) -> Record:
    """The fluid engine with round trips of 50 ms (100 ms in the last tenth) and 5 retransmitted."""
    record = fluid(run)
    of_path = pl.col("path") != ""
    late = pl.col("time_s") > 0.9 * run.stop_after_s
    samples = record.samples.with_columns(
        pl.when(of_path).then(pl.when(late).then(100.0).otherwise(50.0)).alias("srtt_ms"),
        pl.when(of_path).then(5.0).alias("retransmitted_packets"),
    )
    return replace(record, samples=samples)


def live(run: config.Run) -> Record:
    """As simulated, times a known ratio; half as late; late by 3 ms on seed 2; nulls."""
    record = simulated(run)
    ratio = RATIOS[str(run.connections[0].congestion), len(run.paths)]
    samples = record.samples.with_columns(
        pl.col("goodput_mbps") * ratio,
        pl.col("srtt_ms") * 0.5,
        pl.col("retransmitted_packets") * 4,
        pl.when(pl.col("path") == "VZ")
        .then(pl.col("delivered_bytes") * 2)
        .otherwise(pl.col("delivered_bytes")),
        *(pl.lit(None, dtype=pl.Float64()).alias(name) for name in NULL),
    ).select(list(SAMPLE_SCHEMA))
    provenance: dict[str, Any] = {
        "engine": "live",
        "kernel": "6.18.5",
        "source": "own",
        "lateness_us": {"p50": 30.0, "p99": 3000.0 if run.seed == 2 else 400.0, "max": 9e3},
    }
    totals: dict[str, Any] = {"simulated_s": None, "link_packets": None, "connections": [{}]}
    return replace(record, samples=samples, totals=totals, provenance=provenance)


def run(folder: Path, study: str = STUDY, **changed: Any) -> Results:
    """Run a study on both made-up engines and return its results."""
    folder.mkdir(exist_ok=True)
    (folder / "study.toml").write_text(study)
    usual = {"engine": simulated, "live": live}
    run_study(folder / "study.toml", options(folder / "out", **(usual | changed)))
    return Results(folder / "out")
