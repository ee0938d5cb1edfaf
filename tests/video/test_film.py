"""``skyweave video file``: films are made once, and their frame tables are what a study reads."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

import skyweave as sw
from skyweave.cli.video import video_app
from skyweave.errors import ConfigError
from skyweave.video import film, kinds

needs_ffmpeg = pytest.mark.skipif(
    shutil.which("ffmpeg") is None or shutil.which("ffprobe") is None, reason="needs ffmpeg"
)


def _seen(table: object) -> list[dict[str, object]]:
    """Return what a viewer sees of ten seconds of a film that comes too slowly.

    Times of ``ffprobe`` are rounded to microseconds.
    """
    link = sw.Link(capacity=sw.ConstantRate(mbps=4), delay=sw.ConstantDelay(ms=20))
    workload = {"kind": "video", "film": table, "duration_s": 10}
    connection = sw.Connection.model_validate({"transport": "tcp", "workload": workload})
    record = sw.simulate(paths=[sw.Path(name="only", down=link, up=link)], connections=[connection])
    counted = record.application["video"].select("event", "received_bytes", "shown", "discarded")
    return counted.rows(named=True)


@needs_ffmpeg
def test_the_film_of_the_repository_is_the_one_that_ffmpeg_makes(tmp_path: Path) -> None:
    made = CliRunner().invoke(video_app, ["file", "cbr", "--cache", str(tmp_path)])
    assert made.exit_code == 0
    file, frames = map(Path, made.stdout.split())
    assert file.stat().st_size / 1e6 == pytest.approx(117.86, abs=0.5)
    csv = frames.read_text()
    pictures = [line for line in csv.splitlines() if line.startswith("0,")]
    assert len(pictures) == 5400
    # Another version of ffmpeg fills the same rate with other pictures.
    if file.stat().st_size == 117_857_326:
        assert _seen({"csv": csv}) == _seen("cbr")
    # It is there now: nothing is made again.
    before = file.stat().st_mtime_ns
    assert film("cbr", tmp_path).file.stat().st_mtime_ns == before


def test_without_ffmpeg_one_sentence_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ConfigError, match="ffmpeg is not installed; on Debian: apt install"):
        film("vbr", tmp_path / "films")
    assert not list((tmp_path / "films").iterdir())


def test_a_film_of_another_kind_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no film is called 'cbb'; did you mean 'cbr'"):
        film("cbb", tmp_path)
    assert kinds() == ["cbr", "vbr"]


def test_a_program_that_fails_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("ffmpeg", "ffprobe"):
        (programs / name).write_text("#!/bin/sh\necho no such encoder >&2\nexit 1\n")
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    with pytest.raises(ConfigError, match="ffmpeg failed: no such encoder"):
        film("cbr", tmp_path / "films")
    assert not list((tmp_path / "films").iterdir())


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="the film cannot be kept there"):
        film("cbr", tmp_path / "file" / "films")
