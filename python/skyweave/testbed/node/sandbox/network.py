"""The network of one run: a namespace, a veth pair for each uplink, and rules that end at both.

Inside, each device has the name that experiments give the network behind it. What leaves is
translated to the owner's address and goes by that uplink alone. It reaches public addresses and
what the policy names: neither this machine, nor its other networks, nor the dish; and nothing from
outside begins a connection to it. IPv6 is there if the policy allows it and the uplink has it.
"""

from __future__ import annotations

import contextlib
import ipaddress
import json
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from skyweave.testbed.errors import TestbedError
from skyweave.testbed.node.sandbox.forwarding import GUARD, can_forward6
from skyweave.testbed.node.sandbox.rules import Link, Ways, owners_networks, rules
from skyweave.testbed.node.tools import tool

POOL = ipaddress.IPv4Network("198.18.0.0/15")
"""Addresses of the pairs: for benchmarks (RFC 2544), so that no owner's network has them."""
POOL6 = ipaddress.IPv6Network("2001:2::/48")
"""The same of IPv6 (RFC 5180)."""
FIRST_TABLE = 18_000
"""Of the routing tables of uplinks that have a device of their own."""
MOST_PAIRS = 10_000
"""Priorities and tables above these are the machine's own, such as the rule for ``main``."""
NAMESPACES = Path("/run/netns")
Counters = list[tuple[str, int, int]]
"""Of each device its name, bytes received and bytes sent."""
_one_at_a_time = threading.Lock()
"""Addresses of pairs are looked for and taken."""


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

    def make(self, uplinks: dict[str, str], ways: Ways, most_bytes: int) -> None:
        """Make it for uplinks (name to device); empty: one called ``uplink``, the default route.

        ``most_bytes``: both directions of all uplinks together; what is more is dropped.
        """
        with _one_at_a_time:
            self._make(uplinks, ways, most_bytes)

    def _make(self, uplinks: dict[str, str], ways: Ways, most_bytes: int) -> None:
        routes, routes6 = _listed("-4", "route"), _listed("-6", "route")
        devices = uplinks or {"uplink": _default_device(routes)}
        used = _used_addresses()
        tool("ip", "netns", "add", self.name)
        self._inside("link", "set", "lo", "up")
        links = []
        for number, (name, device) in enumerate(devices.items()):
            via6 = _default_of(routes6, device) if ways.ipv6 and can_forward6() else None
            links.append(self._pair(number, name, device, used, via6 is not None))
        self.links = tuple(links)
        lan = owners_networks(routes, routes6, _global6())
        text = rules(self._table, self.links, lan, ways, most_bytes, self._yields)
        tool("nft", "-f", "-", given=text)
        for number, link in enumerate(self.links):
            self._connect(number, link, _default_of(routes, link.device))
            if link.address6 is not None:
                self._connect6(number, link, _default_of(routes6, link.device))

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
        rule = f"add rule inet {self._table} pause drop\n" if paused else ""
        tool("nft", "-f", "-", given=f"flush chain inet {self._table} pause\n{rule}")

    def close(self) -> None:
        """Take all of it away, however far it came."""
        remove(self.name, self._run)

    @property
    def _table(self) -> str:
        return f"skyweave_{self._run}"

    def _inside(self, *words: str) -> None:
        tool("ip", "-n", self.name, *words)

    def _pair(self, number: int, name: str, device: str, used: set[str], six: bool) -> Link:
        outer = f"sw{self._run[-10:]}{number:x}"
        free = (POOL[2 * one] for one in range(MOST_PAIRS) if str(POOL[2 * one]) not in used)
        gateway = next(free)
        used.add(str(gateway))
        place = (int(gateway) - int(POOL[0])) // 2
        both = (str(POOL6[2 * place + 1]), str(POOL6[2 * place])) if six else (None, None)
        link = Link(name, device, outer, str(gateway + 1), str(gateway), FIRST_TABLE + place, *both)
        mtu = json.loads(tool("ip", "-j", "link", "show", "dev", device))[0]["mtu"]
        # one packet at a time: what a card's driver has merged would be counted with one header,
        # and 3 % of what the run receives be taken for its owner's
        tool(
            "ip", "link", "add", outer, "mtu", str(mtu), "gso_max_segs", "1", "type", "veth",
            "peer", "name", name, "mtu", str(mtu), "gso_max_segs", "1", "netns", self.name,
        )  # fmt: skip
        self._inside("link", "set", name, "addrgenmode", "none")
        if six:  # a second less until it can ask who has the other end's address
            Path(f"/proc/sys/net/ipv6/conf/{outer}/accept_dad").write_text("0")
        else:
            tool("ip", "link", "set", outer, "addrgenmode", "none")
        tool("ip", "addr", "add", f"{link.gateway}/31", "dev", outer)
        return link

    def _connect(self, number: int, link: Link, via: dict[str, Any] | None) -> None:
        """Let a pair carry, now that the rules are there."""
        tool("ip", "link", "set", link.outer, "up")
        Path(f"/proc/sys/net/ipv4/conf/{link.outer}/forwarding").write_text("1")
        if via is not None:
            _route("-4", link, link.address, via)
        self._inside("addr", "add", f"{link.address}/31", "dev", link.name)
        self._inside("link", "set", link.name, "up")
        self._lead("-4", number, link, link.address, link.gateway)

    def _connect6(self, number: int, link: Link, via: dict[str, Any] | None) -> None:
        """The same in IPv6; addresses are ours, so nobody is asked whether they are free."""
        assert link.address6 is not None
        assert link.gateway6 is not None
        assert via is not None
        settings = Path("/proc/sys/net/ipv6/conf", link.outer)
        for name, value in (("accept_ra", "0"), ("force_forwarding", "1")):
            if (file := settings / name).exists():
                file.write_text(value)
        tool("ip", "addr", "add", f"{link.gateway6}/127", "dev", link.outer, "nodad")
        _route("-6", link, link.address6, via)
        self._inside("addr", "add", f"{link.address6}/127", "dev", link.name, "nodad")
        self._lead("-6", number, link, link.address6, link.gateway6)

    def _lead(self, family: str, number: int, link: Link, address: str, gateway: str) -> None:
        """Lead a run's packets out by this pair: by its metric, or by their source address."""
        self._inside(family, "route", "add", "default", "via", gateway, "dev", link.name, "metric",
                     str(number + 1))  # fmt: skip
        if len(self.links) > 1:
            table = str(100 + number)
            self._inside(family, "route", "add", "default", "via", gateway, "dev", link.name,
                         "table", table)  # fmt: skip
            self._inside(family, "rule", "add", "from", address, "table", table)
            self._inside("mptcp", "endpoint", "add", address, "dev", link.name, "subflow")


