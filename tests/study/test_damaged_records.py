"""Damage to a results folder is found, named and mended; none of it passes for a result."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from fluid import SMALL, fluid, options, tree

from skyweave.errors import DamagedError, ResultsError
from skyweave.model.config import Run
from skyweave.model.record import Record, verify
from skyweave.report.page.render import render_report
from skyweave.study import StudyObserver
from skyweave.study.run.session import run_study

TABLE = pl.DataFrame({"connection": [0, 0], "completion_ms": [12.5, 80.0]})


class Notes(StudyObserver):
    """Keeps the notes, and how many runs were to do."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.todo = -1

    def starts(self, todo: object, kept: int) -> None:
        self.todo = len(todo)  # type: ignore[arg-type]

    def note(self, sentence: str) -> None:
        self.notes.append(sentence)


def with_table(run: Run) -> Record:
    return replace(fluid(run), application={"requests": TABLE})


@pytest.fixture
def study(tmp_path: Path) -> Path:
    file = tmp_path / "study.toml"
    file.write_text(SMALL)
    return file


@pytest.fixture
def record(study: Path, tmp_path: Path) -> Path:
    """The folder of the first record of a finished study."""
    run_study(study, options(tmp_path / "out", engine=with_table))
    return min((tmp_path / "out" / "records").iterdir())


def test_no_flipped_bit_is_read_as_if_whole(record: Path) -> None:
    """One bit of every byte, and all eight of those that say what the digest is."""
    files = [file for file in record.rglob("*") if file.is_file()]
    assert len(files) == 4
    tried = 0
    for file in files:
        whole = file.read_bytes()
        for place in range(len(whole)):
            bits = range(8) if file.suffix == ".json" and place < 90 else [place % 8]
            for bit in bits:
                flipped = bytearray(whole)
                flipped[place] ^= 1 << bit
                file.write_bytes(flipped)
                with pytest.raises(DamagedError, match=r"is damaged or not whole"):
                    verify(record)
                tried += 1
        with pytest.raises(DamagedError):
            Record.read(record)  # the last bit is still flipped
        file.write_bytes(whole)
    assert tried > 5000
    assert Record.read(record).application["requests"].equals(TABLE)


def truncated(folder: Path) -> Path:
    file = folder / "samples.parquet"
    os.truncate(file, file.stat().st_size // 2)
    return file


def empty(folder: Path) -> Path:
    (folder / "record.json").write_bytes(b"")
    return folder / "record.json"


def lost(folder: Path) -> Path:
    (folder / "application" / "requests.parquet").unlink()
    return folder / "application" / "requests.parquet"


def a_pipe(folder: Path) -> Path:
    """A pipe in the place of a file, at which a reader would wait for ever."""
    (folder / "events.parquet").unlink()
    os.mkfifo(folder / "events.parquet")
    return folder / "events.parquet"


def of_another_run(folder: Path) -> Path:
    """A whole table, in the wrong place."""
    other = max(folder.parent.iterdir())
    (folder / "samples.parquet").write_bytes((other / "samples.parquet").read_bytes())
    return folder / "samples.parquet"


def from_before_digests(folder: Path) -> Path:
    file = folder / "record.json"
    facts = json.loads(file.read_text())
    del facts["sha256"]
    file.write_text(json.dumps(facts, indent=1, sort_keys=True) + "\n")
    return file


@pytest.mark.parametrize(
    "damage", [truncated, empty, lost, a_pipe, of_another_run, from_before_digests]
)
def test_a_damaged_record_is_done_again(
    study: Path, tmp_path: Path, record: Path, damage: Callable[[Path], Path]
) -> None:
    out = tmp_path / "out"
    whole = tree(out)
    file = damage(record)
    with pytest.raises(ResultsError, match=r"is damaged or not whole .*skyweave run"):
        render_report(out)
    seen = Notes()
    run_study(study, options(out, engine=with_table), seen)
    assert seen.notes == [f"{file}: is damaged or not whole; its run is done again."]
    assert seen.todo == 1
    assert tree(out) == whole


def test_a_damaged_plan_is_not_believed(study: Path, tmp_path: Path, record: Path) -> None:
    plan = tmp_path / "out" / "plan.json"
    text = plan.read_text()
    assert text.count('"paths": "SL"') > 0
    plan.write_text(text.replace('"paths": "SL"', '"paths": "VZ"', 1))
    said = r"plan.json: cannot be read .*finished runs are kept"
    with pytest.raises(ResultsError, match=said):
        render_report(tmp_path / "out")
    with pytest.raises(ResultsError, match=said):
        run_study(study, options(tmp_path / "out"))
    plan.rename(tmp_path / "aside.json")
    seen = Notes()
    run_study(study, options(tmp_path / "out", engine=with_table), seen)
    assert seen.todo == 0
    assert plan.read_text() == text


def test_a_record_is_on_the_disk_before_it_has_its_name(
    study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []
    fsync, rename = os.fsync, Path.rename

    def noting(descriptor: int) -> None:
        calls.append(Path(f"/proc/self/fd/{descriptor}").readlink().name)
        fsync(descriptor)

    def naming(draft: Path, target: Path) -> Path:
        calls.append("named")
        return rename(draft, target)

    monkeypatch.setattr(os, "fsync", noting)
    monkeypatch.setattr(Path, "rename", naming)
    run_study(study, options(tmp_path / "out", engine=with_table, seeds=1))
    first = calls.index("named")
    assert calls[first - 6 : first - 1] == [
        "samples.parquet",
        "events.parquet",
        "requests.parquet",
        "application",
        "record.json",
    ]
    assert ".draft-" in calls[first - 1]
    assert calls[first + 1] == "records"
