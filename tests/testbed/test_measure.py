"""The far end: services that start for a token and an address, answer nobody else, and end."""

from __future__ import annotations

import contextlib
import json
import secrets
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from far import run_id
from owner import OWNER, SERVER, Owner, need_sandbox, owners

from skyweave.testbed.errors import TestbedError
from skyweave.testbed.measure.gate import MOST_ADDRESSES, Gate, Said
from skyweave.testbed.measure.knock import gate_port, knock
from skyweave.testbed.measure.server import Kept, MeasureServer
from skyweave.testbed.node.book import Book
from skyweave.testbed.node.sandbox import Groups
from skyweave.testbed.node.talk import Talk
from skyweave.testbed.node.tools import tool, within
from skyweave.testbed.wire import Numbered, PrivateKey, Release, Serve

SAID = Said(services={"iperf3": 5201}, pin="0" * 64)
STRANGER = "12.0.0.9"


@pytest.fixture
def token() -> str:
    return secrets.token_urlsafe(32)


class Opened:
    """A gate on loopback, and whom it let in."""

    def __init__(self, token: str, only: str | None = None) -> None:
        self.came: list[str] = []
        listening = socket.create_server(("127.0.0.1", 0))
        self.port = listening.getsockname()[1]
        self.gate = Gate(listening, token, only, self.admit)

    def admit(self, address: str) -> Said:
        self.came.append(address)
        return SAID


def said_to(port: int, words: bytes) -> bytes:
    """Return all that a gate says to some bytes."""
    with socket.create_connection(("127.0.0.1", port)) as end:
        end.settimeout(60)
        end.sendall(words)
        with contextlib.suppress(OSError):
            end.shutdown(socket.SHUT_WR)
        heard = b""
        with contextlib.suppress(ConnectionResetError):
            while more := end.recv(1000):
                heard += more
        return heard


def test_the_gate_opens_for_the_token_and_says_nothing_to_anybody_else(token: str) -> None:
    opened = Opened(token)
    for words in (
        b"", b"\n", b"SKYWEAVE-KNOCK \n", f"SKYWEAVE-KNOCK {token}x\n".encode(),
        f"SKYWEAVE-KNOCK {token[:-1]}\n".encode(), b"A" * 100_000, f"{token}\n".encode(),
    ):  # fmt: skip
        assert said_to(opened.port, words) == b""
    assert opened.came == []
    assert knock("127.0.0.1", opened.port, token) == SAID
    assert opened.came == ["127.0.0.1"]
    opened.gate.close()
    with pytest.raises(TestbedError, match="does not answer"):
        knock("127.0.0.1", opened.port, token)


def test_a_gate_for_one_address_opens_for_no_other(token: str) -> None:
    opened = Opened(token, only="192.0.2.77")
    with pytest.raises(TestbedError, match="gate"):
        knock("127.0.0.1", opened.port, token)
    assert opened.came == []
    opened.gate.close()


