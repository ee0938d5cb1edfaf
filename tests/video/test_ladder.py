"""Adaptive films: made once, six qualities whose sizes are those of their bitrates."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from skyweave.cli.video import video_app
from skyweave.errors import ConfigError
from skyweave.video.ladder import CHUNK_S, QUALITIES, ladder


@pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="needs ffmpeg")
def test_a_ladder_has_six_qualities_of_its_bitrates(tmp_path: Path) -> None:
    options = ["--top", "1.2", "--length", "12", "--cache", str(tmp_path)]
    made = CliRunner().invoke(video_app, ["ladder", *options])
    assert made.exit_code == 0, made.output
    manifest, sizes = map(Path, made.stdout.split())
    assert "<MPD" in manifest.read_text()
    found = ladder(1.2, 12, tmp_path)
    assert (found.manifest, found.sizes) == (manifest, sizes)
    assert found.ladder_mbps == [0.158, 0.237, 0.356, 0.533, 0.8, 1.2]
    assert [len(chunks) for chunks in found.chunk_bytes] == [12 // CHUNK_S] * QUALITIES
    for mbps, chunks in zip(found.ladder_mbps, found.chunk_bytes, strict=True):
        assert sum(chunks) * 8 / 12 / 1e6 == pytest.approx(mbps, rel=0.1)
    # It is there now: nothing is made again.
    before = manifest.stat().st_mtime_ns
    assert ladder(1.2, 12, tmp_path).manifest.stat().st_mtime_ns == before


@pytest.mark.parametrize(
    ("top", "film_s", "sentence"),
    [
        (0.0, 12, "the top of a ladder, 0, is not within"),
        (float("nan"), 12, "the top of a ladder, nan"),
        (1.0, 0, "the length of a ladder, 0"),
        (1.0, 13, "13 s, is not a multiple of 4 s"),
    ],
)
def test_a_ladder_of_no_film_is_refused(
    top: float, film_s: int, sentence: str, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match=sentence):
        ladder(top, film_s, tmp_path)
    assert not list(tmp_path.iterdir())
