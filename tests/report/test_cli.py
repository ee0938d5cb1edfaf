"""The command line speaks in sentences and exits with the codes that it promises."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import fluid
import pytest

from skyweave.cli import app as cli
from skyweave.cli import demo
from skyweave.errors import Interrupted
from skyweave.study.compile.drives import Makers
from skyweave.study.run import session


@pytest.fixture(autouse=True)
def _fake(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "default_engine", lambda: fluid.fluid)
    monkeypatch.setattr(session, "default_makers", lambda: Makers(fluid.synthesise, fluid.load))
    monkeypatch.setenv("COLUMNS", "100")


def call(monkeypatch: pytest.MonkeyPatch, *words: object) -> int:
    monkeypatch.setattr(sys, "argv", ["skyweave", *map(str, words)])
    with pytest.raises(SystemExit) as caught:
        cli.main()
    return int(caught.value.code or 0)


def test_demo_and_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "demo"
    assert call(monkeypatch, "demo", "--out", out, "--jobs", 2) == 0
    said = capsys.readouterr()
    assert "Starlink + AT&T" in said.out
    assert "Alaska, downlink: Downloading over" in said.out
    assert f"Report: {out}/report.html" in said.out
    assert "runs, " in said.err
    before = fluid.tree(out)
    assert call(monkeypatch, "report", out) == 0
    assert fluid.tree(out) == before


def test_run_folder_and_dry_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "study.toml").write_text(fluid.SMALL)
    out = tmp_path / "out"
    assert call(monkeypatch, "run", tmp_path, "--out", out, "--dry-run", "--seeds", 4) == 0
    assert "12 runs, 120 simulated seconds" in capsys.readouterr().out
    assert not out.exists()
    assert call(monkeypatch, "run", tmp_path, "--out", out) == 0
    monkeypatch.chdir(tmp_path)
    assert call(monkeypatch, "run", tmp_path / "study.toml") == 0
    assert (tmp_path / "results" / tmp_path.name / "report.html").is_file()
    assert (out / "report.html").exists()


def test_errors_are_one_line_and_exit_2(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(monkeypatch, "run", tmp_path / "none.toml", "--out", tmp_path / "o") == 2
    assert call(monkeypatch, "report", tmp_path) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2
    assert all(line.startswith("skyweave: ") for line in lines)


def test_ctrl_c_exits_130(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stopped(*_args: object) -> None:
        raise Interrupted("stopped; finished runs are kept")

    def leave(code: int) -> None:
        raise SystemExit(code)

    monkeypatch.setattr(demo, "run_study", stopped)
    monkeypatch.setattr(os, "_exit", leave)
    assert call(monkeypatch, "demo", "--out", tmp_path) == 130
    assert "finished runs are kept" in capsys.readouterr().err


def test_version_and_help_in_a_process() -> None:
    for words in (["--version"], ["--help"], ["run", "--help"]):
        done = subprocess.run(
            [sys.executable, "-m", "skyweave.cli", *words],
            check=True,
            capture_output=True,
            text=True,
        )
        assert "skyweave" in done.stdout.lower()
