"""The network of one run: a namespace, a veth pair for each uplink, and rules that end at both.

Inside, each device has the name that experiments give the network behind it. What leaves is
translated to the owner's address and goes by that uplink alone. It reaches public addresses and
what the policy names: neither this machine, nor its other networks, nor the dish; and nothing from
outside begins a connection to it.
"""

from __future__ import annotations

import contextlib
import ipaddress
import json
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skyweave.testbed.errors import TestbedError
from skyweave.testbed.node.tools import tool

POOL = ipaddress.IPv4Network("198.18.0.0/15")
"""Addresses of the pairs: for benchmarks (RFC 2544), so that no owner's network has them."""
FIRST_TABLE = 18_000
"""Of the routing tables of uplinks that have a device of their own."""
MOST_PAIRS = 10_000
"""Priorities and tables above these are the machine's own, such as the rule for ``main``."""
NAMESPACES = Path("/run/netns")
GUARD = "skyweave_node"
LOWER_EFFORT = "ip dscp set 0x01 meta priority set 0:1"
"""LE (RFC 8622), and the lowest band of Linux's queues that have bands."""
NOT_PUBLIC = (
    "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
    "192.0.0.0/24", "192.0.2.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24",
    "203.0.113.0/24", "224.0.0.0/3",
)  # fmt: skip
"""What is not global (RFC 6890), and multicast: an owner's network is in one of these."""


Counters = list[tuple[str, int, int]]
"""Of each device its name, bytes received and bytes sent."""
_one_at_a_time = threading.Lock()
"""Addresses of pairs are looked for and taken."""


@dataclass(frozen=True)
class Link:
    """One uplink of a run."""

    name: str
    """The device inside."""
    device: str
    """The owner's device that it leaves by."""
    outer: str
    """Our end of the pair."""
    address: str
    gateway: str
    table: int


