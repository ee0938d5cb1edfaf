"""``radio = {...}``: drives whose paths are interfaces at cells, from the file to a run."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_expand import prepared
from test_plan import line_with, write

from skyweave.engine.simulator import simulate
from skyweave.errors import ConfigError
from skyweave.model import config
from skyweave.model.windows import UpWindow
from skyweave.radio.loaded import loaded_offer
from skyweave.study.language.cells import Cells, cells_drive
from skyweave.study.language.plan import load_plan

CELLS = """
[study]
name = "cells"
title = "Interfaces at cells"

[[drives]]
name = "town"
seeds = 2
duration_s = 60
radio = { cases = ["sp", "2"] }

[paths.sp]
rtt_ms = "trace"
[paths.c2a]
rtt_ms = "trace"
[paths.c2b]
rtt_ms = "trace"

[settings]
transport = "mpquic"
queue = { kind = "droptail", packets = 100 }

[[compare]]
paths = ["sp", "c2a+c2b"]
"""
RADIO = 'radio = { cases = ["sp", "2"] }'

MISTAKES = [
    ('radio = { place = "whole" }', "loaded cells are 'residential' or 'road'"),
    ('radio = { cells = "empty", memory_s = 5 }', "memory_s belongs to loaded cells; remove it"),
    ('radio = { cells = "empty", cell_s = 5 }', "cell_s belongs to loaded cells; remove it"),
    ('radio = { cells = "empty", heard = "figure-2" }', "heard belongs to loaded cells; remove it"),
    ("radio = { cell_s = 0.5 }", "greater than or equal to 1"),
    ('radio = { heard = "never" }', "'always' or 'figure-2'"),
    ("radio = { memory_s = 0 }", "greater than 0"),
    ("radio = { gap_s = -0.1 }", "greater than or equal to 0"),
    ("radio = { gap_s = inf }", "finite number"),
    ("radio = { wait_s = -1 }", "greater than or equal to 0"),
    ('radio = { cases = ["5"] }', "'3' or '4'"),
    ("radio = { cases = [] }", "at least 1"),
    ('radio = { cell = "empty" }', "unknown key 'cell': did you mean 'cells'"),
    (RADIO + '\npreset = "alaska"', "one of preset, data, links, radio and uplinks"),
    (RADIO + "\nsegment_s = 5", "segment_s belongs to data; radio has no files"),
    (RADIO + "\nrtt_coupling = 0.5", "rtt_coupling belongs to a preset"),
]


@pytest.mark.parametrize(("instead", "said"), MISTAKES)
def test_a_mistake_has_file_and_line(tmp_path: Path, instead: str, said: str) -> None:
    text = CELLS.replace(RADIO, instead)
    file = write(tmp_path, text)
    with pytest.raises(ConfigError) as caught:
        load_plan(file)
    lines = {line_with(text, one) for one in instead.splitlines()}
    assert any(str(caught.value).startswith(f"{file}:{line}: ") for line in lines), caught.value
    assert said in str(caught.value)


def test_cells_need_a_duration(tmp_path: Path) -> None:
    file = write(tmp_path, CELLS.replace("duration_s = 60\n", ""))
    with pytest.raises(ConfigError, match=r"study.toml:\d+: cells need duration_s: how long"):
        load_plan(file)


def test_settings_reach_the_drive() -> None:
    cells = Cells(place="road", cases=("1",), gap_s=0.5, memory_s=2.0, wait_s=0)
    drive = cells_drive("road", cells, 3, 19.5)
    assert drive.name == "road-3"
    assert drive.synthetic
    path = drive.paths["c1"]
    best = loaded_offer(3, 20, "road", 2.0).best_single
    assert path.downlink_mbps is not None
    assert path.downlink_mbps.values.tolist() == best.tolist()
    assert path.outages
    assert path.outages[0].end_s - path.outages[0].start_s == pytest.approx(0.5)
    empty = cells_drive("whole", Cells(cells="empty", place="whole", cases=("1",)), 3, 20)
    assert "empty cells, whole, made up with seed 3" in empty.origin
    assert empty.paths["c1"].downlink_mbps is not None
    assert empty.paths["c1"].downlink_mbps.values.max() <= 55.547  # the cap of Eq. 2


def test_a_study_has_the_interfaces_as_paths(tmp_path: Path) -> None:
    jobs = prepared(tmp_path, CELLS).jobs
    assert [(job.labels["seed"], job.labels["paths"]) for job in jobs] == [
        (1, "sp"), (1, "c2a+c2b"), (2, "sp"), (2, "c2a+c2b"),
    ]  # fmt: skip
    assert {job.labels["synthetic"] for job in jobs} == {True}
    drive = cells_drive("town", Cells(cases=("2",)), 2, 60)
    for path in jobs[3].run.paths:
        assert len(path.present) > 1
        assert path.present == drive.paths[path.name].present
        assert path.down.outages == path.up.outages == drive.paths[path.name].outages
        assert path.up.capacity == config.ConstantRate(mbps=1000)
    assert jobs[2].run.paths[0].present == (UpWindow(start_s=0.0),)
    renamed = CELLS.replace("seeds = 2", 'seeds = 2\nrename = { sp = "best" }')
    renamed = renamed.replace("[paths.sp]", "[paths.best]").replace('["sp", "c2a', '["best", "c2a')
    assert prepared(tmp_path, renamed).jobs[0].labels["paths"] == "best"


def test_a_drive_of_cells_runs_over_mpquic(tmp_path: Path) -> None:
    """Gaps longer than the time between two changes included."""
    text = CELLS.replace('"2"] }', '"2"], gap_s = 1.5, wait_s = 0 }')
    run = prepared(tmp_path, text).jobs[1].run
    assert any(one.end_s - one.start_s < 1.5 for path in run.paths for one in path.down.outages)
    record = simulate(run)
    came = record.events.filter(record.events["event"] == "established")
    assert set(came["path"]) == {"c2a", "c2b"}
    assert len(came) > 4
    assert record.totals["connections"][0]["delivered_bytes"] > 1e6