def _route(family: str, link: Link, address: str, via: dict[str, Any]) -> None:
    """Let what a run sends from an address leave by its uplink's own default route."""
    hop = ["via", via["gateway"]] if "gateway" in via else []
    table = str(link.table)
    tool("ip", family, "route", "replace", "default", *hop, "dev", link.device, "table", table)
    tool("ip", family, "rule", "add", "from", address, "priority", table, "table", table)


def remove(name: str, run: str) -> None:
    """Take away the network of a run, dead or alive; what is not there is no error."""
    for pid in _tried("ip", "netns", "pids", name).split():
        _tried("kill", "-9", pid)
    with _one_at_a_time:
        _tried("nft", "delete", "table", "inet", f"skyweave_{run}")
        for device, _, _ in counters():
            if device.startswith(f"sw{run[-10:]}"):
                _tried("ip", "link", "del", device)
        _tried("ip", "netns", "del", name)
        _drop_rules()


def _drop_rules() -> None:
    """Take away the routing of pairs that are gone: a namespace takes its devices with it."""
    used = _used_addresses()
    for family, pool in (("-4", POOL), ("-6", POOL6)):
        for one in json.loads(_tried("ip", "-j", family, "rule") or "[]"):
            number, source = one.get("priority", 0) - FIRST_TABLE, one.get("src", "")
            ours = 0 <= number < MOST_PAIRS and source == str(pool[2 * number + 1])
            if ours and str(POOL[2 * number]) not in used:
                table = str(FIRST_TABLE + number)
                _tried("ip", family, "rule", "del", "from", source, "priority", table)
                _tried("ip", family, "route", "flush", "table", table)


def sweep(mark: str) -> int:
    """Take away what a dead process left; return the number of networks."""
    prefix = f"skyweave-{mark}-"
    left = sorted(NAMESPACES.glob(f"{prefix}*")) if NAMESPACES.is_dir() else []
    for one in left:
        remove(one.name, one.name.removeprefix(prefix))
    with _one_at_a_time:
        _drop_rules()
        for line in _tried("nft", "list", "tables").splitlines():
            _, family, table = line.split(" ", 2)
            if table.startswith("skyweave_") and table != GUARD:
                _tried("nft", "delete", "table", family, table)
    return len(left)


def default_devices(uplinks: dict[str, str]) -> list[str]:
    """Return the devices that runs leave by."""
    if uplinks:
        return sorted(set(uplinks.values()))
    return [_default_device(json.loads(tool("ip", "-j", "-4", "route") or "[]"))]


def _default_device(routes: list[dict[str, Any]]) -> str:
    for one in routes:
        if one["dst"] == "default" and "dev" in one:
            return str(one["dev"])
    raise TestbedError(
        "this machine has no default route; name the device of each network under [uplinks]"
    )


def _default_of(routes: Sequence[dict[str, Any]], device: str) -> dict[str, Any] | None:
    """Return the default route of a device, if it has one."""
    fitting = (one for one in routes if one["dst"] == "default" and one.get("dev") == device)
    return next(fitting, None)


def _listed(family: str, what: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(tool("ip", "-j", family, what) or "[]")
    return found


def _used_addresses() -> set[str]:
    return {
        address["local"] for one in _listed("-4", "addr") for address in one.get("addr_info", ())
    }


def _global6() -> list[str]:
    """Return the machine's global addresses of IPv6."""
    return [
        address["local"]
        for one in _listed("-6", "addr")
        for address in one.get("addr_info", ())
        if address.get("scope") == "global"
    ]


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
