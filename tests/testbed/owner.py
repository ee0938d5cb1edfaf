"""An owner's machine in namespaces: a printer on the LAN, and a server in the rest of the world."""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from skyweave.live.world.world import obstacle
from skyweave.testbed.node.sandbox import Ground, Groups, lacking
from skyweave.testbed.node.tools import tool, within

LAN, PRINTER = "192.168.7.1", "192.168.7.9"
OWNER, SERVER = "11.0.0.2", "11.0.0.1"
"""Public addresses, so far as the rules can tell."""
LAN6, PRINTER6 = "2a00:11:0:7::1", "2a00:11:0:7::9"
OWNER6, SERVER6, FAR6 = "2a00:11::2", "2a00:11::1", "2a00:12::1"
"""The LAN's network is public, and of the owner's site; the far end is behind the server."""


@dataclass(frozen=True)
class Owner:
    """A machine with an uplink and a LAN; ``mark`` names what its node makes."""

    network: Path
    printer: Path
    world: Path
    mark: str

    def do(self, what: Callable[[], Any]) -> Any:
        """Do something on the owner's machine."""
        return within(self.network, what)

    def ground(self, folder: Path, **more: Any) -> Ground:
        """Return what sandboxes there stand on."""
        return Ground(folder, self.mark, Groups.found(self.mark), **more)

    def left(self) -> list[str]:
        """Return what runs left: namespaces, control groups, devices, rules, routes."""
        groups = [
            str(place)
            for one in Groups.found(self.mark).hierarchies
            for place in one.folder.glob(f"skyweave-{self.mark}-*")
        ]
        spaces = [str(one) for one in Path("/run/netns").glob(f"skyweave-{self.mark}-*")]
        devices = self.do(lambda: tool("ip", "-o", "link"))
        found = [line for line in devices.splitlines() if ": sw" in line]
        rules = self.do(lambda: routing() + tool("nft", "list", "tables"))
        ours = ("198.18", "2001:2:", "skyweave")
        found += [line for line in rules.splitlines() if any(one in line for one in ours)]
        return groups + spaces + found


def need_sandbox() -> None:
    """Skip where there can be none."""
    if os.geteuid() != 0:
        pytest.skip("needs root, for namespaces")
    if reason := lacking() or obstacle():
        pytest.skip(reason)


def forward() -> None:
    """Let the uplink carry for others; older kernels have no such word for IPv6."""
    Path("/proc/sys/net/ipv4/conf/up0/forwarding").write_text("1")
    six = Path("/proc/sys/net/ipv6/conf/up0/force_forwarding")
    if six.exists():
        six.write_text("1")


def settle() -> None:
    """Wait until the kernel has seen the carriers of both devices: only then are routes whole."""
    while "linkdown" in routing() or routing().count("fe80::/64") < 2:
        time.sleep(0.01)


def routing() -> str:
    """Return rules and routes of both families, as ``ip`` lists them."""
    return "".join(tool("ip", one, what) for one in ("-4", "-6") for what in ("rule", "route"))


@contextmanager
def owners() -> Iterator[Owner]:
    """Make an owner's machine and take it away."""
    mark = uuid.uuid4().hex[:6]
    names = [f"{kind}{mark}" for kind in ("own", "prn", "wld")]
    owner, printer, world = names
    for name in names:
        tool("ip", "netns", "add", name)
        tool("ip", "-n", name, "link", "set", "lo", "up")
    for device, own, other, theirs, own6, theirs6 in (
        ("lan0", LAN, printer, PRINTER, LAN6, PRINTER6),
        ("up0", OWNER, world, SERVER, OWNER6, SERVER6),
    ):
        tool("ip", "-n", owner, "link", "add", device, "type", "veth", "peer", "name", "eth0",
             "netns", other)  # fmt: skip
        tool("ip", "-n", owner, "addr", "add", f"{own}/24", "dev", device)
        tool("ip", "-n", other, "addr", "add", f"{theirs}/24", "dev", "eth0")
        tool("ip", "-n", owner, "addr", "add", f"{own6}/64", "dev", device, "nodad")
        tool("ip", "-n", other, "addr", "add", f"{theirs6}/64", "dev", "eth0", "nodad")
        tool("ip", "-n", owner, "link", "set", device, "up")
        tool("ip", "-n", other, "link", "set", "eth0", "up")
    tool("ip", "-n", owner, "route", "add", "default", "via", SERVER)
    tool("ip", "-n", owner, "route", "add", "default", "via", SERVER6)
    tool("ip", "-n", world, "addr", "add", "12.0.0.1/32", "dev", "lo")
    tool("ip", "-n", world, "addr", "add", f"{FAR6}/128", "dev", "lo")
    tool("ip", "-n", printer, "route", "add", "default", "via", LAN6)
    tool("ip", "-n", printer, "route", "add", "default", "via", LAN)
    found = Owner(*(Path("/run/netns", name) for name in names), mark)
    found.do(forward)
    found.do(settle)
    before = found.do(routing)
    try:
        yield found
        after = found.do(routing)
        assert after == before, f"{before}was before, and this is left:\n{after}"
    finally:
        for name in names:
            tool("ip", "netns", "del", name)
