"""Criteria and figures over settings: each says yes and no where it should."""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from fluid import SMALL, fluid, options, tree

from skyweave.errors import ConfigError, ResultsError
from skyweave.model import config
from skyweave.model.record import Record
from skyweave.report.criteria.evaluate import evaluate
from skyweave.report.figures.distribution import short_names
from skyweave.report.numbers import metrics
from skyweave.report.numbers.panel import Results
from skyweave.report.page.render import render_report
from skyweave.study.language.criteria import Published
from skyweave.study.run.session import prepare, run_study

SHARES = {"bbr": 1.0, "cubic": 0.5, "newreno": 0.4}
SCHEDULERS = {"blest": 1.0, "minrtt": 0.98}


def shaped(run: config.Run) -> Record:
    """The fluid engine with known differences between algorithms, buffers, losses and flows."""
    record = fluid(run)
    first = run.connections[0]
    name = first.congestion if isinstance(first.congestion, str) else first.congestion["name"]
    factor = SHARES[str(name)]
    if first.transport == "mptcp":
        factor *= SCHEDULERS[str(first.scheduler)]
        factor *= min(first.send_buffer_bytes / 4e6, 1.0)
    loss = run.paths[0].down.loss
    if isinstance(loss, config.Bernoulli) and name != "bbr":
        factor *= 1 - 10 * loss.ratio
    if isinstance(first.congestion, dict):
        factor *= 0.5 + float(first.congestion["beta"])
    samples = record.samples.with_columns(pl.col("goodput_mbps") * factor)
    samples = samples.with_columns(
        pl.when(pl.col("path") != "").then(50.0 + 10 * factor).alias("srtt_ms")
    )
    frames = [
        samples.with_columns(
            pl.lit(number, dtype=pl.Int32).alias("connection"),
            pl.col("goodput_mbps") * SHARES.get(str(flow.congestion), 1.0) / len(run.connections),
        )
        for number, flow in enumerate(run.connections)
    ]
    several = len(run.connections) > 1
    return Record(
        pl.concat(frames) if several else samples,
        record.events,
        record.totals,
        record.provenance,
    )


BASE = SMALL.replace('congestion = "bbr"', 'congestion = ["bbr", "cubic", "newreno"]')
GRID = BASE.replace("buffer_mb", "buffer_mb") + 'scheduler = ["blest", "minrtt"]\n'
LOSSES = BASE.replace(', "pairs"', "") + "loss = [0, 0.02, 0.05]\n"
FLOWS = SMALL + (
    '[[compare]]\npaths = "SL"\n'
    'flows = [{ congestion = ["cubic", "newreno"], count = 2 }, { congestion = "bbr" }]\n'
)
BUFFERS = SMALL + "buffer_mb = [1, 4]\n"


def graded(folder: Path, study: str, *criteria: dict[str, Any]) -> list[dict[str, Any]]:
    """Run a study on the shaped engine and return its graded criteria."""
    compute(folder, study + '\n[report]\npublished = "p.toml"\nbootstrap = 200\n', criteria)
    results = Results(folder / "out")
    published = Published.model_validate(results.frozen["published"])
    return [asdict(outcome) for outcome in evaluate(published.criteria, results)]


def run(folder: Path, study: str, seeds: int = 4) -> Path:
    """Run a study on the shaped engine, make its report, and return the results folder."""
    compute(folder, study, (), seeds)
    render_report(folder / "out")
    return folder / "out"


def compute(folder: Path, study: str, criteria: tuple[dict[str, Any], ...], seeds: int = 4) -> None:
    usual = {"id": "c", "figure": "f", "text": "t", "drives": "alaska"}
    blocks = [
        "[[criteria]]\n" + "".join(f"{k} = {toml(v)}\n" for k, v in (usual | one).items())
        for one in criteria
    ]
    folder.mkdir(exist_ok=True)
    (folder / "p.toml").write_text("\n".join(blocks))
    (folder / "study.toml").write_text(study)
    run_study(folder / "study.toml", options(folder / "out", engine=shaped, seeds=seeds))


def toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{k} = {toml(v)}" for k, v in value.items()) + " }"
    return json.dumps(value)


