"""``skyweave radio capacity`` on small logs: table, JSON, drive, figure, sentences."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from skyweave.cli.radio import radio_app
from skyweave.data import load
from skyweave.errors import ConfigError, DataError
from skyweave.report.page.render import render_report
from skyweave.study.run.session import StudyOptions, run_study

HEADER = "lat,lon,timestamp,freq,cid,rsrp,rsrq,type"

STUDY = """
[study]
name = "cells"
title = "Two operators from signal strength"
[[drives]]
name = "road"
data = "drive.csv"
[paths.att]
rtt_ms = "trace"
[paths.tm]
rtt_ms = "trace"
[settings]
congestion = "cubic"
buffer_mb = 16
[[compare]]
paths = ["singles", "pairs"]
"""


@pytest.fixture
def files(tmp_path):
    """Twelve seconds of two operators on one road, a cell each and an interferer for the first."""
    for operator, cells in {"att": [(850, 1, -90), (850, 2, -100)], "tm": [(66, 1, -120)]}.items():
        (tmp_path / operator).mkdir()
        rows = [
            f"{34 + second / 1e4},-118.5,{1000 + second},{freq},{cid},{rsrp},-10,x"
            for second in range(12)
            for freq, cid, rsrp in cells
        ]
        (tmp_path / operator / "drive.csv").write_text("\n".join([HEADER, *rows]))
    return [str(tmp_path / operator / "drive.csv") for operator in ("att", "tm")]


def run(*words):
    return CliRunner().invoke(radio_app, ["capacity", *map(str, words)], catch_exceptions=False)


def test_table_drive_and_figure(files, tmp_path):
    out, figure = tmp_path / "drive.csv", tmp_path / "drive.png"
    shown = run(*files, "--out", out, "--figure", figure)
    assert shown.exit_code == 0
    assert "tm within 25 m for 100%" in shown.output
    assert "52.80" in shown.output
    (drive,) = load(out)
    assert list(drive.paths) == ["att", "tm"]
    assert np.round(drive.paths["tm"].downlink_mbps.values, 2).tolist() == [13.14] * 12
    assert figure.read_bytes().startswith(b"\x89PNG")


def test_a_study_runs_over_the_drive(files, tmp_path):
    run(*files, "--out", tmp_path / "data" / "drive.csv")
    (tmp_path / "study.toml").write_text(STUDY)
    options = StudyOptions(out=tmp_path / "out", data=tmp_path / "data", jobs=1)
    run_study(tmp_path / "study.toml", options)
    (panel,) = render_report(tmp_path / "out").panels
    alone, both = (panel.estimate("goodput", cell, "median").value for cell in ("att", "att+tm"))
    assert 0 < alone < 52.80
    assert alone < both < 52.80 + 13.14


def test_json_has_the_numbers_and_no_nan(files):
    found = json.loads(run(*files, "--json").output)
    assert found["compared_s"] == 12
    assert found["available"] == {"0": 0.0, "1": 0.0, "2": 1.0}
    assert found["capacity_mbps"]["multipath"]["mean"] == pytest.approx(65.94, abs=0.01)
    assert found["drives"][0]["joined"] == {"tm": 1.0}


def test_a_case_makes_its_interfaces_the_paths(files, tmp_path):
    run(*files, "--paths", "2", "--out", tmp_path / "two.csv")
    assert list(load(tmp_path / "two.csv")[0].paths) == ["cell1", "cell2"]


def test_several_drives_of_the_first_operator_become_a_folder(files, tmp_path):
    run(files[0], files[0], "--out", tmp_path / "drives")
    assert len(list((tmp_path / "drives").iterdir())) == 2
    with pytest.raises(ConfigError, match="draws one drive"):
        run(files[0], files[0], "--figure", tmp_path / "x.png")


def test_operators_by_name_and_figures_of_other_kinds(files, tmp_path):
    shown = run(f"one={files[0]}", f"two={files[0]}")
    assert "two within 25 m" in shown.output
    with pytest.raises(ConfigError, match=r"end its name in \.png"):
        run(*files, "--figure", tmp_path / "x.svg")
    with pytest.raises(DataError, match="no such file"):
        run("nowhere.csv")


def test_synthetic_drives_say_so(tmp_path):
    words = ["synthetic", "--duration", "30", "--place", "road", "--out", str(tmp_path / "s.csv")]
    shown = CliRunner().invoke(radio_app, words, catch_exceptions=False)
    assert "cells-road-1: 30 s" in shown.output
    (drive,) = load(tmp_path / "s.csv")
    assert drive.synthetic
    assert list(drive.paths) == ["OP1", "OP2"]
