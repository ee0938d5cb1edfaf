"""Devices, addresses, routes and Multipath TCP endpoints of a world, by netlink.

Called in the first process of a world, as root of its namespaces. Functions act on the network
namespace that the calling thread is in.
"""

from __future__ import annotations

import fcntl
import os
import struct
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pyroute2 import MPTCP, IPRoute

from skyweave.live.world import addresses
from skyweave.live.world.addresses import V4, V6, Family
from skyweave.live.world.buffers import Buffers

_TUNSETIFF, _TUNSETOFFLOAD = 0x400454CA, 0x400454D0
_IFF_TUN, _IFF_NO_PI, _IFF_VNET_HDR = 0x0001, 0x1000, 0x4000
_TUN_F_TCP = 0x01 | 0x02 | 0x04 | 0x08
"""``TUN_F_CSUM``, ``_TSO4``, ``_TSO6`` and ``_TSO_ECN`` (linux/if_tun.h)."""
_TUN_F_UDP = 0x20 | 0x40
"""``TUN_F_USO4`` and ``_USO6``, both or none (Linux 6.2)."""
QUEUE_PACKETS = 10_000
"""Packets that a device holds until the relay reads them; the kernel's 500 would lose some."""
_FIRST_TABLE = 100
_SILENT = {
    "disable_ipv6": "0",
    "addr_gen_mode": "1",  # no link-local address, so that no router is asked for
    "accept_ra": "0",
    "dad_transmits": "0",
    "keep_addr_on_down": "1",  # as with IPv4
}
"""IPv6 that says nothing by itself (ip-sysctl.rst)."""
NO_DAD = 0x02
"""``IFA_F_NODAD`` (linux/if_addr.h): an address that may be used at once. Without it even with no
probes to send it is tentative until a worker of the kernel gets to it, and routes from it are
refused (EINVAL)."""
_RTAX_CC_ALGO = 16
"""Its number in linux/rtnetlink.h."""
_MPTCP_SUBFLOW, _MPTCP_BACKUP = 1 << 1, 1 << 2
"""``MPTCP_PM_ADDR_FLAG_SUBFLOW`` and ``_BACKUP`` (linux/mptcp.h)."""


@dataclass(frozen=True)
class Wire:
    """One path of a world."""

    place: int
    name: str
    backup: bool
    joined: tuple[Family, ...]
    """In which versions of IP Multipath TCP may use it."""
    families: tuple[Family, ...] = (V4,)
    way_out: tuple[Family, ...] = ()
    """In which versions of IP it leads beyond the server."""
    congestion: str | None = None
    """The kernel's name of the congestion control of connections over it, at both ends; ``None``:
    that of the machine. Programs cannot set another."""

    @property
    def device(self) -> str:
        """The name of its network device."""
        return addresses.device(self.place, self.name)

    @property
    def table(self) -> int:
        """The routing table of what comes from its addresses."""
        return _FIRST_TABLE + self.place

    @property
    def metrics(self) -> dict[str, dict[str, str | int]]:
        """What its routes say of connections (``congctl lock`` of ip-route(8)).

        A parameter of the namespace would not do: ``tcp_congestion_control`` takes only what the
        machine allows to everybody. Without the lock Multipath TCP gives a subflow that joins after
        any ``setsockopt`` of the program the machine's (``sync_socket_options``,
        net/mptcp/sockopt.c).
        """
        if self.congestion is None:
            return {}
        return {"metrics": {"cc_algo": self.congestion, "lock": 1 << _RTAX_CC_ALGO}}


Offload = Literal["none", "tcp", "tcp_udp"]
"""Which super-packets a device gives and takes, behind a header of virtio-net each."""


def most_offload() -> Offload:
    """Return what TUN devices can do here; tried on one that is gone at once."""
    for offload in ("tcp_udp", "tcp"):
        try:
            os.close(open_tun("", offload))
        except OSError:
            continue
        return offload
    return "none"


def open_tun(name: str, offload: Offload = "none") -> int:
    """Create a TUN device; it lives as long as the returned descriptor.

    Raises :class:`OSError` with the file name ``/dev/net/tun`` when there is no TUN, or none with
    this offload.
    """
    descriptor = os.open("/dev/net/tun", os.O_RDWR | os.O_CLOEXEC)
    try:
        flags = _IFF_TUN | _IFF_NO_PI | (0 if offload == "none" else _IFF_VNET_HDR)
        fcntl.ioctl(descriptor, _TUNSETIFF, struct.pack("16sH22s", name.encode(), flags, b""))
        if offload != "none":
            protocols = _TUN_F_TCP | (_TUN_F_UDP if offload == "tcp_udp" else 0)
            fcntl.ioctl(descriptor, _TUNSETOFFLOAD, protocols)
    except OSError as error:
        os.close(descriptor)
        raise OSError(error.errno, error.strerror, "/dev/net/tun") from error
    return descriptor


