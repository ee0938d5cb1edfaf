"""A node in a process of its own on an owner's machine, against a small orchestrator."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from far import CODE, NODE, FarOrchestrator
from owner import Owner, need_sandbox, owners

from skyweave.testbed.node.home import Home, join
from skyweave.testbed.node.tools import within
from skyweave.testbed.wire import Invitation

POLICY = """
owner = "anna"
users = ["ben"]
runs_at_once = 16
bytes_a_day = 100_000_000_000
"""


@pytest.fixture
def owner() -> Iterator[Owner]:
    need_sandbox()
    with owners() as found:
        yield found


@pytest.fixture
def far(owner: Owner) -> Iterator[FarOrchestrator]:
    made = FarOrchestrator(within(owner.network, lambda: socket.create_server(("127.0.0.1", 0))))
    yield made
    made.close()


@pytest.fixture
def home(owner: Owner, far: FarOrchestrator, tmp_path: Path) -> Home:
    place = Home(tmp_path / "home")
    url = f"http://127.0.0.1:{far.port}"
    owner.do(lambda: join(place, Invitation(url=url, code=CODE), NODE, "node", "anna"))
    place.policy.write_text(POLICY)
    return place


class Process:
    """A node in a process of its own, on the owner's machine."""

    def __init__(self, owner: Owner, home: Home) -> None:
        argv = ["nsenter", f"--net={owner.network}", "--", sys.executable, "-m", "skyweave.cli"]
        self.log = home.folder.parent / "log"
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [*argv, "node", "run", "--home", str(home.folder)], stderr=log, stdout=log
            )

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def end(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(120) == 0, self.log.read_text()


@pytest.fixture
def node(owner: Owner, home: Home) -> Iterator[Callable[[], Process]]:
    made: list[Process] = []

    def begin() -> Process:
        made.append(Process(owner, home))
        return made[-1]

    yield begin
    for one in made:
        if one.process.poll() is None:
            one.end()
    assert owner.left() == [line for line in owner.left() if "skyweave_node" in line]
    assert not list((home.folder / "settings").glob("*.json"))
