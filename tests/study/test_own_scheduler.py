"""Schedulers in Python that study files name: planned without being run, named in records."""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from skyweave.algorithms.own import load
from skyweave.cli import app as cli
from skyweave.errors import ConfigError
from skyweave.model.config import Run
from skyweave.model.record import Record
from skyweave.report.page.render import render_report
from skyweave.results.store import Store
from skyweave.study import StudyOptions, prepare, run_study

MINE = """
import skyweave


class FastestFirst(skyweave.Scheduler):
    def select(self, view):
        free = [path for path in view.paths if path.usable and path.has_room]
        return min(free, key=lambda path: path.srtt_ms).id if free else None
"""
STUDY = """
[study]
name = "own"
title = "A scheduler of one's own"

[[drives]]
name = "made"
duration_s = 3

[drives.links]
a = { downlink_mbps = 8, uplink_mbps = 8, rtt_ms = 20 }
b = { downlink_mbps = 4, uplink_mbps = 4, rtt_ms = 50 }

[paths.a]
label = "A"
rtt_ms = "trace"

[paths.b]
label = "B"
rtt_ms = "trace"

[[compare]]
paths = ["all"]
scheduler = ["minrtt", "python:mine.py:FastestFirst"]

[[figures]]
id = "schedulers"
title = "Schedulers"
kind = "compare"
drives = "made"
by = "scheduler"
"""


@pytest.fixture
def study(tmp_path: Path) -> Path:
    (tmp_path / "mine.py").write_text(MINE)
    file = tmp_path / "study.toml"
    file.write_text(STUDY)
    return file


def options(out: Path, **more: Any) -> StudyOptions:
    return StudyOptions(out=out, code_version="test", **more)


def test_a_study_compares_it_and_records_name_class_and_source(study: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    run_study(study, options(out, jobs=2))
    digest = hashlib.sha256(MINE.encode()).hexdigest()
    frozen = json.loads((out / "plan.json").read_text())
    assert frozen["notes"][0] == (
        f"The study runs Python code of its own: mine.py:FastestFirst (sha256 {digest[:12]})."
    )
    assert [run["labels"]["scheduler"] for run in frozen["runs"]] == ["minrtt", "FastestFirst"]
    key = frozen["runs"][1]["key"]
    record = Record.read(Store(out).records / key)
    own = {"name": "FastestFirst", "python": "mine.py", "sha256": digest}
    assert record.totals["connections"][0]["scheduler"] == "FastestFirst"
    assert record.totals["connections"][0]["goodput_mbps"] > 8
    assert record.provenance["schedulers"] == {"0": {"class": "FastestFirst", "sha256": digest}}
    assert Run.model_validate(record.provenance["run"]).connections[0].scheduler == own


def test_planning_and_reports_never_import_it(
    study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: Any
) -> None:
    out = tmp_path / "out"
    run_study(study, options(out))
    mine = study.with_name("mine.py")
    mine.write_text("raise SystemExit('was imported')\n" + MINE)
    for words in (["run", study, "--dry-run"], ["report", out]):
        monkeypatch.setattr(sys, "argv", ["skyweave", *map(str, words)])
        with pytest.raises(SystemExit) as caught:
            cli.main()
        assert not caught.value.code
    said = capsys.readouterr().out
    assert "Python code of its own: mine.py:FastestFirst (sha256" in said
    mine.unlink()
    assert "FastestFirst" in render_report(out).page.read_text()


def test_another_source_is_another_run(study: Path, tmp_path: Path) -> None:
    before = {job.labels["scheduler"]: job.key for job in prepare(study, options(tmp_path)).jobs}
    study.with_name("mine.py").write_text(MINE + "\n# changed\n")
    after = {job.labels["scheduler"]: job.key for job in prepare(study, options(tmp_path)).jobs}
    assert before["minrtt"] == after["minrtt"]
    assert before["FastestFirst"] != after["FastestFirst"]


def test_a_source_that_changed_since_the_plan_is_not_run(study: Path, tmp_path: Path) -> None:
    own = prepare(study, options(tmp_path)).jobs[1].run.connections[0].scheduler
    study.with_name("mine.py").write_text(MINE + "\nraise SystemExit('was imported')\n")
    with pytest.raises(ConfigError, match=r"mine\.py: is not the file that the study was planned"):
        load(own, tmp_path)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--no-code"], "--no-code refuses to run any"),
        (["--cluster", "tcp://127.0.0.1:1"], "runs on this machine alone; leave out --cluster"),
        (["--engine", "live"], "live runs have no schedulers in Python"),
    ],
)
def test_where_it_may_not_run_is_said_in_a_sentence(
    study: Path,
    words: list[str],
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    study.with_name("mine.py").write_text("raise SystemExit('was imported')\n" + MINE)
    if "live" in words:
        text = study.read_text().replace("[[compare]]", '[[compare]]\ntransport = "mpquic"')
        study.write_text(text.replace('"minrtt", ', ""))
        monkeypatch.setattr("skyweave.live.check.obstacle", lambda: None)
    monkeypatch.setattr(sys, "argv", ["skyweave", "run", str(study), *words])
    with pytest.raises(SystemExit) as caught:
        cli.main()
    assert caught.value.code == 2
    error = " ".join(capsys.readouterr().err.split())
    assert said in error
    assert "Traceback" not in error


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("python:mine.py:Other", r"mine\.py: has no class 'Other'"),
        ("python:none.py:FastestFirst", r"none\.py: cannot be read"),
        ("python:/etc/mine.py:FastestFirst", r"absolute path"),
        ("python:broken.py:FastestFirst", r"broken\.py: is no Python"),
        ("python:deep.py:FastestFirst", r"deep\.py: is no Python"),
        ("python:long.py:FastestFirst", r"long\.py: cannot be read: it has [\d,]+ bytes"),
        ("python:known.py:minrtt", r"an algorithm is called 'minrtt' already"),
        ("python:mine.py", r"names no algorithm in Python"),
        ("python:mine.txt:FastestFirst", r"names no algorithm in Python"),
    ],
)
def test_what_is_wrong_with_a_name_is_said(
    study: Path, tmp_path: Path, written: str, said: str
) -> None:
    (tmp_path / "broken.py").write_text("class FastestFirst(:\n")
    (tmp_path / "deep.py").write_text("x = " + "(" * 100_000)
    (tmp_path / "known.py").write_text("class minrtt: ...\n")
    (tmp_path / "long.py").write_text(MINE + "#" * 1_000_000)
    study.write_text(STUDY.replace("python:mine.py:FastestFirst", written))
    with pytest.raises(ConfigError, match=said):
        prepare(study, options(tmp_path))


def test_two_files_with_one_class_name_are_refused(study: Path, tmp_path: Path) -> None:
    (tmp_path / "other.py").write_text(MINE)
    both = '"python:mine.py:FastestFirst", "python:other.py:FastestFirst"'
    study.write_text(STUDY.replace('"python:mine.py:FastestFirst"', both))
    with pytest.raises(ConfigError, match="both have an algorithm 'FastestFirst'"):
        prepare(study, options(tmp_path))
