"""Two parameters of an algorithm: the heatmap, the trend along one, the best cell within limits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from fluid import SMALL, fluid
from test_across import graded, run

from skyweave.algorithms import catalogue
from skyweave.errors import ConfigError
from skyweave.model import config
from skyweave.model.record import Record

pytestmark = pytest.mark.skipif(
    "bbr2" not in catalogue.names("congestion"), reason="an engine built before BBRv2"
)
REFERENCE = "bbr2(loss_thresh=0.02, probe_rtt_win_ms=5000)"
GRID = SMALL.replace(', "pairs"', "").replace(
    'congestion = "bbr"',
    'congestion = [{ name = "bbr2", probe_rtt_win_ms = [2000, 5000], loss_thresh = [0.02, 0.08] }]',
)


def tuned(run: config.Run) -> Record:
    """The fluid engine, faster and a little later with a higher loss_thresh."""
    record = fluid(run)
    choice = run.connections[0].congestion
    assert isinstance(choice, dict)
    factor = 0.3 + 5 * float(choice["loss_thresh"])
    late = 60.0 * (1.0 + (factor - 0.4) / 5) * (2.0 if choice["probe_rtt_win_ms"] == 2000 else 1.0)
    samples = record.samples.with_columns(
        pl.col("goodput_mbps") * factor,
        pl.when(pl.col("path") != "").then(late).alias("srtt_ms"),
    )
    return Record(samples, record.events, record.totals, record.provenance)


BEST = {
    "kind": "best-under", "reference": REFERENCE, "parameter": "loss_thresh", "cells": ["SL"],
    "at_least": 0.08, "band": [0.5, 1.0],
}  # fmt: skip


def test_best_within_a_limit_of_latency(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("test_across.shaped", tuned)
    best, none, small, misplaced = graded(
        tmp_path, GRID,
        BEST | {"rtt_rise_below": 0.1},
        BEST | {"rtt_rise_below": 1e-9},
        BEST | {"rtt_rise_below": 0.1, "band": [2.0, 3.0]},
        BEST | {"rtt_rise_below": 0.1, "at_least": 0.16},
    )  # fmt: skip
    assert best["said"] == "reproduced"
    assert "loss_thresh=0.08, probe_rtt_win_ms=5000" in best["ours"]
    assert best["values"]["gain"][0] == pytest.approx(0.75)
    assert best["values"]["rtt rise"][0] == pytest.approx(0.06)
    assert none["said"] == "not reproduced"
    assert small["said"] == "direction only"
    assert misplaced["said"] == "not reproduced"


def test_trend_along_a_parameter(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("test_across.shaped", tuned)
    trend = {"kind": "trend", "statistic": "mean", "cells": ["SL"]}
    rises, flat = graded(
        tmp_path, GRID, trend | {"along": "loss_thresh"}, trend | {"along": "probe_rtt_win_ms"}
    )
    assert rises["said"] == "reproduced"
    assert "over 4 cells" in rises["ours"]
    assert flat["said"] == "not reproduced"
    with pytest.raises(ConfigError, match="has no number 'loss_tresh'"):
        graded(tmp_path / "bad", GRID, trend | {"along": "loss_tresh"})


HEATMAP = f"""
[[figures]]
id = "heat"
title = "Heat"
kind = "heatmap"
x = "loss_thresh"
y = "probe_rtt_win_ms"
reference = "{REFERENCE}"
rtt_rise_below = 0.1
cells = ["SL"]
drives = "alaska"
"""


def test_heatmap(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("test_across.shaped", tuned)
    svg = (run(tmp_path, GRID + HEATMAP) / "figures" / "heat.svg").read_text()
    assert ">+75<" in svg
    assert "largest throughput among cells with p95 RTT below +10" in svg
    for old, new, said in (
        ("=5000)", "=4000)", "unknown congestion"),
        ('x = "loss_thresh"', 'x = "beta"', "has no number 'beta'"),
    ):
        with pytest.raises(ConfigError, match=said):
            run(tmp_path, GRID + HEATMAP.replace(old, new))
