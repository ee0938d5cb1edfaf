"""IPv6 and names in the sandbox: what a run reaches, what it does not, and who answers it."""

from __future__ import annotations

import contextlib
import json
import socket
import struct
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from far import run_id
from owner import (
    FAR6,
    LAN,
    LAN6,
    OWNER,
    OWNER6,
    PRINTER,
    PRINTER6,
    SERVER6,
    Owner,
    need_sandbox,
    owners,
)

from skyweave.testbed.node.sandbox import (
    Sandbox,
    Ways,
    can_forward6,
    forwards6,
    guard,
    unguard,
)
from skyweave.testbed.node.settings import Leases
from skyweave.testbed.node.start import forwarding
from skyweave.testbed.node.tools import tool, within
from skyweave.testbed.wire import Limits

FAR = "12.0.0.1"
PORT = 7777
REACH = """
import json, socket, sys
from concurrent.futures import ThreadPoolExecutor
def can(host):
    try:
        socket.create_connection((host, 7777), timeout=20).close()
        return True
    except OSError:
        return False
with ThreadPoolExecutor(20) as pool:
    able = list(pool.map(can, sys.argv[1:]))
reached = [host for host, one in zip(sys.argv[1:], able) if one]
json.dump(reached, open("/results/reach.json", "w"))
"""
ASK = """
import json, socket
found = {}
for name in ("far.example", "printer.example", "none.example"):
    try:
        found[name] = sorted({one[4][0] for one in socket.getaddrinfo(name, 80)})
    except OSError as error:
        found[name] = type(error).__name__
json.dump(found, open("/results/names.json", "w"))
"""


@pytest.fixture
def owner() -> Iterator[Owner]:
    need_sandbox()
    with owners() as found:
        yield found
        assert found.left() == []


def ran(owner: Owner, folder: Path, ways: Ways, program: str, *words: str) -> Sandbox:
    """Run a program in a sandbox, to its end."""
    sandbox = Sandbox(owner.ground(folder, ways=ways), run_id(1), Limits())

    def go() -> int | None:
        try:
            sandbox.prepare()
            sandbox.start([sys.executable, "-I", "-c", program, *words], {})
            return sandbox.wait(120)
        finally:
            sandbox.close()

    assert owner.do(go) == 0, (sandbox.folder / "output.txt").read_text()
    return sandbox


def reached(owner: Owner, folder: Path, ways: Ways, *hosts: str) -> list[str]:
    """Return which hosts a run reaches that all listen."""
    with ExitStack() as stack:
        for network in (owner.world, owner.printer, owner.network):
            made = within(network, lambda: socket.create_server(
                ("::", PORT), family=socket.AF_INET6, dualstack_ipv6=True))  # fmt: skip
            stack.enter_context(made)
        sandbox = ran(owner, folder, ways, REACH, *hosts)
    found: list[str] = json.loads((sandbox.results / "reach.json").read_text())
    return found


def test_with_ipv6_a_run_reaches_the_world_and_nothing_of_the_owners(
    owner: Owner, tmp_path: Path
) -> None:
    if not can_forward6():
        pytest.skip("this kernel forwards IPv6 on all devices or on none")
    for network, device, address in [
        (owner.world, "lo", "fd00:12::1"), (owner.world, "lo", "2002:c0a8:701::1"),
        (owner.world, "lo", "64:ff9b::c0a8:701"), (owner.world, "lo", "2a00:11:0:99::1"),
        (owner.network, "lan0", "fd00:7::1"), (owner.printer, "eth0", "fd00:7::9"),
    ]:  # fmt: skip
        bits = 128 if device == "lo" else 64
        tool("ip", "-n", network.name, "addr", "add", f"{address}/{bits}", "dev", device, "nodad")
    hosts = [
        FAR, FAR6,
        PRINTER, LAN, OWNER,
        PRINTER6, LAN6, OWNER6, SERVER6,  # networks of the site, though they are public
        "2a00:11:0:99::1",  # of the same site, behind the router
        "fd00:12::1", "fd00:7::1", "fd00:7::9", "2002:c0a8:701::1", "64:ff9b::c0a8:701",
        "2001:2::", "198.18.0.0", "::1",
    ]  # fmt: skip
    assert reached(owner, tmp_path, Ways(ipv6=True), *hosts) == [FAR, FAR6]
    allowed = Ways((f"{SERVER6}/128", "fd00:12::/64"), ipv6=True)
    assert reached(owner, tmp_path / "2", allowed, *hosts) == [FAR, FAR6, SERVER6, "fd00:12::1"]
    assert reached(owner, tmp_path / "3", Ways(), *hosts) == [FAR]
    tool("ip", "-n", owner.network.name, "addr", "del", "fd00:7::1/64", "dev", "lan0")