def sysctl(name: str, value: str) -> None:
    """Set a parameter of the network namespace that this thread is in."""
    Path("/proc/sys/net", *name.split(".")).write_text(value)


def prepare_network(buffers: Buffers | None, families: Sequence[Family] = (V4,)) -> None:
    """Bring the loopback up, keep IPv6 from talking into the links, set the buffers."""
    # Neighbour discovery would take its turn in the random losses of a link.
    said = _SILENT if V6 in families else {"disable_ipv6": "1"}
    for scope in ("all", "default"):
        if Path("/proc/sys/net/ipv6/conf", scope).exists():
            for name, value in said.items():
                sysctl(f"ipv6.conf.{scope}.{name}", value)
    for name, value in buffers.sysctls().items() if buffers else ():
        sysctl(f"ipv4.{name}", value)
    with IPRoute() as ip:
        ip.link("set", index=ip.link_lookup(ifname="lo")[0], state="up")


def wire_server(wires: list[Wire]) -> None:
    """Give the server its addresses, and routes to the client's."""
    with IPRoute() as ip:
        loopback = ip.link_lookup(ifname="lo")[0]
        for family in wires[0].families:
            own = [family.server, *(family.server_over(wire.place) for wire in wires)]
            for address in own:
                ip.addr("add", index=loopback, address=address, prefixlen=family.bits, flags=NO_DAD)
        for wire in wires:
            index = ip.link_lookup(ifname=wire.device)[0]
            ip.link("set", index=index, state="up", txqlen=QUEUE_PACKETS)
            for family in wire.families:
                target = family.only(family.client(wire.place))
                ip.route("add", dst=target, oif=index, prefsrc=family.server, **wire.metrics)


def wire_client(wire: Wire) -> None:
    """Give the client its addresses on a path; traffic from them leaves by that path alone."""
    with IPRoute() as ip:
        index = ip.link_lookup(ifname=wire.device)[0]
        ip.link("set", index=index, txqlen=QUEUE_PACKETS)
        for family in wire.families:
            own = family.client(wire.place)
            ip.addr("add", index=index, address=own, prefixlen=family.bits, flags=NO_DAD)
            rule = {"family": family.number, "table": wire.table, "priority": wire.table}
            ip.rule("add", src=family.only(own), **rule)


def client_up(wire: Wire) -> None:
    """Bring a path of the client up: its routes, and its endpoints for Multipath TCP.

    What is bound to no address leaves by the first path that is up, the one in the first place.
    """
    with IPRoute() as ip:
        index = ip.link_lookup(ifname=wire.device)[0]
        ip.link("set", index=index, state="up")
        for family in wire.families:
            common = {"oif": index, "prefsrc": family.client(wire.place), **wire.metrics}
            whole = [family.network, *([family.everywhere] if family in wire.way_out else [])]
            first = [family.only(family.server), *whole[1:]]
            for target in whole:
                ip.route("replace", dst=target, table=wire.table, **common)
            over = family.only(family.server_over(wire.place))
            ip.route("replace", dst=over, **common)
            for target in first:
                ip.route("add", dst=target, priority=1 + wire.place, **common)
    flags = _MPTCP_SUBFLOW | (_MPTCP_BACKUP if wire.backup else 0)
    number = index.to_bytes(4, sys.byteorder)  # pyroute2 takes it as raw bytes
    for family in wire.joined:
        with MPTCP() as mptcp:
            mptcp.endpoint("add", **_endpoint(wire, family), flags=flags, if_idx=number)


def client_down(wire: Wire) -> None:
    """Take a path of the client down; remove its MPTCP endpoints first, as network managers do."""
    for family in wire.joined:
        with MPTCP() as mptcp:
            mptcp.endpoint("del", **_endpoint(wire, family))
    with IPRoute() as ip:
        ip.link("set", index=ip.link_lookup(ifname=wire.device)[0], state="down")


def _endpoint(wire: Wire, family: Family) -> dict[str, str | int]:
    key = "addr" if family is V4 else "addr6"
    return {"id": family.first_endpoint + wire.place, key: family.client(wire.place)}


def allow_subflows() -> None:
    """Let connections have as many subflows as the kernel joins."""
    most = addresses.MOST_SUBFLOWS
    with MPTCP() as mptcp:
        mptcp.limits("set", subflows=most, rcv_add_addrs=most)