def test_first_in_share(tmp_path: Path) -> None:
    wanted = {"kind": "first-in-share", "by": "congestion", "share": 0.9}
    yes, no = graded(tmp_path, GRID, wanted | {"winner": "bbr"}, wanted | {"winner": "cubic"})
    assert yes["said"] == "reproduced"
    assert "of 2 cells" in yes["ours"]  # one pair, two schedulers
    assert no["said"] == "not reproduced"


def test_spread(tmp_path: Path) -> None:
    wanted = {"kind": "spread", "by": "scheduler", "than": "congestion"}
    turned = {"kind": "spread", "by": "congestion", "than": "scheduler"}
    yes, no = graded(tmp_path, GRID, wanted, turned)
    assert yes["said"] == "reproduced"
    assert yes["values"]["scheduler"][0] == pytest.approx(0.02, abs=0.002)
    assert no["said"] == "not reproduced"


def test_between_every_remaining_combination(tmp_path: Path) -> None:
    wanted = {
        "kind": "between", "by": "congestion", "first": "bbr", "second": ["cubic"],
        "cells": ["SL"], "relation": ">=", "limit": 2.2,
    }  # fmt: skip
    some, every = graded(tmp_path, LOSSES, wanted | {"where_any": {"loss": [0.02, 0.05]}}, wanted)
    assert some["said"] == "reproduced"
    assert "(loss 0.02)" in some["ours"]
    assert "2.00" in every["ours"] or "bbr ÷ cubic (loss 0.0): 2" in every["ours"]
    assert every["said"] == "not reproduced"


def test_between_with_a_published_band(tmp_path: Path) -> None:
    wanted = {
        "kind": "between", "by": "send_buffer_mb", "first": 4, "second": [1],
        "quantity": "gain", "relation": ">", "limit": 1.0,
    }  # fmt: skip
    inside, outside = graded(
        tmp_path, BUFFERS, wanted | {"band": [3.0, 5.0]}, wanted | {"band": [5.0, 9.0]}
    )
    assert inside["said"] == "reproduced"
    assert outside["said"] == "direction only"


def test_overlap_of_a_setting_that_changes_nothing(tmp_path: Path) -> None:
    wanted = {
        "kind": "overlap", "cells": ["SL"], "where": {"congestion": "bbr"},
        "by": "loss", "first": 0.0, "second": 0.05,
    }  # fmt: skip
    (same,) = graded(tmp_path, LOSSES, wanted)
    assert same["said"] == "reproduced"
    assert set(same["values"]) == {"0.0 (SL)", "0.05 (SL)"}


def test_gain_share_is_of_what_the_best_value_gains(tmp_path: Path) -> None:
    wanted = {
        "kind": "gain-share", "cells": ["SL"], "where": {"congestion": "cubic"},
        "by": "loss", "first": 0.02, "base": 0.05, "best": 0.0,
    }  # fmt: skip
    half, most = graded(tmp_path, LOSSES, wanted | {"share": 0.5}, wanted | {"share": 0.7})
    assert half["values"]["SL"][0] == pytest.approx(0.6, abs=0.01), "0.5 is the base, 0.8 of 1"
    assert half["said"] == "reproduced"
    assert most["said"] == "not reproduced"


def test_trend(tmp_path: Path) -> None:
    wanted = {"kind": "trend", "along": "loss", "where": {"congestion": "cubic"}, "cells": ["SL"]}
    falls, rises = graded(tmp_path, LOSSES, wanted | {"direction_of_trend": "falls"}, wanted)
    assert falls["said"] == "reproduced"
    assert falls["values"] == rises["values"]
    assert rises["said"] == "not reproduced"


def test_flows_are_compared(tmp_path: Path) -> None:
    wanted = {
        "kind": "between", "by": "flows", "cells": ["SL"], "quantity": "flow_ratio",
        "where": {"congestion": "mixed"}, "relation": ">", "limit": 1.2,
        "first": "2 cubic + 1 bbr", "second": ["2 newreno + 1 bbr"],
    }  # fmt: skip
    (found,) = graded(tmp_path, FLOWS, wanted)
    assert found["said"] == "reproduced"
    assert found["ours"].endswith("1.25 [1.25, 1.25]")  # 2 · 0.5 / 1 against 2 · 0.4 / 1


