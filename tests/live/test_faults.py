"""What breaks around a live run is said in a sentence, and leaves nothing that looks whole."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from burst import burst
from made_paths import path
from marks import marked

from skyweave.errors import ResultsError, SkyweaveError
from skyweave.live.engine import run_live
from skyweave.live.errors import LiveError
from skyweave.live.world import world as worlds
from skyweave.live.world.world import World
from skyweave.model import config
from skyweave.model.record import Record
from skyweave.study.run.session import StudyOptions, run_study

STUDY = """
[study]
name = "faults"
title = "Faults"

[[drives]]
name = "d"
seeds = 2
duration_s = 3
[drives.links.a]
downlink_mbps = 20
uplink_mbps = 20
rtt_ms = 20

[paths.a]
rtt_ms = "trace"

[settings]
engine = "live"
"""
"""Two live runs of 3 s."""
ROOT_ONLY = pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts and drops rights")


@pytest.fixture
def study(tmp_path: Path) -> Path:
    file = tmp_path / "study.toml"
    file.write_text(STUDY)
    return file


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 256 kB."""
    folder = tmp_path / "small"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(folder)]
    if subprocess.run(mount, check=False, capture_output=True).returncode != 0:
        pytest.skip("no tmpfs can be mounted here")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def fill(folder: Path) -> None:
    with (folder / "full").open("wb", 0) as file, contextlib.suppress(OSError):
        while file.write(bytes(4096)):
            pass


def options(out: Path, **changed: object) -> StudyOptions:
    return StudyOptions(out=out, **changed)  # type: ignore[arg-type]


def records(out: Path) -> list[Path]:
    return sorted((out / "records").iterdir())


def until(count: int, mark: bytes) -> int:
    """Wait for this many processes of a test; return the first of them."""
    while len(found := marked(mark)) < count:
        pass
    return min(found)


@pytest.mark.parametrize("side", ["client", "server"])
def test_a_device_that_is_gone_ends_the_run_with_its_name(side: str) -> None:
    with World([path("lte"), path("wifi")]) as world:
        world.start(100)
        argv = ["ip", "link", "delete", "dev", "lte"]
        order = {"do": "run", "argv": argv, "cwd": "/"}
        assert world.ask(getattr(world, side), order)["code"] == 0
        with pytest.raises(LiveError, match="lte"):
            open_until_refused(world)
        with pytest.raises(LiveError, match=r"relay stopped before its time: .*lte"):
            world.finish()


def open_until_refused(world: World) -> None:
    while True:
        world.set_path("wifi", up=True)


def test_a_world_killed_in_the_middle_of_a_study_keeps_nothing(study: Path, mark: bytes) -> None:
    out = study.parent / "out"
    said: list[BaseException] = []

    def work() -> None:
        try:
            run_study(study, options(out))
        except SkyweaveError as error:
            said.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    os.kill(until(4, mark), signal.SIGKILL)  # unshare; with it goes the first process
    thread.join()
    assert isinstance(said[0], LiveError)
    assert "ended before its time" in str(said[0])
    assert records(out) == []
    while marked(mark):  # the kernel takes them away; the test's time limit is the limit
        pass


@pytest.mark.parametrize("source", ["own", "iperf3"])
def test_ctrl_c_lets_the_run_under_way_finish(study: Path, mark: bytes, source: str) -> None:
    if source == "iperf3" and shutil.which("iperf3") is None:
        pytest.skip("no iperf3")
    out = study.parent / "out"
    command = [sys.executable, "-c", "from skyweave.cli import main; main()", "run", str(study)]
    process = subprocess.Popen(
        [*command, "--out", str(out), "--source", source],
        start_new_session=True, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    # The command line, unshare, the first process, two agents, and iperf3 at both ends.
    until(5 if source == "own" else 7, mark)
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate()
    assert process.returncode == 130
    assert "finished runs are kept" in said
    (only,) = records(out)
    record = Record.read(only)
    assert record.totals["simulated_s"] == pytest.approx(3.0)
    assert record.totals["connections"][0]["goodput_mbps"] > 0
    while marked(mark):
        pass


@ROOT_ONLY
def test_a_full_disk_leaves_no_record_that_looks_whole(
    study: Path, small_disk: Path, mark: bytes
) -> None:
    out = small_disk / "out"

    def and_then_full(run: config.Run) -> Record:
        record = run_live(run)
        fill(small_disk)
        return record

    with pytest.raises(ResultsError, match=r"No space left.*make room and give the same command"):
        run_study(study, options(out, live=and_then_full))
    assert records(out) == []
    assert not marked(mark)
    (small_disk / "full").unlink()
    run_study(study, options(out))
    assert len(records(out)) == 2


@ROOT_ONLY
def test_a_capture_on_a_full_disk_stops_and_the_traffic_goes_on(
    small_disk: Path,
) -> None:
    with World([path("p", 1000.0)]) as world:
        world.start(100, str(small_disk))
        captured = None
        sent = 0
        while captured is None:
            burst(world, 200)
            sent += 200
            statistics = json.loads(world.ask_links({"do": "statistics"})["statistics"])
            captured = statistics["capture_error"]
        burst(world, 200)
        link = statistics["links"]["p.up"]
        while link["delivered_packets"] < sent + 200:
            statistics = json.loads(world.ask_links({"do": "statistics"})["statistics"])
            link = statistics["links"]["p.up"]
    assert "No space left" in captured


def test_without_permission_the_obstacle_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    refused = ["sh", "-c", "echo 'unshare failed: Operation not permitted' >&2; exit 1"]
    monkeypatch.setattr(worlds, "_unshare", lambda: refused)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert "run as root, or allow them" in (worlds.obstacle() or "")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    said = worlds.obstacle() or ""
    assert "this root may not make namespaces" in said
    assert "Operation not permitted" in said


@ROOT_ONLY
def test_a_root_without_rights_is_told(study: Path) -> None:
    """As in a container: root, but without CAP_SYS_ADMIN."""
    command = [sys.executable, "-c", "from skyweave.cli import main; main()", "run", str(study)]
    done = subprocess.run(
        ["setpriv", "--bounding-set=-sys_admin", "--inh-caps=-sys_admin", "--", *command,
         "--out", str(study.parent / "out")],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "this root may not make namespaces" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (study.parent / "out").exists()
