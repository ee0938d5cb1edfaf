"""Real players without a display: what is read of their logs, and VLC playing."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from skyweave.video import film
from skyweave.video.curve_server import Curve, CurveServer
from skyweave.video.players import vlc
from skyweave.video.players.playback import Playback
from skyweave.video.players.vlc_log import VlcLog

VLC_LINES = """\
main debug: Buffering 0%
http debug: outgoing request:
main debug: Stream buffering done (1250 ms in 1320 ms)
main debug: Decoder wait done in 0 ms
main debug: picture might be displayed late (missing 7 ms)
main warning: picture is too late to be displayed (missing 24 ms)
main warning: picture is too late to be displayed (missing 17 ms)
main error: ES_OUT_SET_(GROUP_)PCR  is called too late (pts_delay increased to 1012 ms)
main debug: Buffering 25%
main error: Timestamp conversion failed for 9066667: no reference clock
main debug: Decoder wait done in 0 ms
main error: ES_OUT_SET_(GROUP_)PCR  is called too late (jitter of 5300 ms ignored)
"""


def _lines(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "playback.jsonl").read_text().splitlines()]


def _has_vlc() -> bool:
    if importlib.util.find_spec("vlc") is None:
        return False
    return subprocess.run([sys.executable, "-c", "import vlc"], stderr=-3).returncode == 0


needs_vlc = pytest.mark.skipif(
    not _has_vlc() or shutil.which("ffmpeg") is None,
    reason="needs VLC and ffmpeg: scripts/install-players vlc",
)


def _start(player: str, url: str, out: Path, *more: str) -> subprocess.Popen[str]:
    program = [sys.executable, "-m", f"skyweave.video.players.{player}", url]
    argv = [*program, "--out", str(out), *more]
    return subprocess.Popen(argv, stderr=subprocess.PIPE, text=True)


def test_the_log_of_vlc_becomes_events_and_counts(tmp_path: Path) -> None:
    playback = Playback(tmp_path)
    log = VlcLog(playback)
    playback.tell(discarded=0)
    playback.asked()
    with (tmp_path / "vlc.log").open("w") as copy:
        log.follow(VLC_LINES.splitlines(keepends=True), copy)
    playback.over("closed")
    events = [(line["event"], line["discarded"], line["underflows"]) for line in _lines(tmp_path)]
    assert events == [
        ("asked", 0, 0),
        ("playing", 0, 0),
        ("underflow", 2, 1),
        ("playing", 2, 1),
        ("underflow", 2, 2),
        ("playing", 2, 2),
        ("closed", 2, 2),
    ]
    assert log.facts() == {"requests": 1, "delays_ms": [1012]}
    assert log.error == "Timestamp conversion failed for 9066667: no reference clock"
    assert all(line[0].isdigit() for line in (tmp_path / "vlc.log").read_text().splitlines())


def test_a_stall_lasts_until_the_player_goes_on(tmp_path: Path) -> None:
    playback = Playback(tmp_path)
    playback.asked()
    playback.underflow()  # nothing played yet
    playback.playing()
    playback.underflow()
    playback.underflow()  # again, before anything was seen
    playback.playing()
    playback.playing()
    seen = playback.over("ended")
    lines = _lines(tmp_path)
    events = [line["event"] for line in lines]
    assert events == ["asked", "playing", "underflow", "underflow", "playing", "ended"]
    stall_s = (lines[4]["monotonic_ns"] - lines[2]["monotonic_ns"]) / 1e9
    assert seen.stall_s == pytest.approx(stall_s)
    assert (seen.underflows, seen.state) == (2, "ended")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["ftp://host/film.mp4", "--duration", "5"], "is no address of a film"),
        (["http://127.0.0.1:9/x", "--duration", "0"], "--duration 0 is not within"),
        (["http://127.0.0.1:9/x", "--duration", "nan"], "--duration nan is not within"),
        (["http://127.0.0.1:9/x", "--duration", "5", "--threads", "99"], "--threads 99"),
        (["http://127.0.0.1:9/x", "--duration", "5"], "mpv is not installed; on Debian: apt"),
    ],
)
def test_what_cannot_be_played_is_one_sentence(
    arguments: list[str], sentence: str, tmp_path: Path
) -> None:
    url, *more = arguments
    done = subprocess.run(
        [sys.executable, "-m", "skyweave.video.players.mpv", url, "--out", str(tmp_path), *more],
        env={**os.environ, "PATH": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert sentence in done.stderr


@pytest.mark.parametrize(
    ("path", "received", "sentence"),
    [("/none.mp4", 1 << 30, "VLC gave up: "), ("", 3_000_000, "the server stopped before all")],
)
@needs_vlc
def test_a_film_that_does_not_come_is_one_sentence(
    path: str, received: int, sentence: str, tmp_path: Path
) -> None:
    with (
        CurveServer(film("cbr").file, Curve([0.0], [received])) as server,
        _start("vlc", server.url + path, tmp_path, "--duration", "250") as player,
    ):
        _, complaint = player.communicate()
    assert player.returncode == 2
    assert len(complaint.splitlines()) == 1
    assert sentence in complaint
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert (summary["over"], summary["reason"]) == ("failed", complaint.strip())
    assert _lines(tmp_path)[-1]["event"] == "closed"


def test_nobody_waits_for_a_vlc_that_hangs_in_its_shutdown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vlc, "_SHUTDOWN_S", 0.01)
    monkeypatch.setattr(vlc, "_LAST_LINES_S", 0.01)
    release = threading.Event()
    player = vlc.Vlc.__new__(vlc.Vlc)
    monkeypatch.setattr(player, "_counted", dict, raising=False)
    monkeypatch.setattr(player, "_release", release.wait, raising=False)
    read, write = os.pipe()
    player._ends = (read, write)
    player._reader = threading.Thread(target=release.wait, daemon=True)
    player._reader.start()
    player.stop()
    os.fstat(write)  # VLC may go on writing there
    release.set()
    player._reader.join()
    os.close(read)
    os.close(write)


@needs_vlc
def test_vlc_plays_twenty_seconds(tmp_path: Path) -> None:
    # Reading a pipe in the place of the record waits for its lines.
    os.mkfifo(tmp_path / "playback.jsonl")
    with (
        CurveServer(film("cbr").file) as server,
        _start("vlc", server.url, tmp_path, "--duration", "250") as player,
        (tmp_path / "playback.jsonl").open() as record,
    ):
        lines: list[dict[str, Any]] = []
        for line in record:
            lines.append(json.loads(line))
            if (lines[-1]["position_s"] or 0) >= 20:
                player.send_signal(signal.SIGINT)
        _, complaint = player.communicate()
    assert player.returncode == 130, complaint
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert summary["over"] == "interrupted"
    assert summary["version"].startswith("3.")
    assert summary["film_s"] == pytest.approx(180, abs=0.1)
    assert summary["startup_s"] > 0
    # All of the film is there: nothing runs dry, however busy the machine is.
    assert summary["underflows"] == 0
    events = [line["event"] for line in lines]
    assert (events[0], events[-1], events.count("playing")) == ("asked", "closed", 1)
    assert lines[-1]["position_s"] >= 20
    assert summary["processor"]["player_s"] > 0
    assert 206 in [request.status for request in server.requests]