def test_nothing_to_compare(tmp_path: Path) -> None:
    study = SMALL + 'congestion = "cubic"\nbuffer_mb = 1\n'
    study += '[[compare]]\ncongestion = "bbr"\nbuffer_mb = 4\n'
    wanted = {
        "kind": "between", "by": "congestion", "first": "bbr", "second": ["cubic"],
        "relation": ">", "limit": 1.0,
    }  # fmt: skip
    with pytest.raises(ResultsError, match="no two of its runs differ in congestion alone"):
        graded(tmp_path, study, wanted)


def test_kendall_within_groups() -> None:
    x = np.array([1.0, 2.0, 3.0, 1.0, 2.0])
    groups = np.array([0, 0, 0, 1, 1])
    assert metrics.kendall(x, np.array([1.0, 2, 3, 9, 8]), groups) == pytest.approx(2 / 4)
    assert metrics.kendall(x, np.zeros(5), groups) == 0
    assert metrics.kendall(x[:1], x[:1], groups[:1]) == 0


def test_ratio_of_groups() -> None:
    ratio = metrics.ratio_of(np.array([2.0, 0, 0, 1]), np.array([1.0, 0, 1, 0]))
    assert ratio.tolist() == [2, 0, 1000]


def test_short_names_keep_what_differs() -> None:
    assert short_names(["x(a=1)"]) == ("", ["x(a=1)"])


FIGURES = """
[[figures]]
id = "sweep"
title = "Sweep"
kind = "sweep"
x = "loss"
by = "congestion"
quantity = "share_of_max"
cells = ["SL"]
drives = "alaska"

[[figures]]
id = "beside"
title = "Beside"
kind = "distribution"
by = "congestion"
cells = ["SL"]
drives = "alaska"
where = { loss = 0.0 }
beside = [{ drives = "alaska", where = { loss = 0.05 } }]
"""


def test_figures_are_drawn_and_the_same_again(tmp_path: Path) -> None:
    out = run(tmp_path, LOSSES + FIGURES)
    before = tree(out)
    assert {"figures/sweep.png", "figures/beside.svg"} <= set(before)
    assert "random loss 5 %" in (out / "figures" / "beside.svg").read_text()
    assert "more combinations of settings" in (out / "report.html").read_text()
    render_report(out)
    assert tree(out) == before


def test_a_sweep_of_one_drive_shows_its_points_without_intervals(tmp_path: Path) -> None:
    out = run(tmp_path, LOSSES + FIGURES, seeds=1)
    svg = (out / "figures" / "sweep.svg").read_text()
    assert max(float(tick) for tick in re.findall(r">(\d+)</text>", svg)) >= 40


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('x = "loss"\n', "", "kind 'sweep' needs x"),
        (
            'kind = "sweep"',
            'kind = "boxes"',
            "belongs to kind 'settings', 'sweep', 'distrib",
        ),
        ('by = "congestion"\nq', 'by = "congestoin"\nq', "did you mean 'congestion'"),
        ('cells = ["SL"]', 'cells = ["SX"]', "no run of path set 'SX'"),
        ('beside = [{ drives = "alaska"', 'beside = [{ drives = "alasak"', "did you mean 'alaska'"),
        ("loss = 0.05 } }", "loss = 0.04 } }", "no run is on drives 'alaska'"),
        ('x = "loss"\nby = "congestion"', 'x = "loss"', "its runs differ in congestion"),
    ],
)
def test_bad_figures(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert old in FIGURES
    (tmp_path / "study.toml").write_text(LOSSES + FIGURES.replace(old, new, 1))
    with pytest.raises(ConfigError) as caught:
        prepare(tmp_path / "study.toml", options(tmp_path / "out"))
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("criterion", "said"),
    [
        ({"kind": "spread", "by": "schedular", "than": "congestion"}, "did you mean 'scheduler'"),
        (
            {"kind": "first-in-share", "by": "congestion", "winner": "bbrr", "share": 0.9},
            "unknown congestion 'bbrr': did you mean 'bbr'",
        ),
    ],
)
def test_bad_criteria(tmp_path: Path, criterion: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        graded(tmp_path, GRID, criterion)
