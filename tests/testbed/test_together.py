"""Orchestrator, node and measurement server as three processes, by their commands alone."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from owner import SERVER, Owner, need_sandbox, owners

pytestmark = pytest.mark.waits
PORT = 8440
PATIENCE_S = 120


class Stage:
    """An owner's machine with a node; in the world beyond it an orchestrator and a server."""

    def __init__(self, owner: Owner, folder: Path) -> None:
        self.owner, self.folder = owner, folder
        self.going: list[subprocess.Popen] = []

    def argv(self, where: Path, words: tuple[str, ...]) -> list[str]:
        return ["nsenter", f"--net={where}", "--", sys.executable, "-m", "skyweave.cli", *words]

    def cli(self, *words: str, where: Path | None = None) -> str:
        environment = os.environ | {"XDG_CONFIG_HOME": str(self.folder / "config")}
        ran = subprocess.run(
            self.argv(where or self.owner.world, words), env=environment, capture_output=True,
            text=True, timeout=PATIENCE_S, check=False,
        )  # fmt: skip
        assert ran.returncode == 0, (words, ran.stderr, self.said())
        return ran.stdout

    def begin(self, where: Path, *words: str) -> None:
        with (self.folder / "log").open("ab") as log:
            self.going.append(subprocess.Popen(self.argv(where, words), stdout=log, stderr=log))

    def said(self) -> str:
        return (self.folder / "log").read_text()

    def until(self, words: str) -> str:
        end = time.monotonic() + PATIENCE_S
        while words not in self.said():
            assert time.monotonic() < end, self.said()
            time.sleep(0.05)
        return self.said()

    def end(self) -> None:
        for one in reversed(self.going):
            one.send_signal(signal.SIGTERM)
            one.wait(PATIENCE_S)


@pytest.fixture(scope="module")
def stage(tmp_path_factory) -> Iterator[Stage]:
    need_sandbox()
    with owners() as owner:
        made = Stage(owner, tmp_path_factory.mktemp("stage"))
        try:
            prepare(made)
            yield made
        finally:
            made.end()


def prepare(stage: Stage) -> None:
    office = str(stage.folder / "office")
    address = f"{SERVER}:{PORT}"
    stage.begin(stage.owner.world, "testbed", "up", "--data", office, "--listen", address)
    said = stage.until("Ctrl-C ends it").splitlines()
    code = next(shlex.split(line)[3] for line in said if line.startswith("skyweave testbed login"))
    stage.cli("testbed", "login", code, "--name", "anna")

    node, far = str(stage.folder / "node"), str(stage.folder / "far")
    invited = shlex.split(stage.cli("testbed", "invite"))
    stage.cli(*invited[1:], "--name", "alice", "--home", node, where=stage.owner.network)
    stage.begin(stage.owner.network, "node", "run", "--home", node)
    invited = shlex.split(stage.cli("testbed", "invite", "--server"))
    stage.cli(*invited[1:-1], SERVER, "--name", "far", "--home", far)
    stage.begin(stage.owner.world, "measure", "serve", "--home", far)
    end = time.monotonic() + PATIENCE_S
    while not all(one["heartbeat"] for one in json.loads(stage.cli("testbed", "nodes", "--json"))):
        assert time.monotonic() < end, stage.said()


def test_a_run_is_submitted_done_and_fetched(stage: Stage) -> None:
    program = "open('result.txt', 'w').write('measured')"
    found = json.loads(
        stage.cli("testbed", "submit", "--node", "alice", "--seconds", "60", "--wait", "--json",
                  "--", "python3", "-c", program)
    )  # fmt: skip
    assert found["run"]["state"] == "done", (found, stage.said())
    out = stage.folder / "fetched"
    stage.cli("testbed", "fetch", found["run"]["id"], "--out", str(out))
    assert (out / "results" / "result.txt").read_text() == "measured"
    assert json.loads((out / "record.json").read_text())["specification"]["node"] == "alice"


def test_a_run_finds_its_server(stage: Stage) -> None:
    program = (
        "import os, socket\n"
        "host = os.environ['SKYWEAVE_SERVER']\n"
        "open('server.txt', 'w').write(host + ' ' + os.environ['SKYWEAVE_PORTS'])\n"
    )
    found = json.loads(
        stage.cli("testbed", "submit", "--node", "alice", "--seconds", "60", "--wait", "--json",
                  "--server", "far", "--service", "probe", "--", "python3", "-c", program)
    )  # fmt: skip
    assert found["run"]["state"] == "done", (found, stage.said())
    states = [one["state"] for one in found["history"]]
    assert states[:3] == ["reserved", "serving", "ordered"]
    out = stage.folder / "second"
    stage.cli("testbed", "fetch", found["run"]["id"], "--out", str(out))
    host, ports = (out / "results" / "server.txt").read_text().split()
    assert host == SERVER
    assert ports.startswith("probe=")


def test_a_run_that_is_stopped_ends_as_cancelled(stage: Stage) -> None:
    made = json.loads(
        stage.cli("testbed", "submit", "--node", "alice", "--seconds", "600", "--json", "--",
                  "sleep", "600")
    )  # fmt: skip
    (run,) = made["runs"]
    end = time.monotonic() + PATIENCE_S
    while _state(stage, run) != "running":
        assert time.monotonic() < end, stage.said()
    stage.cli("testbed", "stop", run)
    while _state(stage, run) not in ("cancelled", "failed", "done"):
        assert time.monotonic() < end, stage.said()
    assert _state(stage, run) == "cancelled"


def test_a_watched_trigger_starts_a_run_on_the_node(stage: Stage) -> None:
    """Samples on one machine, a condition on them, and a run on another; LEOScope's start none."""
    made = json.loads(
        stage.cli("testbed", "submit", "--node", "alice", "--seconds", "30", "--trigger", "wait",
                  "--tolerance", "60", "--json", "--", "python3", "-c",
                  "import os; open('why.txt', 'w').write(os.environ['SKYWEAVE_CONTEXT'])")
    )  # fmt: skip
    command = [
        sys.executable,
        "-m",
        "skyweave.cli",
        "testbed",
        "fire",
        made["id"],
        "--context",
        "-",
    ]
    file = stage.folder / "triggers.toml"
    file.write_text(
        "[series]\nrtt_ms = 'number'\n[[trigger]]\nname = 'spike'\nwhen = 'rtt_ms > 100.0'\n"
        f"run = {{command = {json.dumps(command)}}}\n"
    )
    began = time.time() - 20
    samples = [{"time_unix_s": began + n, "rtt_ms": 200.0 if n == 5 else 30.0} for n in range(9)]
    environment = os.environ | {"XDG_CONFIG_HOME": str(stage.folder / "config")}
    ran = subprocess.run(
        stage.argv(stage.owner.world, ("trigger", "watch", str(file))), text=True,
        input="".join(json.dumps(one) + "\n" for one in samples), env=environment,
        capture_output=True, timeout=PATIENCE_S, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    (run,) = json.loads(stage.cli("testbed", "runs", "--experiment", made["id"], "--json"))
    assert run["trigger"] == "spike", (ran.stdout, ran.stderr)
    end = time.monotonic() + PATIENCE_S
    while _state(stage, run["id"]) != "done":
        assert time.monotonic() < end, (_state(stage, run["id"]), stage.said())
    out = stage.folder / "third"
    stage.cli("testbed", "fetch", run["id"], "--out", str(out))
    assert "rtt_ms" in (out / "results" / "why.txt").read_text()


def _state(stage: Stage, run: str) -> str:
    return json.loads(stage.cli("testbed", "run", run, "--json"))["run"]["state"]
