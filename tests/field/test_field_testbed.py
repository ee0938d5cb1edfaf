"""A study over a node's two uplinks, ordered by an orchestrator, against its server."""

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
from typing import Any

import pytest
from roads import SERVER, Roads, need_roads, road, roads

from skyweave.data import load
from skyweave.model.record import Record
from skyweave.testbed.node.sandbox import lacking

pytestmark = pytest.mark.waits
PORT = 8440
PATIENCE_S = 240
DOWN = {"starlink": 20.0, "lte": 8.0}
SECONDS = 8
TALK = 200_000
"""Bytes of what node and server say beside the data, at most."""
STUDY = f"""
[study]
name = "evening"
title = "An evening"
[[drives]]
name = "tonight"
uplinks = ["starlink", "lte"]
duration_s = {SECONDS}
[paths.starlink]
rtt_ms = "trace"
[paths.lte]
rtt_ms = "trace"
[settings]
engine = "field"
mode = "upstream"
congestion = "newreno"
[[compare]]
paths = "singles"
[[compare]]
paths = "starlink+lte"
transport = "mptcp"
scheduler = "upstream"
[[compare]]
paths = "starlink+lte"
transport = "mpquic"
congestion = "cubic"
[[compare]]
paths = "starlink+lte"
workload = {{ kind = "probe" }}
"""
PLAN = """
title = "too much"
node = "alice"
server = "far"
services = ["field"]
kind = "tcp"
tolerance_s = 30
work = { kind = "study", file = "study.toml" }
when = { kind = "soon", seconds = 200 }
limits = { network_bytes = CAP }
"""
CAP = 4_000_000


class Stage:
    """A node behind two networks; in the world beyond them an orchestrator and a server."""

    def __init__(self, found: Roads, folder: Path) -> None:
        self.roads, self.folder = found, folder
        self.going: list[subprocess.Popen[bytes]] = []
        self.environment = os.environ | {"XDG_CONFIG_HOME": str(folder / "config")}

    def argv(self, where: Path, words: tuple[str, ...]) -> list[str]:
        return ["nsenter", f"--net={where}", "--", sys.executable, "-m", "skyweave.cli", *words]

    def cli(self, *words: str, where: Path | None = None) -> str:
        ran = subprocess.run(
            self.argv(where or self.roads.server, words), env=self.environment,
            capture_output=True, text=True, timeout=PATIENCE_S, check=False,
        )  # fmt: skip
        assert ran.returncode == 0, (words, ran.stderr, self.said())
        return ran.stdout

    def begin(self, where: Path, *words: str) -> None:
        with (self.folder / "log").open("ab") as log:
            self.going.append(subprocess.Popen(self.argv(where, words), stdout=log, stderr=log))

    def said(self) -> str:
        return (self.folder / "log").read_text()

    def until(self, holds: Any) -> None:
        end = time.monotonic() + PATIENCE_S
        while not holds():
            assert time.monotonic() < end, self.said()
            time.sleep(0.05)

    def end(self) -> None:
        for one in reversed(self.going):
            one.send_signal(signal.SIGTERM)
            one.wait(PATIENCE_S)


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    need_roads()
    if reason := lacking():
        pytest.skip(reason)
    made = [road("starlink", 20.0, 5.0, 40.0), road("lte", 8.0, 4.0, 60.0)]
    with roads(*made, joined=False) as found:
        stage = Stage(found, tmp_path_factory.mktemp("evening"))
        try:
            prepare(stage)
            yield stage
        finally:
            stage.end()


def prepare(stage: Stage) -> None:
    world, home = stage.roads.server, stage.roads.client
    office, node, far = (str(stage.folder / one) for one in ("office", "node", "far"))
    stage.begin(world, "testbed", "up", "--data", office, "--listen", f"{SERVER}:{PORT}")
    stage.until(lambda: "Ctrl-C ends it" in stage.said())
    login = next(one for one in stage.said().splitlines() if one.startswith("skyweave testbed log"))
    stage.cli("testbed", "login", shlex.split(login)[3], "--name", "anna")
    invited = shlex.split(stage.cli("testbed", "invite"))
    stage.cli(*invited[1:], "--name", "alice", "--home", node, where=home)
    with Path(node, "policy.toml").open("a") as policy:
        policy.write('\n[uplinks]\nstarlink = "starlink"\nlte = "lte"\n')
    stage.begin(home, "node", "run", "--home", node)
    invited = shlex.split(stage.cli("testbed", "invite", "--server"))
    stage.cli(*invited[1:-1], SERVER, "--name", "far", "--home", far)
    stage.begin(world, "measure", "serve", "--home", far)
    stage.until(
        lambda: all(one["heartbeat"] for one in json.loads(stage.cli("testbed", "nodes", "--json")))
    )


