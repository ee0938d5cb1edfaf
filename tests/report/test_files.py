"""Reports on files: completion times, what outages cost, published marks, and pings."""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fluid import options

from skyweave.engine.simulator import simulate
from skyweave.errors import ConfigError
from skyweave.report.criteria.evaluate import evaluate
from skyweave.report.numbers.link_rtt import link_rtts
from skyweave.report.numbers.panel import Results
from skyweave.report.numbers.reduce import Reduction
from skyweave.report.numbers.run_totals import run_totals
from skyweave.report.numbers.stats import Draws
from skyweave.report.page.render import render_report
from skyweave.study.language.criteria import Published
from skyweave.study.run.session import prepare, run_study

STUDY = """
[study]
name = "files"
title = "Files over a satellite and a cable"
[report]
published = "p.toml"
bootstrap = 200
unit = "drive"
[[drives]]
name = "stin"
label = "Satellite and cable"
seeds = 4
duration_s = 60
links.sat = { downlink_mbps = 20, uplink_mbps = 20, rtt_ms = 60 }
links.terr = { downlink_mbps = 20, uplink_mbps = 20, rtt_ms = 108 }
[paths.sat]
label = "Satellite"
kind = "satellite"
rtt_ms = "handovers"
handovers = { every_s = 3, gap_s = 1, rtt_ms = [52, 68], quiet_s = 1 }
[paths.terr]
rtt_ms = 108
[settings]
file_mib = [4, 8]
forecast = "outages"
scheduler = ["minrtt", { name = "alcs", waits = false }]
[[compare]]
paths = ["singles", "sat+terr"]

[[figures]]
id = "time"
title = "Completion time"
kind = "compare"
by = "scheduler"
x = "file_mib"
quantity = "completion_s"
cells = ["sat+terr"]
drives = "stin"
[[figures]]
id = "ping"
title = "Ping"
kind = "ping"
drives = "stin"
where = { file_mib = 4, scheduler = "minrtt" }
"""
ALCS = "alcs(waits=false)"
CELL = ["sat+terr"]
CRITERIA: list[dict[str, Any]] = [
    {
        "id": "zero", "kind": "every", "quantity": "lost_in_outages", "statistic": "max",
        "relation": "<=", "limit": 0, "cells": CELL, "where": {"scheduler": ALCS},
    },
    {
        "id": "blind", "kind": "every", "quantity": "lost_in_outages", "statistic": "mean",
        "relation": "<=", "limit": 0, "cells": CELL, "where": {"scheduler": "minrtt"},
    },
    {
        "id": "first", "kind": "first-in-share", "by": "file_mib", "winner": 4, "least": True,
        "share": 1.0, "quantity": "completion_s", "cells": CELL,
    },
    {
        "id": "last", "kind": "first-in-share", "by": "file_mib", "winner": 8, "least": True,
        "share": 1.0, "quantity": "completion_s", "cells": CELL,
        "where_any": {"scheduler": ["minrtt"]},
    },
    {
        "id": "inside", "kind": "covers", "by": "scheduler", "share": 0.5,
        "quantity": "completion_s", "cells": CELL,
    },
    {
        "id": "gap", "kind": "value", "cell": "sat", "minus": "terr", "quantity": "link_rtt_ms",
        "statistic": "mean", "published": 48.0, "tolerance": 0.1,
        "where": {"file_mib": 4, "scheduler": "minrtt"},
    },
    {
        "id": "over", "kind": "bound", "cells": ["sat"], "quantity": "link_rtt_ms",
        "statistic": "over_51.5", "relation": ">=", "limit": 1.0,
        "where": {"file_mib": 4, "scheduler": "minrtt"},
    },
]  # fmt: skip
VALUES = [(4, 1.385), (4, 1000.0)]


def published(folder: Path, criteria: list[dict[str, Any]]) -> None:
    shared = {"figure": "time", "text": "t", "drives": "stin"}
    rows = [{**shared, **one} for one in criteria]
    text = "".join(
        "[[values]]\n"
        + f'figure = "time"\ncell = "sat+terr"\nof = "minrtt"\nwhere = {{ file_mib = {mib} }}\n'
        + f'quantity = "completion_s"\nstatistic = "median"\nvalue = {value}\n'
        for mib, value in VALUES
    )
    for row in rows:
        text += "[[criteria]]\n"
        for key, value in row.items():
            if isinstance(value, dict):
                inner = ", ".join(f"{k} = {json.dumps(v)}" for k, v in value.items())
                text += f"{key} = {{ {inner} }}\n"
            else:
                text += f"{key} = {json.dumps(value)}\n"
    (folder / "p.toml").write_text(text)


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("files")
    (folder / "study.toml").write_text(STUDY)
    published(folder, CRITERIA)
    run_study(folder / "study.toml", options(folder / "out", engine=simulate, jobs=2))
    render_report(folder / "out")
    return folder / "out"