def test_guessing_shuts_the_gate_and_the_admitted_are_few(
    token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from skyweave.testbed.measure import gate

    monkeypatch.setattr(gate, "MOST_TRIES", 5)
    opened = Opened(token)
    for _ in range(5):
        assert said_to(opened.port, b"SKYWEAVE-KNOCK nothing\n") == b""
    with pytest.raises(TestbedError, match="gate"):
        knock("127.0.0.1", opened.port, token)
    opened.gate.close()
    many = Opened(token)
    many.gate.admitted |= {f"192.0.2.{one}" for one in range(MOST_ADDRESSES)}
    with pytest.raises(TestbedError, match="gate"):
        knock("127.0.0.1", many.port, token)
    many.gate.close()


def test_who_says_nothing_is_cut_off_and_keeps_nobody_out(token: str) -> None:
    now = [0.0]
    listening = socket.create_server(("127.0.0.1", 0))
    port = listening.getsockname()[1]
    gate = Gate(listening, token, None, lambda _: SAID, now=lambda: now[0])
    silent = [socket.create_connection(("127.0.0.1", port)) for _ in range(3)]
    assert knock("127.0.0.1", port, token) == SAID
    now[0] = 6.0
    with pytest.raises(TestbedError):  # makes the gate look
        knock("127.0.0.1", port, "x" * 43)
    for one in silent:
        assert one.recv(10) == b""
        one.close()
    gate.close()


def test_the_gate_is_below_the_services() -> None:
    assert gate_port({"iperf3": 5209, "quic": 5210}) == 5208
    with pytest.raises(TestbedError, match="no service"):
        gate_port({})


class Far:
    """A measurement server in a network of its own, given its orders by hand."""

    def __init__(self, owner: Owner, folder: Path) -> None:
        self.owner, self.number = owner, 0
        folder.mkdir(exist_ok=True)
        self.book = Book(folder / "book.db")
        talk = Talk("far", PrivateKey.make().public, None, self.book, folder, say=print)  # type: ignore[arg-type]
        groups = Groups.found(owner.mark)
        self.server = within(
            owner.world, lambda: MeasureServer(talk, SERVER, folder, groups, say=print)
        )

    def order(self, order: Any) -> None:
        self.number = self.book.newest_order + 1
        numbered = Numbered(
            node="far", sequence=self.number, issued_unix_s=time.time(), order=order
        )
        within(self.owner.world, lambda: self.server.take(numbered))

    def told(self) -> list[Any]:
        return [event.body for event in self.book.unsent()]


@pytest.fixture
def owner() -> Iterator[Owner]:
    need_sandbox()
    with owners() as found:
        tool("ip", "-n", found.network.name, "addr", "add", f"{STRANGER}/32", "dev", "lo")
        tool("ip", "-n", found.world.name, "route", "add", f"{STRANGER}/32", "via", OWNER)
        yield found


def ordered(token: str, number: int = 1, **more: Any) -> Serve:
    now = time.time()
    plain = {
        "run": run_id(number), "fence": 1, "services": ("iperf3", "quic", "http", "probe"),
        "client": "garden", "client_address": None, "token": token, "from_unix_s": now,
        "until_unix_s": now + 600, "seconds": 60.0,
    }  # fmt: skip
    return Serve(**(plain | more))


ASK = """
import json, socket, sys
ports, sure, source, server = json.loads(sys.argv[1]), json.loads(sys.argv[2]), *sys.argv[3:]
heard = {}
for name, port in ports.items():
    for kind in ("tcp", "udp"):
        stream = kind == "tcp"
        end = socket.socket(socket.AF_INET, socket.SOCK_STREAM if stream else socket.SOCK_DGRAM)
        end.bind((source, 0))
        end.settimeout(60 if f"{name}/{kind}" in sure else 1.5)
        try:
            end.connect((server, port))
            end.send(b"SKYP1H" + bytes(1300))
            heard[f"{name}/{kind}"] = stream or len(end.recv(2000))
        except OSError as error:
            heard[f"{name}/{kind}"] = False
print(json.dumps(heard))
"""


def heard(
    owner: Owner, ports: dict[str, int], source: str, *sure: str
) -> dict[str, Any]:  # fmt: skip
    """Return which services answer to an address of the owner's machine.

    ``sure`` are those that will, however long it takes them.
    """
    argv = ["nsenter", f"--net={owner.network}", sys.executable, "-c", ASK]
    asked = [json.dumps(ports), json.dumps(sure), source, SERVER]
    ran = subprocess.run([*argv, *asked], capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(ran.stdout)
    return {name: one for name, one in found.items() if one}


def test_services_start_for_the_token_answer_its_address_alone_and_end_with_the_lease(
    owner: Owner, tmp_path: Path, token: str
) -> None:
    far = Far(owner, tmp_path / "far")
    far.order(ordered(token))
    (ready,) = far.told()
    assert ready.kind == "ready"
    ports = dict(ready.ports)
    groups = Groups.found(owner.mark)
    started = [p for one in groups.hierarchies for p in one.folder.glob(f"*{owner.mark}*")]
    assert all((place / "cgroup.procs").read_text() == "" for place in started)  # nothing runs yet
    assert heard(owner, ports, OWNER) == {}
    said = owner.do(lambda: knock(SERVER, gate_port(ports), token))
    assert said.services == ports
    sure = ("iperf3/tcp", "http/tcp", "probe/udp")
    own = heard(owner, ports, OWNER, *sure)
    assert set(sure) <= set(own)
    assert own["probe/udp"] < 1306  # no answer is longer than what it answers
    assert heard(owner, ports, STRANGER) == {}  # not a byte, and not a RST
    far.order(Release(run=run_id(1), fence=1))
    assert heard(owner, ports | {"gate": gate_port(ports)}, OWNER) == {}
    assert owner.left() == []
    assert "skyweave" not in within(owner.world, lambda: tool("nft", "list", "ruleset"))


def test_what_the_services_measure(owner: Owner, tmp_path: Path, token: str) -> None:
    far = Far(owner, tmp_path / "far")
    far.order(ordered(token))
    ports = dict(far.told()[0].ports)
    said = owner.do(lambda: knock(SERVER, gate_port(ports), token))
    here = ["nsenter", f"--net={owner.network}", "--"]
    ours = [sys.executable, "-m", "skyweave.cli"]

    def run(*argv: str) -> str:
        ran = subprocess.run([*here, *argv], capture_output=True, text=True, check=False)
        assert ran.returncode == 0, ran.stdout + ran.stderr
        return ran.stdout

    found = json.loads(run("iperf3", "-c", SERVER, "-p", str(ports["iperf3"]), "-n", "2M", "-J"))
    assert found["end"]["sum_sent"]["bytes"] >= 2_000_000
    url = f"{SERVER}:{ports['quic']}/1MB"
    run(*ours, "quic", "get", url, "--pin", said.pin, "--out", str(tmp_path / "quic"), "--quiet")
    assert (tmp_path / "quic").stat().st_size == 10**6
    page = f"http://{SERVER}:{ports['http']}/1MB"
    fetch = f"import urllib.request as u; print(len(u.urlopen('{page}').read()))"
    assert run(sys.executable, "-c", fetch) == "1000000\n"
    probes = ["--udp", f"{SERVER}:{ports['probe']}", "--duration", "2"]
    assert "udp" in run(*ours, "probe", "run", *probes, "--out", str(tmp_path / "probes"))
    far.order(Release(run=run_id(1), fence=1))


def test_ports_for_the_data_of_studies_are_shut_to_others_too(
    owner: Owner, tmp_path: Path, token: str
) -> None:
    far = Far(owner, tmp_path / "far")
    far.order(ordered(token, services=("field", "probe")))
    lease = far.server._leases[run_id(1)][0]
    ports = dict(far.told()[0].ports)
    assert ports == lease.ports
    assert max(ports) == "probe"
    assert ports["field"] == max(ports.values())  # what is left of the block is for its data
    assert len(lease.data) == 5
    owner.do(lambda: knock(SERVER, gate_port(ports), token))
    field = {"field/tcp": True, "field/udp": 24}
    assert heard(owner, {"field": ports["field"]}, OWNER, *field) == field
    data = {str(port): port for port in lease.data}
    servers = [within(owner.world, lambda port=port: socket.create_server(("", port)))  # type: ignore[misc]
               for port in lease.data]  # fmt: skip
    sure = [f"{port}/tcp" for port in data]
    assert set(heard(owner, data, OWNER, *sure)) == set(sure)
    assert heard(owner, data | {"field": ports["field"]}, STRANGER) == {}
    for one in servers:
        one.close()
    far.order(Release(run=run_id(1), fence=1))
    assert owner.left() == []


def test_a_lease_ends_by_itself_and_one_that_is_past_never_begins(
    owner: Owner, tmp_path: Path, token: str
) -> None:
    far = Far(owner, tmp_path / "far")
    far.order(ordered(token, 1, until_unix_s=time.time() - 1))
    assert [one.kind for one in far.told()] == ["refused"]
    until, over = time.time() + 600, threading.Event()
    # Its clock stands 50 ms before the end until it was let in, however long that takes.
    far.server.talk.true_time = lambda: until - 0.05 + over.is_set()  # type: ignore[method-assign]
    far.order(ordered(token, 2, until_unix_s=until))
    lease, _, thread = far.server._leases[run_id(2)]
    owner.do(lambda: knock(SERVER, gate_port(lease.ports), token))
    over.set()
    thread.join()
    assert heard(owner, dict(lease.ports), OWNER) == {}
    assert owner.left() == []


def test_a_server_that_died_serves_its_runs_again_at_the_same_ports(
    owner: Owner, tmp_path: Path, token: str
) -> None:
    far = Far(owner, tmp_path / "far")
    serve = ordered(token)
    kept = far.server._keep(serve)  # the order is on the disk, and the process dies
    assert isinstance(kept, Kept)
    far.book.close()
    again = Far(owner, tmp_path / "far")
    thread = threading.Thread(target=lambda: within(owner.world, again.server.run))
    again.server.talk.begin = lambda *_: None  # type: ignore[method-assign]
    thread.start()
    while not again.server._leases:
        assert thread.is_alive()
    lease = again.server._leases[run_id(1)][0]
    assert gate_port(lease.ports) == kept.first_port
    assert owner.do(lambda: knock(SERVER, kept.first_port, token)).services == lease.ports
    again.server.stop.set()
    thread.join()
    assert owner.left() == []
