"""Competing flows, described links, swept loss, grids of parameters, and where a test starts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fluid import SMALL, options

from skyweave.errors import ConfigError
from skyweave.model import config
from skyweave.model.drive import Drive, PathTrace, Series
from skyweave.study.compile.drives import recoupled
from skyweave.study.language.choices import spread
from skyweave.study.language.plan import load_plan
from skyweave.study.language.starts import StartRule, begin_s, triggers_s
from skyweave.study.run.session import Prepared, prepare
from skyweave.synthesis.preset import load_preset

FLOWS = """
[[compare]]
paths = "SL"
flows = [{ congestion = ["cubic", "newreno"], count = 2, stagger_s = 0.5 },
         { congestion = "bbr", start_s = 1 }]
"""
LINKS = """
[study]
name = "links"
title = "Described links"
[[drives]]
name = "wired"
seeds = 2
duration_s = 10
[drives.links.UP]
downlink_mbps = 100
uplink_mbps = { times_s = [0, 2.5], values = [20, 5] }
rtt_ms = 30
[paths.UP]
rtt_ms = "trace"
loss = "trace"
[settings]
direction = "up"
"""


def prepared(folder: Path, text: str) -> Prepared:
    file = folder / "study.toml"
    file.write_text(text)
    return prepare(file, options(folder / "out"))


def refusal(folder: Path, text: str) -> str:
    file = folder / "study.toml"
    file.write_text(text)
    with pytest.raises(ConfigError) as caught:
        load_plan(file)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_flows_compete_in_one_run(tmp_path: Path) -> None:
    jobs = prepared(tmp_path, SMALL + FLOWS).jobs[6:]
    assert len(jobs) == 2 * 2
    connections = jobs[0].run.connections
    assert [c.congestion for c in connections] == ["cubic", "cubic", "bbr"]
    assert [c.start_s for c in connections] == [0.0, 0.5, 1.0]
    assert [c.workload.duration_s for c in connections] == [10.0, 9.5, 9.0]
    assert {c.transport for c in connections} == {"tcp"}
    assert jobs[0].labels["flows"] == "2 cubic + 1 bbr"
    assert jobs[1].labels["flows"] == "2 newreno + 1 bbr"
    assert jobs[0].labels["congestion"] == "mixed"
    assert prepared(tmp_path, SMALL).jobs[0].labels["flows"] == "one"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("count = 2", "count = 0", "greater than or equal to 1"),
        ("count = 2", "cuont = 2", "unknown key 'cuont': did you mean 'count'"),
        ('"newreno"', '"newrino"', "newreno"),
        ('paths = "SL"\nflows', 'paths = "SL"\ncongestion = "bbr"\nflows', "remove one of them"),
    ],
)
def test_bad_flows(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert old in FLOWS
    message = refusal(tmp_path, SMALL + FLOWS.replace(old, new))
    assert said in message
    assert "study.toml:" in message


def test_flows_that_open_too_late(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"open up to 20 s after the beginning.*lower start_s"):
        prepared(tmp_path, SMALL + FLOWS.replace("start_s = 1", "start_s = 20"))


def test_described_links(tmp_path: Path) -> None:
    jobs = prepared(tmp_path, LINKS).jobs
    assert [job.run.seed for job in jobs] == [1, 2]
    path = jobs[0].run.paths[0]
    assert isinstance(path.up.capacity, config.RateSteps)
    steps = dict(zip(path.up.capacity.times_s, path.up.capacity.mbps, strict=True))
    assert (steps[0], steps[2], steps[2.5], steps[9]) == (20, 20, 5, 5)
    assert isinstance(path.up.delay, config.DelaySteps)
    assert set(path.up.delay.ms) == {15.0}
    assert jobs[0].run.stop_after_s == 10
    assert jobs[0].labels["origin"] == "described in the study, seed 1"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("[20, 5]", "[20]", "values must be as many as times_s"),
        ("[0, 2.5]", "[1, 2.5]", "times_s must begin with 0 and rise"),
        ("rtt_ms = 30", "rtt_ms = 30\nloss = 2", "loss is a share of packets"),
        ("uplink_mbps", "uplnk_mbps", "did you mean 'uplink_mbps'"),
        ("duration_s = 10\n", "", "links need duration_s"),
        ("seeds = 2", 'seeds = 2\npreset = "alaska"', "one of preset, data, links, radio and"),
        ("seeds = 2", "seeds = 2\nrtt_coupling = 0", "rtt_coupling belongs to a preset"),
    ],
)
def test_bad_links(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert old in LINKS
    assert said in refusal(tmp_path, LINKS.replace(old, new))


def test_swept_loss_replaces_that_of_the_path(tmp_path: Path) -> None:
    jobs = prepared(tmp_path, LINKS + 'loss = ["path", 0, 0.02]\n').jobs
    assert [job.labels["loss"] for job in jobs[:3]] == ["path", 0.0, 0.02]
    kinds = [type(job.run.paths[0].up.loss).__name__ for job in jobs[:3]]
    assert kinds == ["LossSteps", "NoLoss", "Bernoulli"]
    assert "loss" in refusal(tmp_path, LINKS + "loss = 1.5\n")


def test_a_grid_expands() -> None:
    grid = spread({"name": "x", "a": [1, 2], "b": [3, 4]})
    assert [(one["a"], one["b"]) for one in grid] == [(1, 3), (1, 4), (2, 3), (2, 4)]
    assert spread(["bbr", {"name": "x"}]) == ["bbr", {"name": "x"}]
    with pytest.raises(ValueError, match="list of values of 'a' is empty"):
        spread({"name": "x", "a": []})


def test_a_bad_grid_has_its_line(tmp_path: Path) -> None:
    text = SMALL.replace('congestion = "bbr"', 'congestion = { name = "bbr", gain = [] }')
    assert ":21: the list of values of 'gain' is empty" in refusal(tmp_path, text)


def rtt(*values: float) -> Series:
    return Series(np.arange(float(len(values))), np.array(values))


def test_latency_triggers() -> None:
    rule = StartRule(rule="latency")
    assert triggers_s(rtt(*[30.0] * 6, 60.0, 60.0, 30.0), rule).tolist() == [6.0]
    assert triggers_s(rtt(30, 30, 90, 30), rule).tolist() == []  # no 5 s yet
    gap = [30.0] * 5 + [np.nan, 61.0, np.nan]
    assert triggers_s(rtt(*gap), rule).tolist() == [6.0]
    steeper = StartRule(rule="latency", factor=3)
    assert triggers_s(rtt(*[30.0] * 6, 60.0), steeper).tolist() == []
    assert steeper.label() == "latency(factor=3, window_s=5)"


def test_a_test_starts_inside_its_drive() -> None:
    values = np.full(200, 30.0)
    values[[20, 150]] = 90.0
    drive = Drive("d", "test", {"p": PathTrace(rtt_ms=Series(np.arange(200.0), values))})
    random = begin_s(drive, ("p",), StartRule(rule="random"), 20)
    assert 0 <= random <= 180
    after = 150.0 if random > 20 else 20.0
    assert begin_s(drive, ("p",), StartRule(rule="latency"), 20) == after
    assert begin_s(drive, ("p",), StartRule(rule="latency"), 100) == 20.0
    assert begin_s(drive, ("p",), StartRule(), 20) == 0.0
    with pytest.raises(ConfigError, match="too short to start a test of 300 s"):
        begin_s(drive, ("p",), StartRule(rule="random"), 300)
    with pytest.raises(ConfigError, match="never reaches 9 times"):
        begin_s(drive, ("p",), StartRule(rule="latency", factor=9), 20)


def test_start_rules_in_a_study(tmp_path: Path) -> None:
    text = SMALL.replace("duration_s = 10", "duration_s = 100").replace(', "pairs"', "")
    rules = 'start = ["random", "latency"]\n'
    jobs = prepared(tmp_path, text + rules + "duration_s = 5\n").jobs
    assert [job.labels["start"] for job in jobs[:2]] == ["random", "latency"]
    assert {job.run.stop_after_s for job in jobs} == {5.0}
    delay: Any = jobs[3].run.paths[0].down.delay  # VZ, whose RTT is that of the trace: it jumps
    assert delay.ms[0] == 90.0
    with pytest.raises(ConfigError, match='start = "random" needs duration_s'):
        prepared(tmp_path, text + rules)
    assert "unknown key 'fcator'" in refusal(
        tmp_path, text + 'start = { rule = "latency", fcator = 3 }\n'
    )
    assert "start" in refusal(tmp_path, text + 'start = "latnecy"\n')


def test_round_trips_can_be_coupled_otherwise() -> None:
    preset = recoupled(load_preset("starlink-fixed"), 0.0)
    assert preset.paths["starlink"].rtt_ms.coupling == 0.0
    assert load_preset("starlink-fixed").paths["starlink"].rtt_ms.coupling == -0.5
