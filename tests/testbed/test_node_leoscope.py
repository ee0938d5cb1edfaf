"""Holes of LEOScope that a node had; docs/nodes.md has a table of all, with their tests."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

import node_process
import pytest
from far import NODE, FarOrchestrator, run_id, specification
from node_process import Process
from owner import Owner

from skyweave.testbed.node.home import Home
from skyweave.testbed.node.tools import within
from skyweave.testbed.wire import FarEnd, Numbered, PrivateKey, Start, seal

far, home, node, owner = node_process.far, node_process.home, node_process.node, node_process.owner

TOKEN = "secret-token-of-this-run-and-no-other-0123456789"


def listening(network: Path) -> set[str]:
    """Return the sockets of a namespace that somebody can reach."""
    found = set()
    for kind in ("tcp", "tcp6", "udp", "udp6", "raw"):
        for line in within(network, Path(f"/proc/thread-self/net/{kind}").read_text).splitlines():
            cells = line.split()
            if cells[0] != "sl" and (kind != "tcp" or cells[3] == "0A"):
                found.add(f"{kind} {cells[1]}")
    return found


def test_nothing_of_a_node_listens(
    far: FarOrchestrator,
    node: Callable[[], Process],
    owner: Owner,
) -> None:
    """LEOScope: anonymous MQTT on the host's ports, a kernel service on TCP 9000."""
    before = listening(owner.network)
    node()
    far.order(Start(specification=specification(1, argv=("sleep", "600"))))
    far.until(lambda: "started" in far.kinds(run_id(1)) and len(far.heartbeats) > 0)
    assert listening(owner.network) == before


def test_what_reads_like_a_shell_is_an_argument(
    far: FarOrchestrator,
    node: Callable[[], Process],
    tmp_path: Path,
) -> None:
    """LEOScope pasted names and parameters into crontab lines of root."""
    node()
    words = f"; touch {tmp_path}/owned #$(touch {tmp_path}/owned)`touch {tmp_path}/owned`\n* * * *"
    far.order(Start(specification=specification(1, argv=("echo", words))))
    far.until(lambda: far.files.get((run_id(1), "output.txt")) not in (None, b""))
    assert far.files[run_id(1), "output.txt"].decode() == words + "\n"
    assert not (tmp_path / "owned").exists()


def test_no_secret_is_in_arguments_logs_or_records(
    far: FarOrchestrator,
    node: Callable[[], Process],
    home: Home,
) -> None:
    """LEOScope had connection strings and tokens on command lines, in crontab and in logs."""
    process = node()
    end = FarEnd(name="far", address="12.0.0.1", ports={"probe": 7778}, token=TOKEN)
    program = (
        "import os, time\nprint(len(os.environ['SKYWEAVE_TOKEN']), flush=True)\n"
        "open('up', 'w')\ntime.sleep(600)"
    )
    argv = ("python3", "-c", program)
    far.order(Start(specification=specification(1, argv=argv, far_end=end, seconds=600.0)))
    results = home.folder / "runs" / run_id(1) / "results"
    while not (results / "up").exists():
        assert process.process.poll() is None
    key = (home.folder / "key.pem").read_text().splitlines()[1]
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            said = place.read_bytes().decode(errors="replace")
        except OSError:
            continue
        assert TOKEN not in said
        assert key not in said
    process.end()
    assert TOKEN not in process.log.read_text()
    node()
    far.until(lambda: far.is_over(run_id(1)))
    told = far.told(run_id(1))[-1]
    assert told.outcome == "crashed"
    sizes = {one.name: one.bytes for one in told.artefacts}
    far.until(lambda: all(len(far.files.get((run_id(1), n), b"")) == sizes[n] for n in sizes))
    assert far.files[run_id(1), "output.txt"] == f"{len(TOKEN)}\n".encode()
    for (_, name), content in far.files.items():
        assert TOKEN.encode() not in content, name


def test_a_node_has_no_key_but_its_own(home: Home) -> None:
    """LEOScope laid the storage account's key on every volunteer's machine."""
    assert sorted(one.name for one in home.folder.iterdir()) == [
        "identity.json", "key.pem", "policy.toml",
    ]  # fmt: skip
    said = json.loads((home.folder / "identity.json").read_text())
    assert set(said) == {"name", "kind", "url", "pin", "orchestrator_key", "address"}
    assert all(one.stat().st_mode & 0o077 == 0 for one in (home.folder, home.folder / "key.pem"))


@pytest.mark.parametrize("false", ["another key", "another node"])
def test_an_order_that_is_not_the_orchestrators_is_not_done(
    far: FarOrchestrator,
    node: Callable[[], Process],
    false: str,
) -> None:
    """LEOScope's tokens could be computed: anybody could order what they liked."""
    process = node()
    what = specification(1, argv=("true",))
    name = NODE if false == "another key" else "meadow"
    key = PrivateKey.make() if false == "another key" else far.key
    what = what.model_copy(update={"node": name})
    numbered = Numbered(
        node=name, sequence=1, issued_unix_s=time.time(), order=Start(specification=what)
    )
    with far.changed:
        far.orders.append(seal(key, numbered))
        far.changed.notify_all()
    words = "is not signed by" if false == "another key" else "is for 'meadow'"
    while words not in process.log.read_text():
        assert process.process.poll() is None
    assert far.told() == []
    with far.changed:
        far.orders.clear()
    far.order(Start(specification=specification(2, argv=("true",))))
    far.until(lambda: far.is_over(run_id(2)))
    assert far.told(run_id(1)) == []
