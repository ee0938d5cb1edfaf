"""Kernel settings: only what is known, journalled first, restored whatever kills the node."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from pydantic import TypeAdapter, ValidationError

from skyweave.live.world.world import obstacle
from skyweave.testbed.errors import ConflictError, TestbedError
from skyweave.testbed.node.settings import (
    AnySetting,
    Leases,
    Qdisc,
    RouteCongestion,
    Setting,
    Sysctl,
)
from skyweave.testbed.node.tools import alone, tool, within

KILLS = 100
SETTINGS: list[Setting] = [
    Sysctl(name="net.ipv4.tcp_rmem", value="4096 65536 1000000"),
    Sysctl(name="net.ipv4.tcp_congestion_control", value="reno"),
    Sysctl(name="net.ipv4.conf.v0.forwarding", value="1"),
    RouteCongestion(destination="default", device="v0", algorithm="reno"),
    RouteCongestion(destination="10.9.0.0/24", device="v0", algorithm="cubic"),
    Qdisc(device="v0", discipline="pfifo"),
]
ONE = TypeAdapter[AnySetting](AnySetting)


@pytest.fixture
def network() -> Iterator[Path]:
    """A namespace with a device and routes, as a node has them."""
    if os.geteuid() != 0:
        pytest.skip("needs root, for namespaces")
    if reason := obstacle():
        pytest.skip(f"no namespace here: {reason}")
    name = f"swt{uuid.uuid4().hex[:8]}"
    tool("ip", "netns", "add", name)
    for line in (
        "link set lo up", "link add v0 type veth peer name v1", "link set v0 up",
        "link set v1 up", "addr add 10.9.0.1/24 dev v0",
        "route add default via 10.9.0.2 dev v0 metric 7 mtu 1400",
    ):  # fmt: skip
        tool("ip", "-n", name, *line.split())
    yield Path("/run/netns", name)
    tool("ip", "netns", "del", name)


def states(network: Path) -> list[str]:
    """All that the settings touch, as the kernel's own tools say it."""
    routes = within(network, lambda: tool("ip", "-d", "route"))
    return [routes, *within(network, lambda: [one.read() for one in SETTINGS])]


def test_a_lease_makes_settings_and_ends_without_a_trace(network: Path, tmp_path: Path) -> None:
    leases, before = Leases(tmp_path), states(network)
    leases.apply("run-1", SETTINGS, network)
    made = within(network, lambda: [one.read() for one in SETTINGS])
    assert made == [one.wanted for one in SETTINGS]
    assert "mtu 1400" in within(network, lambda: tool("ip", "route", "show", "default"))
    assert leases.restore("run-1") == []
    assert states(network) == before
    assert leases.held() == []


def test_two_runs_never_have_one_setting(network: Path, tmp_path: Path) -> None:
    leases = Leases(tmp_path)
    leases.apply("one", SETTINGS[:1], network)
    with pytest.raises(ConflictError, match="set for another run"):
        leases.apply("two", SETTINGS, network)
    assert leases.held() == ["one"]
    leases.restore("one")
    leases.apply("two", SETTINGS, network)


def test_runs_that_begin_and_end_at_once_do_not_disturb_each_other(tmp_path: Path) -> None:
    leases = Leases(tmp_path)

    def runs(name: str) -> None:
        for _ in range(50):
            leases.apply(name, [])
            assert leases.restore(name) == []

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(runs, ["a", "b", "c", "d"]))
    assert leases.held() == []


def test_what_the_kernel_refuses_is_taken_back_whole(network: Path, tmp_path: Path) -> None:
    leases, before = Leases(tmp_path), states(network)
    for bad in (
        Sysctl(name="net.ipv4.tcp_congestion_control", value="nosuch"),
        Sysctl(name="net.core.rmem_max", value="1"),  # clamped
        RouteCongestion(destination="10.77.0.0/24", device="v0", algorithm="reno"),
    ):
        with pytest.raises(TestbedError):
            leases.apply("run", [*SETTINGS[:1], bad], network)
        assert (states(network), leases.held()) == (before, [])


def test_what_somebody_else_changed_meanwhile_stays(network: Path, tmp_path: Path) -> None:
    leases = Leases(tmp_path)
    leases.apply("run", SETTINGS[:2], network)
    by_hand = SETTINGS[0]
    within(network, lambda: by_hand.write("4096 5000 6000"))
    assert ["it stays so" in one for one in leases.restore("run")] == [True]
    assert within(network, by_hand.read) == "4096 5000 6000"


def test_a_queue_that_somebody_chose_is_not_touched(network: Path, tmp_path: Path) -> None:
    within(network, lambda: tool("tc", "qdisc", "add", "dev", "v0", "root", "htb"))
    with pytest.raises(TestbedError, match="somebody has chosen 'htb'"):
        Leases(tmp_path).apply("run", [Qdisc(device="v0", discipline="pfifo")], network)
    assert within(network, Qdisc(device="v0", discipline="pfifo").read) == "htb"