def test_each_criterion_says_yes_and_no(out: Path) -> None:
    results = Results(out)
    criteria = Published.model_validate(results.frozen["published"]).criteria
    graded = {one["id"]: one for one in map(asdict, evaluate(criteria, results))}
    grades = {name: one["said"] for name, one in graded.items()}
    assert grades["zero"] == grades["first"] == grades["gap"] == grades["over"] == "reproduced"
    assert grades["blind"] == grades["last"] == "not reproduced"
    assert graded["inside"]["ours"].startswith("1 of 2 within")
    assert "1000 not in [" in graded["inside"]["note"]
    assert graded["zero"]["ours"].startswith("file_mib 4.0: 0 [0, 0], file_mib 8.0: 0 [0, 0]")


def test_goodput_of_a_file_is_its_size_over_its_time(out: Path) -> None:
    results = Results(out)
    panel = next(p for p in [results.panel(s) for s in _selections(results)] if p.file_mib == 4)
    rate = panel.pooled("goodput", "sat+terr")
    time = panel.pooled("completion_s", "sat+terr")
    assert len(rate) == len(time) == 4
    assert rate * time == pytest.approx(4 * 2**20 * 8e-6)
    assert panel.pooled("satellite_share", "sat") == pytest.approx(1)
    assert panel.pooled("satellite_share", "terr") == pytest.approx(0)


def _selections(results: Results) -> Any:
    from skyweave.report.page.summary import selections_of

    return selections_of(results)


def test_the_page_and_its_pictures(out: Path) -> None:
    page = (out / "report.html").read_text()
    assert "time for 4 MiB" in page
    assert "Downloading 4 MiB over Satellite + terr together, the median is" in page
    assert "Time without data" not in page
    assert re.search(r"An in-order reader waits \d+ ms at p99 and \d+ ms at most", page)
    assert re.search(r"\d\.\d\d times</b> \[\d+\.\d\d, \d+\.\d\d\] Satellite alone", page)
    assert "4 drives, multipath mptcp, mode v0.96, scheduler minrtt" in page
    for name in ("time", "ping"):
        assert (out / "figures" / f"{name}.png").stat().st_size > 5_000
    drawn = (out / "figures" / "time.svg").read_text()
    assert "published" in drawn
    assert "completion time (s)" in drawn


def test_the_command_line_counts_the_grades(out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from skyweave.cli.report import report

    report(out)
    said = capsys.readouterr().out
    words = " ".join(said.split())
    assert re.search(r"Artefacts: \d+ preliminary", words)
    assert "Preliminary: 4 drives where 30 are wanted." in words
    assert "not recorded on a road" in words
    assert "time for 4" in said


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"where_any": {"speed": [1]}}, "unknown setting 'speed'"),
        ({"by": "sheduler"}, "did you mean 'scheduler'"),
        ({"cells": ["sat+ter"]}, "no run of path set 'sat.ter'"),
    ],
)
def test_criteria_that_cannot_be_filled(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    (tmp_path / "study.toml").write_text(STUDY)
    published(tmp_path, [{**CRITERIA[3], **change}])
    with pytest.raises(ConfigError, match=said):
        prepare(tmp_path / "study.toml", options(tmp_path / "out"))


def test_totals_of_a_run() -> None:
    path = {
        "sent_packets": 100, "retransmitted_packets": 20, "outage_retransmitted_packets": 5,
        "unique_bytes": 300,
    }  # fmt: skip
    connection = {
        "completion_s": None,
        "longest_stall_s": 1.5,
        "paths": {"sat": path, "terr": {**path, "unique_bytes": 100}},
    }
    links = {"sat.down": {"dropped_outage": 7}, "sat.up": {"dropped_outage": 9}}
    found = run_totals({"connections": [connection], "links": links}, "down", {"sat": "satellite"})
    assert np.isinf(found["completion_s"]).all()
    told = {key: list(value) for key, value in found.items() if key != "completion_s"}
    assert told == {
        "satellite_share": [0.75], "retransmissions": [40], "retransmission_rate": [0.2],
        "outage_retransmission_rate": [0.05], "outage_share": [0.25], "lost_in_outages": [7],
        "longest_stall_s": [1.5],
    }  # fmt: skip
    silent = {**path, "outage_retransmitted_packets": None}
    live = run_totals({"connections": [{"completion_s": 2, "paths": {"sat": silent}}]}, "down", {})
    assert not len(live["longest_stall_s"])
    assert not len(live["outage_share"])
    assert not len(live["satellite_share"])
    assert list(live["completion_s"]) == [2]


def test_pings_are_lost_in_outages_and_spans_are_of_windows() -> None:
    link = {
        "delay": {"kind": "steps", "times_s": [0, 10, 20], "ms": [20, 25, 30], "repeat_s": None},
        "outages": [{"start_s": 10, "end_s": 12}],
    }
    how = Reduction(1.0, 15.0, {})
    found = link_rtts([{"name": "a", "down": link, "up": link}], how, 30)
    assert len(found["link_rtt_ms"]) == 28
    assert set(found["link_rtt_ms"]) == {40, 50, 60}
    assert list(found["link_rtt_span_ms"]) == [10, 10]


def test_the_share_above_a_limit() -> None:
    draws = Draws(2, 100)
    found = draws.estimate([np.array([1.0, 2.0]), np.array([3.0, 4.0])], "over_2.5")
    assert found.value == 0.5
    assert (found.low, found.high) == (0, 1)