class RunNetwork:
    """The network of one run; made by :meth:`make`, and gone after :meth:`close`."""

    def __init__(self, mark: str, run: str, yields: bool = False) -> None:
        """``yields``: what it sends is marked as lower effort, for queues on its way."""
        self.name = f"skyweave-{mark}-{run}"
        self._run, self._yields = run, yields
        self.links: tuple[Link, ...] = ()
        self._there = (0, 0)

    @property
    def namespace(self) -> Path:
        """The file of the namespace."""
        return NAMESPACES / self.name

    def make(self, uplinks: dict[str, str], reach: Sequence[str], most_bytes: int) -> None:
        """Make it for uplinks (name to device); empty: one called ``uplink``, the default route.

        ``most_bytes``: both directions of all uplinks together; what is more is dropped.
        """
        with _one_at_a_time:
            self._make(uplinks, reach, most_bytes)

    def _make(self, uplinks: dict[str, str], reach: Sequence[str], most_bytes: int) -> None:
        routes = json.loads(tool("ip", "-j", "-4", "route") or "[]")
        devices = uplinks or {"uplink": _default_device(routes)}
        used = _used_addresses()
        tool("ip", "netns", "add", self.name)
        self._inside("link", "set", "lo", "up")
        links = []
        for number, (name, device) in enumerate(devices.items()):
            links.append(self._pair(number, name, device, used))
        self.links = tuple(links)
        tool("nft", "-f", "-", given=self._rules(reach, routes, most_bytes))
        for number, link in enumerate(self.links):
            self._connect(number, link, routes)

    def traffic(self, seen: Counters | None = None) -> tuple[int, int]:
        """Return the bytes that the run has sent and received, with Ethernet headers.

        ``seen``: counters that were just read. What was counted last stays after the devices are
        gone.
        """
        sent = received = 0
        outer = {link.outer for link in self.links}
        for name, into, out in counters() if seen is None else seen:
            if name in outer:
                sent, received = sent + into, received + out
        self._there = max(self._there[0], sent), max(self._there[1], received)
        return self._there

    def by_link(self) -> dict[str, tuple[int, int]]:
        """Return bytes sent and received over each uplink."""
        names = {link.outer: link.name for link in self.links}
        return {names[one]: (into, out) for one, into, out in counters() if one in names}

    def pause(self, paused: bool) -> None:
        """Let nothing pass, or everything again that the rules allow.

        A frozen receiver's kernel goes on taking what comes, up to its buffer: megabytes that its
        owner would wait for.
        """
        rule = f"add rule ip {self._table} pause drop\n" if paused else ""
        tool("nft", "-f", "-", given=f"flush chain ip {self._table} pause\n{rule}")

    def close(self) -> None:
        """Take all of it away, however far it came."""
        remove(self.name, self._run)

    def _rules(self, reach: Sequence[str], routes: list[dict[str, Any]], most_bytes: int) -> str:
        """Return the rules of a run for nft; every value in them is a number, network or device."""
        connected = [one["dst"] for one in routes if one.get("scope") == "link"]
        lan = ipaddress.collapse_addresses(
            ipaddress.IPv4Network(one) for one in (*NOT_PUBLIC, *connected) if one != "default"
        )
        own = ipaddress.collapse_addresses(ipaddress.IPv4Network(one) for one in reach)
        outer = ", ".join(f'"{link.outer}"' for link in self.links)
        lines = [
            f"table ip {self._table} {{",
            _set("lan", [str(one) for one in lan]),
            _set("reach", [str(one) for one in own]),
            f"quota cap {{ over {max(most_bytes, 1)} bytes }}",
            "chain pause { }",
            "chain forward { type filter hook forward priority -10; policy accept;",
            f"iifname {{ {outer} }} jump pause",
            f"oifname {{ {outer} }} jump pause",
            f'iifname {{ {outer} }} quota name "cap" drop',
            f'oifname {{ {outer} }} quota name "cap" drop',
            f"oifname {{ {outer} }} ct state established,related accept",
            f"oifname {{ {outer} }} drop",
        ]
        for link in self.links:
            lines += [
                f'iifname "{link.outer}" ip saddr != {link.address} drop',
                *([f'iifname "{link.outer}" {LOWER_EFFORT}'] if self._yields else []),
                f'iifname "{link.outer}" ip daddr @reach accept',
                f'iifname "{link.outer}" oifname != "{link.device}" drop',
                f'iifname "{link.outer}" ip daddr @lan drop',
            ]
        lines += [
            "}",
            "chain input { type filter hook input priority -10; policy accept;",
            f"iifname {{ {outer} }} drop",
            "}",
            "chain source { type nat hook postrouting priority srcnat; policy accept;",
            *(f"ip saddr {link.address} masquerade" for link in self.links),
            "}",
            "}",
        ]
        return "\n".join(lines) + "\n"

    @property
    def _table(self) -> str:
        return f"skyweave_{self._run}"

    def _inside(self, *words: str) -> None:
        tool("ip", "-n", self.name, *words)

    def _pair(self, number: int, name: str, device: str, used: set[str]) -> Link:
        outer = f"sw{self._run[-10:]}{number:x}"
        free = (POOL[2 * one] for one in range(MOST_PAIRS) if str(POOL[2 * one]) not in used)
        gateway = next(free)
        used.add(str(gateway))
        table = FIRST_TABLE + (int(gateway) - int(POOL[0])) // 2
        link = Link(name, device, outer, str(gateway + 1), str(gateway), table)
        mtu = json.loads(tool("ip", "-j", "link", "show", "dev", device))[0]["mtu"]
        # one packet at a time: what a card's driver has merged would be counted with one header,
        # and 3 % of what the run receives be taken for its owner's
        tool(
            "ip", "link", "add", outer, "mtu", str(mtu), "gso_max_segs", "1", "type", "veth",
            "peer", "name", name, "mtu", str(mtu), "gso_max_segs", "1", "netns", self.name,
        )  # fmt: skip
        tool("ip", "addr", "add", f"{link.gateway}/31", "dev", outer)
        return link

    def _connect(self, number: int, link: Link, routes: list[dict[str, Any]]) -> None:
        """Let a pair carry, now that the rules are there."""
        tool("ip", "link", "set", link.outer, "up")
        Path(f"/proc/sys/net/ipv4/conf/{link.outer}/forwarding").write_text("1")
        via = next(
            (one for one in routes if one["dst"] == "default" and one["dev"] == link.device), None
        )
        if via is not None:
            hop = ["via", via["gateway"]] if "gateway" in via else []
            tool("ip", "route", "replace", "default", *hop, "dev", link.device, "table",
                 str(link.table))  # fmt: skip
            tool("ip", "rule", "add", "from", f"{link.address}/32", "priority", str(link.table),
                 "table", str(link.table))  # fmt: skip
        self._inside("addr", "add", f"{link.address}/31", "dev", link.name)
        self._inside("link", "set", link.name, "up")
        self._inside("route", "add", "default", "via", link.gateway, "dev", link.name, "metric",
                     str(number + 1))  # fmt: skip
        if len(self.links) > 1:
            table = str(100 + number)
            self._inside("route", "add", "default", "via", link.gateway, "table", table)
            self._inside("rule", "add", "from", link.address, "table", table)
            self._inside("mptcp", "endpoint", "add", link.address, "dev", link.name, "subflow")


