"""A study over real networks from its plan to its page; what its networks carry is made up."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from roads import road

from skyweave.data import load
from skyweave.engine.simulator import simulate
from skyweave.errors import ConfigError
from skyweave.field import probes
from skyweave.field.beside import COUNTS, UPLINKS
from skyweave.model import config
from skyweave.model.record import Record
from skyweave.report.page.render import render_report
from skyweave.study import StudyOptions, run_study
from skyweave.telemetry.probes.pinger import Counts, Sample

ROADS = {"a": road("a", 20.0, 5.0, 40.0), "b": road("b", 8.0, 4.0, 60.0)}
BEGAN = 1_800_000_000.0
STUDY = """
[study]
name = "evening"
title = "An evening"
[[drives]]
name = "tonight"
uplinks = ["a", "b"]
duration_s = 4
seeds = 2
[paths.a]
rtt_ms = "trace"
[paths.b]
rtt_ms = "trace"
[settings]
engine = "field"
mode = "upstream"
scheduler = "upstream"
congestion = "default"
[[compare]]
paths = ["singles", "pairs"]
[[compare]]
paths = "singles"
workload = { kind = "probe", every_s = 0.5 }
"""


def made(run: config.Run) -> Record:
    """Be an engine: the simulator over links that the study does not know, or made-up probes."""
    names = [path.name for path in run.paths]
    table = pl.DataFrame(
        [(at, name, 1000 * at, 500_000 * at, None) for at in range(5) for name in names]
        + [(at + 0.5, name, None, None, 40.0 + at) for at in range(4) for name in names],
        schema=COUNTS, orient="row",
    )  # fmt: skip
    facts = {
        "engine": "field", "kernel": "6.18", "uplinks": {n: {"device": f"{n}0"} for n in names},
        "server": {"address": "192.0.2.7", "kernel": "6.1", "skyweave": "0"},
        "began_unix_s": BEGAN, "epoch_unix_s": BEGAN + 1, "seed": run.seed,
    }  # fmt: skip
    if run.connections[0].workload.kind == "probe":
        rtts = [30.0, 40.0, None, 50.0]
        samples = {n: [Sample(BEGAN + at, n, at, rtts[at]) for at in range(4)] for n in names}
        counts = {n: Counts(sent=4, answered=3, lost=1) for n in names}
        found = probes.gather(run, probes.Probed(BEGAN, samples, counts))
        return Record(*found[:3], facts, {**found[3], UPLINKS: table})
    known = {"paths": tuple(ROADS[name] for name in names)}
    one = run.connections[0].model_copy(update={"congestion": "cubic"})
    record = simulate(run.model_copy(update={**known, "connections": (one,)}))
    return Record(record.samples, record.events, record.totals, facts, {UPLINKS: table})


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("evening")
    file = folder / "study.toml"
    file.write_text(STUDY)
    run_study(file, StudyOptions(out=folder / "out", real=made))
    return folder / "out"


def test_the_report_says_rates_round_trips_and_over_what(out: Path) -> None:
    rendered = render_report(out)
    summary = json.loads((out / "summary.json").read_text())
    rates, trips = sorted(summary["panels"], key=lambda one: "probe" in one["settings"]["workload"])
    assert 20 < rates["path_sets"]["a+b"]["goodput_mbps"]["median"]["value"] < 28
    assert "concurrent_outage_share" not in rates["path_sets"]["a+b"]  # nobody knows it
    probed = trips["path_sets"]["a"]
    assert "goodput_mbps" not in probed
    assert probed["round_trip_ms"]["p5"]["value"] == 30.0
    assert probed["lost_share"]["value"] == 0.25
    assert summary["networks"] == ["a by a0", "b by b0"]
    assert summary["servers"] == ["192.0.2.7 (Linux 6.1, skyweave 0)"]
    assert summary["flagged_runs"] == []
    page = (out / "report.html").read_text()
    assert "Round trips of probes" in page
    assert "field (real networks)" in page
    assert any("Real networks cannot be repeated" in one for one in rendered.caveats)
    kinds = {one.name for one in (out / "figures").iterdir()}
    assert {"tonight-down-boxes.svg", "tonight-down-cdf.svg"} <= kinds
    assert not {one for one in kinds if "outage" in one or "timeline" in one}


def test_rounds_are_run_one_after_the_other_and_each_leaves_a_drive(tmp_path: Path) -> None:
    seeds = []

    def noted(run: config.Run) -> Record:
        seeds.append(run.seed)
        return made(run)

    file = tmp_path / "study.toml"
    file.write_text(STUDY)
    run_study(file, StudyOptions(out=tmp_path / "out", real=noted))
    assert seeds == [1] * 5 + [2] * 5
    drives = sorted((tmp_path / "out" / "drives").iterdir())
    assert len(drives) == 6  # probes leave none
    (whole,) = load(next(one for one in drives if one.name.startswith("a+b-mptcp-down-1")))
    path = whole.paths["a"]
    assert path.downlink_mbps is not None
    assert path.downlink_mbps.values[0] == pytest.approx(4.0)  # 500,000 bytes in a second
    assert path.uplink_mbps is None  # it carried acknowledgements alone
    assert path.rtt_ms is not None
    assert path.rtt_ms.values[0] == 41.0  # what came before the run's second 0 is left out


def test_options_of_real_networks_are_for_them(tmp_path: Path) -> None:
    file = tmp_path / "study.toml"
    links = "{ downlink_mbps = 9, uplink_mbps = 9, rtt_ms = 9 }"
    text = STUDY.split("[[compare]]")[0].replace('"field"', '"sim"').replace('"default"', '"cubic"')
    file.write_text(text.replace('uplinks = ["a", "b"]', f"links = {{ a = {links}, b = {links} }}"))
    for more in ({"server": "192.0.2.7"}, {"uplinks": {"a": "eth0"}}):
        with pytest.raises(ConfigError, match="no runs of engine 'field'"):
            run_study(file, StudyOptions(out=tmp_path / "out", **more))
    file.write_text(file.read_text().replace('"cubic"', '"default"'))
    with pytest.raises(ConfigError, match="name one for engine 'sim'"):
        run_study(file, StudyOptions(out=tmp_path / "out"))
