"""The lab as a newcomer starts it: a triggered run on the dashboard, and nothing left after it."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from orchestrator import free_port
from owner import need_sandbox

from skyweave.lab.testbed.places import NAMES, WORLD
from skyweave.lab.testbed.stack import broken
from skyweave.lab.testbed.town import ONLY_ONE, refusal
from skyweave.testbed.node.home import Home
from skyweave.testbed.node.tools import tool

pytestmark = pytest.mark.waits
PATIENCE_S = 300
SKYWEAVE = [sys.executable, "-m", "skyweave.cli"]


def left(folder: Path) -> list[str]:
    """Return what a lab has left on this machine, where other tests have things of their own."""
    marks = [Home(one.parent).mark for one in folder.glob("*/key.pem")]
    groups = [one for mark in marks for one in Path("/sys/fs/cgroup").glob(f"*/skyweave-{mark}-*")]
    spaces = [one for name in (WORLD, *NAMES) for one in Path("/run/netns").glob(name)]
    found = [str(one) for one in (*groups, *spaces)]
    found += [one for one in tool("nft", "list", "tables").splitlines() if "skyweave" in one]
    found += [one for one in tool("ip", "rule").splitlines() if "198.18." in one]
    found += [one for one in tool("ip", "-o", "link").splitlines() if ": sw" in one]
    for one in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = one.read_bytes().decode(errors="replace")
        except OSError:
            continue
        if str(folder) in words or "skyweave.lab.testbed" in words:
            found.append(words)
    return found


def settings() -> list[str]:
    """Return the kernel's settings of this network that a node changes in its own."""
    return [one.read_text() for one in sorted(Path("/proc/sys/net/ipv4/conf").glob("*/forwarding"))]


@pytest.fixture(autouse=True)
def able():
    """Skip where there can be no lab, and wait for another one to end."""
    need_sandbox()
    if (why := refusal()) is not None:
        pytest.skip(why)
    end = time.monotonic() + PATIENCE_S
    while True:
        with socket.socket(socket.AF_UNIX) as only, contextlib.suppress(OSError):
            only.bind(ONLY_ONE)
            return
        assert time.monotonic() < end
        time.sleep(0.5)


def test_a_triggered_run_is_on_the_dashboard_and_nothing_is_left(tmp_path):
    ran = subprocess.run(
        [*SKYWEAVE, "lab", "testbed", "--check", "--json", "--out", str(tmp_path / "lab"),
         "--port", str(free_port())],
        capture_output=True, text=True, timeout=2 * PATIENCE_S, check=False,
    )  # fmt: skip
    assert ran.stdout, ran.stderr
    found = json.loads(ran.stdout)
    assert found["first_run"] == "done", ran.stderr
    assert found["trigger"] == "spike"
    assert found["samples_in_context"] >= 30  # by the trigger's rule, in the last five seconds
    assert found["fired_to_started_s"] > 0
    assert left(tmp_path / "lab") == []
    (record,) = (tmp_path / "lab").glob("orchestrator/artefacts/*/house/*/*/record.json")
    assert json.loads(record.read_text())["settings_left"] == []
    assert (record.parent / "results/study/report.html").is_file()
    (goodput,) = (tmp_path / "lab").glob("orchestrator/artefacts/*/boat/*/*/results/goodput.json")
    mbps = json.loads(goodput.read_text())["mbps"]
    assert list(mbps) == ["starlink", "lte", "starlink + lte"]
    assert any(one is not None and one > 0 for one in mbps.values()), mbps
    assert broken(found["stack"]) == []


def test_a_second_lab_is_refused_and_ctrl_c_leaves_nothing(tmp_path):
    said, before = tmp_path / "said", settings()
    port, environment = str(free_port()), os.environ | {"TMPDIR": str(tmp_path)}
    with said.open("wb") as out:
        words = [*SKYWEAVE, "lab", "testbed", "--port", port]
        lab = subprocess.Popen(words, stderr=out, env=environment)
    end = time.monotonic() + PATIENCE_S
    while "joined" not in said.read_text():
        assert lab.poll() is None, said.read_text()
        assert time.monotonic() < end, said.read_text()
        time.sleep(0.05)
    second = subprocess.run(
        [*SKYWEAVE, "lab", "testbed", "--port", str(free_port())], capture_output=True, text=True,
        timeout=PATIENCE_S, check=False,
    )  # fmt: skip
    assert second.returncode == 2
    assert second.stderr.splitlines()[-1].startswith("skyweave: another lab is on this machine")
    lab.send_signal(signal.SIGINT)
    assert lab.wait(PATIENCE_S) == 0, said.read_text()
    assert "everything of it is gone" in said.read_text()
    assert left(tmp_path) == []
    assert settings() == before
    assert not list(tmp_path.glob("skyweave-lab-*"))


def test_killed_without_mercy_it_takes_its_machines_with_it(tmp_path):
    said = tmp_path / "said"
    with said.open("wb") as out:
        lab = subprocess.Popen(
            [*SKYWEAVE, "lab", "testbed", "--port", str(free_port()), "--out", str(tmp_path / "l")],
            stderr=out,
        )  # fmt: skip
    end = time.monotonic() + PATIENCE_S
    while "running" not in said.read_text():
        assert lab.poll() is None, said.read_text()
        assert time.monotonic() < end, said.read_text()
        time.sleep(0.05)
    lab.kill()
    lab.wait()
    while now := left(tmp_path / "l"):
        assert time.monotonic() < end, now
        time.sleep(0.2)
