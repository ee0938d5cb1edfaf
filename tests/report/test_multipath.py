"""Multipath TCP and multipath QUIC over the same paths, distinguished; and the toy of Figure 6."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import test_across
from fluid import SMALL, fluid, options
from test_across import graded

from skyweave.engine.simulator import simulate
from skyweave.errors import ConfigError
from skyweave.model import config
from skyweave.model.record import Record
from skyweave.report.page.render import render_report
from skyweave.study.compile.drives import default_makers
from skyweave.study.run.session import prepare, run_study

BOTH = (
    SMALL.replace('["singles", "pairs"]', '["SL+VZ"]')
    + 'transport = "mptcp"\nmode = "upstream"\nscheduler = "upstream"\nsend_buffer_mb = 1\n'
    + '[[compare]]\npaths = ["SL+VZ"]\ntransport = "mpquic"\nscheduler = "roundrobin"\n'
)
"""Each with settings of its own, which do not distinguish them beyond their names."""


def slower(run: config.Run) -> Record:
    """The fluid engine, in which MP-QUIC gets four fifths and MPTCP half."""
    record = fluid(run)
    factor = {"tcp": 1.0, "mptcp": 0.5, "mpquic": 0.8}[run.connections[0].transport]
    samples = record.samples.with_columns(pl.col("goodput_mbps") * factor)
    return Record(samples, record.events, record.totals, record.provenance)


@pytest.fixture
def _slower(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(test_across, "shaped", slower)


@pytest.mark.usefixtures("_slower")
def test_runs_are_compared_by_multipath(tmp_path: Path) -> None:
    wanted = {
        "kind": "between", "by": "multipath", "first": "mpquic", "second": ["mptcp"],
        "statistic": "mean", "relation": ">", "limit": 1.5,
    }  # fmt: skip
    more, turned = graded(tmp_path, BOTH, wanted, wanted | {"first": "mptcp", "second": ["mpquic"]})
    ((ratio, _, _),) = more["values"].values()
    assert ratio == pytest.approx(0.8 / 0.5)
    assert more["said"] == "reproduced"
    assert turned["said"] == "not reproduced"


@pytest.mark.usefixtures("_slower")
def test_a_selection_chooses_one(tmp_path: Path) -> None:
    mean = {"kind": "value", "cell": "SL+VZ", "statistic": "mean", "published": 1.0}
    quic, tcp = (mean | {"where": {"multipath": name}} for name in ("mpquic", "mptcp"))
    found = [next(iter(one["values"].values()))[0] for one in graded(tmp_path, BOTH, quic, tcp)]
    assert found[0] / found[1] == pytest.approx(0.8 / 0.5)
    with pytest.raises(ConfigError, match=r"differ in multipath \(mptcp, mpquic\); choose one"):
        graded(tmp_path / "open", BOTH, mean)
    unknown = mean | {"where": {"multipath": "quic"}}
    with pytest.raises(ConfigError, match="no run is on drives 'alaska'"):
        graded(tmp_path / "unknown", BOTH, unknown)


FIGURE = """
[[figures]]
id = "by"
title = "By"
kind = "compare"
drives = "alaska"
by = "multipath"
cells = ["SL+VZ"]
"""


@pytest.mark.usefixtures("_slower")
def test_a_figure_compares_by_multipath(tmp_path: Path) -> None:
    out = test_across.run(tmp_path, BOTH + FIGURE)
    svg = (out / "figures" / "by.svg").read_text()
    assert ">mptcp<" in svg
    assert ">mpquic<" in svg


def test_a_path_alone_is_measured_with_tcp_where_both_were_run(tmp_path: Path) -> None:
    text = SMALL.replace('"pairs"]', '"SL+VZ"]') + 'transport = ["auto", "mpquic"]\n'
    (tmp_path / "study.toml").write_text(text)
    run_study(tmp_path / "study.toml", options(tmp_path / "out", engine=slower))
    render_report(tmp_path / "out")
    facts = json.loads((tmp_path / "out" / "summary.json").read_text())
    told = [
        {name: found["transport"] for name, found in panel["path_sets"].items()}
        for panel in facts["panels"]
    ]
    assert told == [
        {"SL": "tcp", "VZ": "tcp", "SL+VZ": "mptcp"},
        {"SL": "tcp", "VZ": "tcp", "SL+VZ": "mpquic"},
    ]


def test_the_toy_of_figure_6_is_reproduced(tmp_path: Path) -> None:
    """Eight runs of 8 s over paths that are replaced under way, all criteria of the study."""
    toy = Path(__file__).parents[2] / "studies" / "mpquic-lte" / "toy.toml"
    real: dict[str, Any] = {"engine": simulate, "makers": default_makers(), "jobs": 2, "seeds": 2}
    assert prepare(toy, options(tmp_path, **real)).size["runs"] == 8
    run_study(toy, options(tmp_path, **real))
    rendered = render_report(tmp_path)
    grades = {outcome.id: outcome.said for outcome in rendered.outcomes}
    assert len(grades) == 4 * 7
    assert {name for name, grade in grades.items() if grade != "reproduced"} == set()
    assert (tmp_path / "figures" / "s2-f6.svg").exists()
    assert (tmp_path / "figures" / "s2-f6-bbr.svg").exists()