def test_a_namespace_that_is_gone_and_a_reboot_need_nothing(network: Path, tmp_path: Path) -> None:
    leases = Leases(tmp_path)
    leases.apply("run", SETTINGS[:1], network)
    file = tmp_path / "run.json"
    said = json.loads(file.read_text())
    file.write_text(json.dumps(said | {"network": str(network) + "x"}))
    assert leases.replay() == []
    file.write_text(json.dumps(said | {"boot": "another"}))
    assert leases.replay() == []
    assert within(network, SETTINGS[0].read) == SETTINGS[0].wanted  # it was not looked at


def test_who_comes_after_a_crash_waits_for_the_programs_that_it_left(tmp_path: Path) -> None:
    """An orphaned ``ip route change`` would undo the restoring that came before it."""
    begin = (
        "import os, sys, threading\nfrom pathlib import Path\n"
        "from skyweave.testbed.node.tools import alone, tool\n"
        "with alone(Path(sys.argv[1])):\n"
        "    argv = ['sh', '-c', 'echo > begun; read -r x < go; echo > done']\n"
        "    threading.Thread(target=tool, args=argv, daemon=True).start()\n"
        "    while not os.path.exists('begun'): pass\n"
        "    os.kill(os.getpid(), 9)\n"
    )
    os.mkfifo(tmp_path / "go")
    argv = [sys.executable, "-c", begin, str(tmp_path / "node")]
    subprocess.run(argv, cwd=tmp_path, check=False)
    assert not (tmp_path / "done").exists()
    go = threading.Timer(0, lambda: (tmp_path / "go").write_text("\n"))
    go.start()
    with alone(tmp_path / "node"):
        assert (tmp_path / "done").exists()
    go.join()


def test_a_damaged_journal_is_said_and_kept(tmp_path: Path) -> None:
    leases = Leases(tmp_path)
    (tmp_path / "run.json").write_text('{"boot": ')
    with pytest.raises(TestbedError, match="look at the settings by hand"):
        leases.replay()
    assert leases.held() == ["run"]


@pytest.mark.parametrize(
    "bad",
    [
        {"kind": "sysctl", "name": "kernel.core_pattern", "value": "|/bin/sh"},
        {"kind": "sysctl", "name": "net.ipv4.conf.all/../../kernel.forwarding", "value": "1"},
        {"kind": "sysctl", "name": "net.ipv4.tcp_rmem", "value": "4096 1 2"},
        {"kind": "sysctl", "name": "net.core.rmem_max", "value": "99999999999"},
        {"kind": "sysctl", "name": "net.core.rmem_max", "value": "4096\n"},
        {"kind": "qdisc", "device": "lo", "discipline": "fq"},
        {"kind": "qdisc", "device": "v0", "discipline": "netem"},
        {"kind": "qdisc", "device": "-all", "discipline": "fq"},
        {"kind": "route-congestion", "destination": "-6", "device": "v0", "algorithm": "reno"},
        {"kind": "route-congestion", "destination": "default", "device": "v0", "algorithm": "a b"},
        {"kind": "command", "argv": ["reboot"]},
    ],
)
def test_nothing_else_can_be_asked_for(bad: dict[str, object]) -> None:
    """LEOScope's kernel service ran whatever string it was sent, as root of the host."""
    with pytest.raises(ValidationError):
        ONE.validate_python(bad)


WORKER = """
import json, sys
from pathlib import Path
from pydantic import TypeAdapter
from skyweave.testbed.node.settings import AnySetting, Leases
from skyweave.testbed.node.tools import alone
settings = TypeAdapter(list[AnySetting]).validate_json(sys.argv[3])
leases, network, number = Leases(Path(sys.argv[1])), Path(sys.argv[2]), 0
with alone(Path(sys.argv[4])):
    print("replayed", leases.replay(), flush=True)
    while True:
        number += 1
        leases.apply(f"run-{number}", settings, network)
        leases.restore(f"run-{number}")
"""


@pytest.mark.timeout(900)
def test_a_hundred_kills_at_random_moments_leave_the_kernel_as_it_was(
    network: Path, tmp_path: Path
) -> None:
    """``kill -9`` while settings come and go; after each, one replay and all is as before."""
    said = json.dumps([one.model_dump() for one in SETTINGS])
    journal, node = tmp_path / "settings", tmp_path / "node"
    argv = [sys.executable, "-c", WORKER, str(journal), str(network), said, str(node)]
    before, chance, halfway = states(network), random.Random(18), 0
    for _ in range(KILLS):
        with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as worker:
            assert worker.stdout is not None
            assert worker.stdout.readline() == "replayed []\n"
            _once(chance, worker)
        halfway += bool(list(journal.glob("run-*.json")))
        with alone(node):
            assert Leases(journal).replay() == []
        assert states(network) == before
        assert list(journal.iterdir()) == []
    assert halfway > KILLS // 10  # the kills did meet leases that were held


def _once(chance: random.Random, worker: subprocess.Popen[str]) -> None:
    """Kill after a random number of reads of its CPU time."""
    stat = Path(f"/proc/{worker.pid}/stat")
    used: Callable[[], int] = lambda: sum(map(int, stat.read_text().split()[13:15]))  # noqa: E731
    wanted = used() + chance.randrange(6)
    while used() < wanted and worker.poll() is None:
        pass
    for _ in range(chance.randrange(2000)):
        stat.read_text()
    worker.send_signal(signal.SIGKILL)