def remove(name: str, run: str) -> None:
    """Take away the network of a run, dead or alive; what is not there is no error."""
    for pid in _tried("ip", "netns", "pids", name).split():
        _tried("kill", "-9", pid)
    with _one_at_a_time:
        _tried("nft", "delete", "table", "ip", f"skyweave_{run}")
        for device, _, _ in counters():
            if device.startswith(f"sw{run[-10:]}"):
                _tried("ip", "link", "del", device)
        _tried("ip", "netns", "del", name)
        _drop_rules()


def _drop_rules() -> None:
    """Take away the routing of pairs that are gone: a namespace takes its devices with it."""
    used = _used_addresses()
    for one in json.loads(_tried("ip", "-j", "rule") or "[]"):
        number, source = one.get("priority", 0) - FIRST_TABLE, one.get("src", "")
        ours = 0 <= number < MOST_PAIRS and source == str(POOL[2 * number + 1])
        if ours and str(POOL[2 * number]) not in used:
            table = str(FIRST_TABLE + number)
            _tried("ip", "rule", "del", "from", source, "priority", table)
            _tried("ip", "route", "flush", "table", table)


def sweep(mark: str) -> int:
    """Take away what a dead process left; return the number of networks."""
    prefix = f"skyweave-{mark}-"
    left = sorted(NAMESPACES.glob(f"{prefix}*")) if NAMESPACES.is_dir() else []
    for one in left:
        remove(one.name, one.name.removeprefix(prefix))
    with _one_at_a_time:
        _drop_rules()
        for line in _tried("nft", "list", "tables", "ip").splitlines():
            table = line.rpartition(" ")[2]
            if table.startswith("skyweave_") and table != GUARD:
                _tried("nft", "delete", "table", "ip", table)
    return len(left)


def default_devices(uplinks: dict[str, str]) -> list[str]:
    """Return the devices that runs leave by."""
    if uplinks:
        return sorted(set(uplinks.values()))
    return [_default_device(json.loads(tool("ip", "-j", "-4", "route") or "[]"))]


def guard(devices: Sequence[str]) -> None:
    """Let uplinks carry for runs alone: forwarding does not make a router of the machine.

    ``devices`` are those that carried for nobody before; :func:`unguard` takes it back.
    """
    unguard()
    if not devices:
        return
    names = ", ".join(f'"{one}"' for one in devices)
    tool("nft", "-f", "-", given=(
        f"table ip {GUARD} {{\nchain forward {{ type filter hook forward priority -5; "
        f'policy accept; iifname {{ {names} }} oifname != "sw*" drop; }}\n}}\n'
    ))  # fmt: skip


def unguard() -> None:
    """Take away the rules of :func:`guard`."""
    _tried("nft", "delete", "table", "ip", GUARD)


def _set(name: str, networks: list[str]) -> str:
    elements = f" elements = {{ {', '.join(networks)} }};" if networks else ""
    return f"set {name} {{ type ipv4_addr; flags interval;{elements} }}"


def _default_device(routes: list[dict[str, Any]]) -> str:
    for one in routes:
        if one["dst"] == "default":
            return str(one["dev"])
    raise TestbedError(
        "this machine has no default route; name the device of each network under [uplinks]"
    )


def _used_addresses() -> set[str]:
    said = json.loads(tool("ip", "-j", "-4", "addr") or "[]")
    return {address["local"] for one in said for address in one.get("addr_info", ())}


def counters() -> Counters:
    """Return name, bytes received and bytes sent of all devices of this namespace."""
    found = []
    for line in Path("/proc/thread-self/net/dev").read_text().splitlines()[2:]:
        name, _, numbers = line.partition(":")
        cells = numbers.split()
        found.append((name.strip(), int(cells[0]), int(cells[8])))
    return found


def _tried(*argv: str) -> str:
    with contextlib.suppress(TestbedError):
        return tool(*argv)
    return ""