@pytest.mark.parametrize("ipv6", [False, True])
def test_link_local_addresses_of_the_node_are_closed(
    owner: Owner, tmp_path: Path, ipv6: bool
) -> None:
    """The pair's own ends have one each, without any rule or route."""
    sandbox = Sandbox(owner.ground(tmp_path, ways=Ways(ipv6=ipv6)), run_id(1), Limits())
    owner.do(sandbox.prepare)
    inside, outer = sandbox.network.namespace, sandbox.network.links[0].outer
    made = ("addr", "replace", "fe80::77/64", "dev", outer, "nodad")
    tool("ip", "-n", owner.network.name, *made)
    tool("ip", "-n", inside.name, "addr", "replace", "fe80::78/64", "dev", "uplink", "nodad")
    listening = owner.do(lambda: socket.create_server(("::", PORT), family=socket.AF_INET6))

    def knock() -> None:
        with socket.socket(socket.AF_INET6, socket.SOCK_STREAM) as end:
            end.settimeout(2)
            end.connect(("fe80::77", PORT, 0, socket.if_nametoindex("uplink")))

    with listening:
        with pytest.raises(TimeoutError):
            within(inside, knock)
        owner.do(lambda: tool("nft", "flush", "chain", "inet", sandbox.network._table, "input"))
        within(inside, knock)  # it was the rules that kept it out
    owner.do(sandbox.close)


def test_an_uplink_forwards_ipv6_for_runs_alone(owner: Owner) -> None:
    if not can_forward6():
        pytest.skip("this kernel forwards IPv6 on all devices or on none")
    tool("ip", "-n", owner.world.name, "route", "add", f"{PRINTER6}/128", "via", OWNER6)
    lan = Path("/proc/sys/net/ipv6/conf/lan0/force_forwarding")
    owner.do(lambda: lan.write_text("1"))
    listening = within(
        owner.printer, lambda: socket.create_server(("::", PORT), family=socket.AF_INET6)
    )

    def knock(patience_s: float) -> None:
        to = (PRINTER6, PORT)
        within(owner.world, lambda: socket.create_connection(to, patience_s)).close()

    with listening:
        knock(60.0)
        owner.do(lambda: guard([], ["up0"]))
        with pytest.raises(TimeoutError):
            knock(2.0)
        owner.do(unguard)
        knock(60.0)


def test_a_node_lets_its_uplink_forward_ipv6_and_takes_it_back(
    owner: Owner, tmp_path: Path
) -> None:
    if not can_forward6() or forwards6():
        pytest.skip("this kernel forwards IPv6 on all devices or on none")
    file, said = Path("/proc/sys/net/ipv6/conf/up0/force_forwarding"), list[str]()
    owner.do(lambda: file.write_text("0"))
    leases = Leases(tmp_path / "settings")

    def guarded() -> bool:
        return "skyweave_node" in owner.do(lambda: tool("nft", "list", "tables"))

    owner.do(lambda: leases.apply("node", forwarding(["up0"], False, said.append)))
    assert owner.do(file.read_text).strip() == "0"  # the policy says nothing of IPv6
    assert not guarded()  # and of IPv4 the uplink carried before
    owner.do(lambda: leases.restore("node"))
    owner.do(lambda: leases.apply("node", forwarding(["up0"], True, said.append)))
    assert owner.do(file.read_text).strip() == "1"
    assert guarded()
    owner.do(lambda: leases.restore("node"))
    assert owner.do(file.read_text).strip() == "0"
    owner.do(unguard)
    assert said == []


def answers(server: socket.socket) -> None:
    """Answer for names: ``far.example`` and ``printer.example`` have one address of IPv4."""
    known = {b"\3far\7example\0": FAR, b"\7printer\7example\0": PRINTER}
    with contextlib.suppress(OSError):  # it is closed when the test is over
        while True:
            asked, whose = server.recvfrom(1000)
            end = asked.index(b"\0", 12) + 1
            name, kind = asked[12:end], asked[end : end + 2]
            address = known.get(name) if kind == b"\0\1" else None
            code = 0 if name in known else 3  # NXDOMAIN
            count = int(address is not None)
            head = asked[:2] + struct.pack("!HHHHH", 0x8180 | code, 1, count, 0, 0)
            said = head + asked[12 : end + 4]
            if address is not None:
                answer = struct.pack("!IH", 60, 4) + socket.inet_aton(address)
                said += b"\xc0\x0c\0\1\0\1" + answer
            server.sendto(said, whose)


@pytest.mark.parametrize("resolver", [FAR, "10.9.9.9", FAR6])
def test_names_are_asked_of_the_owners_resolver_alone(
    owner: Owner, tmp_path: Path, resolver: str
) -> None:
    """A private one, too, on its port alone; what it answers opens no way."""
    six = ":" in resolver
    if six and not can_forward6():
        pytest.skip("this kernel forwards IPv6 on all devices or on none")
    if resolver.startswith("10."):
        tool("ip", "-n", owner.world.name, "addr", "add", f"{resolver}/32", "dev", "lo")
    family = socket.AF_INET6 if six else socket.AF_INET
    server = within(owner.world, lambda: socket.socket(family, socket.SOCK_DGRAM))
    within(owner.world, lambda: server.bind((resolver, 53)))
    threading.Thread(target=answers, args=(server,), daemon=True).start()
    ways = Ways(ipv6=six, resolver=resolver)
    with server:
        sandbox = ran(owner, tmp_path, ways, ASK)
        found = json.loads((sandbox.results / "names.json").read_text())
        assert found == {
            "far.example": [FAR], "printer.example": [PRINTER], "none.example": "gaierror",
        }  # fmt: skip
        hosts = (FAR, PRINTER, "10.9.9.9")
        assert reached(owner, tmp_path / "2", ways, *hosts) == [FAR]
        sandbox = ran(owner, tmp_path / "3", Ways(ipv6=six), ASK)
        found = json.loads((sandbox.results / "names.json").read_text())
        assert set(found.values()) == {"gaierror"}