def submitted(stage: Stage, *words: str) -> dict[str, Any]:
    said = stage.cli("testbed", "submit", "--wait", "--json", *words)
    found: dict[str, Any] = json.loads(said)
    return found


def fetched(stage: Stage, found: dict[str, Any], name: str) -> Path:
    out = stage.folder / name
    stage.cli("testbed", "fetch", found["run"]["id"], "--out", str(out))
    return out


def test_a_study_runs_over_both_uplinks_of_a_node(stage: Stage) -> None:
    folder = stage.folder / "study"
    folder.mkdir()
    (folder / "study.toml").write_text(STUDY)
    found = submitted(
        stage, "--node", "alice", "--study", str(folder / "study.toml"), "--kind", "mpquic",
        "--server", "far", "--service", "field", "--seconds", "200",
    )  # fmt: skip
    out = fetched(stage, found, "first")
    said = (out / "output.txt").read_text() if (out / "output.txt").exists() else ""
    assert found["run"]["state"] == "done", (found, said, stage.said())
    results = out / "results" / "study"
    records = [Record.read(one) for one in sorted((results / "records").iterdir())]
    by = {(one.totals["connections"][0]["transport"], len(one.provenance["run"]["paths"]),
           one.provenance["run"]["paths"][0]["name"]): one for one in records}  # fmt: skip
    assert len(by) == 5
    for (transport, count, first), record in by.items():
        (only,) = record.totals["connections"]
        facts = record.provenance
        assert only["error"] is None
        assert facts["testbed"] == {"run": found["run"]["id"], "context": {}}
        assert facts["server"]["address"] == SERVER
        names = [first] if count == 1 else list(DOWN)
        # The sandbox has an address of its own, and the world sees that of the uplink.
        assert {facts["public_addresses"][name] for name in names} <= {"11.0.1.2", "11.0.2.2"}
        assert all(facts["uplinks"][name]["address"].startswith("198.1") for name in names)
        if transport == "udp":
            assert only["paths"]["lte"]["min_rtt_ms"] == pytest.approx(60.0, rel=0.2)
            continue
        capacity = sum(DOWN[name] for name in names)
        assert 0 < only["goodput_mbps"] < capacity
        got = sum(one["received_bytes"] for one in facts["uplinks"].values())
        assert only["delivered_bytes"] < got < only["delivered_bytes"] * 1.5
        for name in names:  # what the server's kernel and ours say is of the right path
            of_path, device = only["paths"][name], facts["uplinks"][name]["received_bytes"]
            assert 0 < of_path["unique_bytes"] < device < of_path["unique_bytes"] * 1.5 + TALK
            assert of_path["sent_bytes"] >= of_path["unique_bytes"]
    summary = json.loads((results / "summary.json").read_text())
    assert summary["networks"][0].startswith("lte by lte")
    assert (results / "report.html").exists()
    (whole,) = (results / "drives").glob("starlink+lte-mptcp-down-*.csv")
    (drive,) = load(whole)
    assert set(drive.paths) == set(DOWN)
    record = json.loads((out / "record.json").read_text())
    assert set(record["uplinks"]) == set(DOWN)
    assert (out / "drive.csv").exists()


def test_a_study_that_carries_too_much_is_cut_off(stage: Stage) -> None:
    folder = stage.folder / "greedy"
    folder.mkdir()
    one = STUDY.split("[[compare]]")
    long = one[0].replace(f"duration_s = {SECONDS}", "duration_s = 60")
    (folder / "study.toml").write_text(long + '[[compare]]\npaths = "starlink"\n')
    plan = stage.folder / "plan.toml"
    plan.write_text(PLAN.replace("CAP", str(CAP)))
    before = stage.roads.carried("starlink", "down")
    found = submitted(stage, "--plan", str(plan), "--folder", str(folder))
    assert found["run"]["state"] == "failed", found
    carried = stage.roads.carried("starlink", "down") - before
    # The node passed the cap on, and the server went on for a while.
    assert carried > CAP / 2
    out = fetched(stage, found, "second")
    record = json.loads((out / "record.json").read_text())
    assert record["outcome"] == "over-limit"
    rows = [one.split(",") for one in (out / "traffic.csv").read_text().splitlines()[1:]]
    both = {name: int(sent) + int(got) for _, name, sent, got in rows}  # the last of each
    assert sum(both.values()) >= CAP  # what it was cut off for
