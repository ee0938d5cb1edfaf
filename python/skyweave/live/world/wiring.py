"""Devices, addresses, routes and Multipath TCP endpoints of a world, by netlink.

Called in the first process of a world, as root of its namespaces. Functions act on the network
namespace that the calling thread is in.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import struct
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pyroute2 import MPTCP, IPRoute

from skyweave.live.world import addresses
from skyweave.live.world.buffers import Buffers

_TUNSETIFF, _TUNSETOFFLOAD = 0x400454CA, 0x400454D0
_IFF_TUN, _IFF_NO_PI, _IFF_VNET_HDR = 0x0001, 0x1000, 0x4000
_TUN_F_TCP = 0x01 | 0x02 | 0x04 | 0x08
"""``TUN_F_CSUM``, ``_TSO4``, ``_TSO6`` and ``_TSO_ECN`` (linux/if_tun.h)."""
_TUN_F_UDP = 0x20 | 0x40
"""``TUN_F_USO4`` and ``_USO6``, both or none (Linux 6.2)."""
_CLONE_NEWNET = 0x40000000
QUEUE_PACKETS = 10_000
"""Packets that a device holds until the relay reads them; the kernel's 500 would lose some."""
_FIRST_TABLE = 100
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
    joined: bool
    """Whether Multipath TCP may use it."""
    congestion: str | None = None
    """The kernel's name of the congestion control of connections over it, at both ends; ``None``:
    that of the machine. Programs cannot set another."""

    @property
    def device(self) -> str:
        """The name of its network device."""
        return addresses.device(self.place, self.name)

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


def new_network() -> int:
    """Move this thread into a new network namespace; return a descriptor of it."""
    _system("unshare", _CLONE_NEWNET)
    return this_network()


def this_network() -> int:
    """Return a descriptor of the network namespace that this thread is in."""
    return os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)


def enter_network(namespace: int) -> None:
    """Move this thread into a network namespace."""
    _system("setns", namespace, _CLONE_NEWNET)


def _system(name: str, *arguments: int) -> None:
    """Call what Python has from 3.12 on only."""
    if getattr(ctypes.CDLL(None, use_errno=True), name)(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), "network namespace")


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


def prepare_network(buffers: Buffers | None) -> None:
    """Bring the loopback up, keep IPv6 from talking into the links, set the buffers."""
    # Neighbour discovery would take its turn in the random losses of a link.
    for scope in ("all", "default"):
        if Path("/proc/sys/net/ipv6/conf", scope).exists():
            sysctl(f"ipv6.conf.{scope}.disable_ipv6", "1")
    for name, value in buffers.sysctls().items() if buffers else ():
        sysctl(f"ipv4.{name}", value)
    with IPRoute() as ip:
        ip.link("set", index=ip.link_lookup(ifname="lo")[0], state="up")


def wire_server(wires: list[Wire]) -> None:
    """Give the server its addresses, and routes to the client's."""
    with IPRoute() as ip:
        loopback = ip.link_lookup(ifname="lo")[0]
        own = [addresses.SERVER, *(addresses.server_address(wire.place) for wire in wires)]
        for address in own:
            ip.addr("add", index=loopback, address=address, prefixlen=32)
        for wire in wires:
            index = ip.link_lookup(ifname=wire.device)[0]
            ip.link("set", index=index, state="up", txqlen=QUEUE_PACKETS)
            target = f"{addresses.client_address(wire.place)}/32"
            ip.route("add", dst=target, oif=index, prefsrc=addresses.SERVER, **wire.metrics)


def wire_client(wire: Wire) -> None:
    """Give the client an address on a path; traffic from it leaves by that path alone."""
    own = addresses.client_address(wire.place)
    table = _FIRST_TABLE + wire.place
    with IPRoute() as ip:
        index = ip.link_lookup(ifname=wire.device)[0]
        ip.link("set", index=index, txqlen=QUEUE_PACKETS)
        ip.addr("add", index=index, address=own, prefixlen=32)
        ip.rule("add", src=f"{own}/32", table=table, priority=table)


def client_up(wire: Wire) -> None:
    """Bring a path of the client up: its routes, and its endpoint for Multipath TCP."""
    own = addresses.client_address(wire.place)
    table = _FIRST_TABLE + wire.place
    with IPRoute() as ip:
        index = ip.link_lookup(ifname=wire.device)[0]
        ip.link("set", index=index, state="up")
        common = {"oif": index, "prefsrc": own, **wire.metrics}
        ip.route("replace", dst=addresses.NETWORK, table=table, **common)
        ip.route("replace", dst=f"{addresses.server_address(wire.place)}/32", **common)
        ip.route("add", dst=f"{addresses.SERVER}/32", priority=1 + wire.place, **common)
    if wire.joined:
        flags = _MPTCP_SUBFLOW | (_MPTCP_BACKUP if wire.backup else 0)
        number = index.to_bytes(4, sys.byteorder)  # pyroute2 takes it as raw bytes
        with MPTCP() as mptcp:
            mptcp.endpoint("add", addr=own, id=wire.place + 1, flags=flags, if_idx=number)


def client_down(wire: Wire) -> None:
    """Take a path of the client down; remove its MPTCP endpoint first, as network managers do."""
    if wire.joined:
        with MPTCP() as mptcp:
            mptcp.endpoint("del", id=wire.place + 1, addr=addresses.client_address(wire.place))
    with IPRoute() as ip:
        ip.link("set", index=ip.link_lookup(ifname=wire.device)[0], state="down")


def allow_subflows() -> None:
    """Let connections have as many subflows as there can be paths."""
    with MPTCP() as mptcp:
        mptcp.limits("set", subflows=addresses.MOST_PATHS, rcv_add_addrs=addresses.MOST_PATHS)
