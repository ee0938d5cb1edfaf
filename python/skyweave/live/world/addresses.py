"""Addresses and names inside a world; they cannot clash with the host's, which are elsewhere.

The server has one address, as a server on the Internet has; the client has one on each path.
Beside it the server has an address for each path that is reached over that path only. Shells have
the same in IPv6.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Sequence
from dataclasses import dataclass

MOST_PATHS = 32
"""Paths of a world; the third octet of the addresses and the numbers of tables have room for it."""
MOST_SUBFLOWS = 8
"""Endpoints that the kernel takes in a namespace, and subflows that it joins to a connection
(``MPTCP_PM_ADDR_MAX``, net/mptcp/pm.c)."""
_DEVICE = re.compile(r"^[A-Za-z][A-Za-z0-9_\-]{0,14}$")


@dataclass(frozen=True)
class Family:
    """The addresses of a world in one version of IP; a place is a path's, counted from 0."""

    number: int
    """``AF_INET`` or ``AF_INET6``."""
    bits: int
    """Of an address."""
    network: str
    server: str
    of_client: str
    of_server: str
    suffix: str
    """Of ``server`` and ``client`` in names."""
    first_endpoint: int
    """The number of the first path's endpoint for Multipath TCP."""

    def client(self, place: int) -> str:
        """Return the client's address on a path."""
        return self.of_client.format(place + 1)

    def server_over(self, place: int) -> str:
        """Return the server's address that is reached over this path only."""
        return self.of_server.format(place + 1)

    def only(self, address: str) -> str:
        """Return the network that is this address alone."""
        return f"{address}/{self.bits}"

    @property
    def everywhere(self) -> str:
        """The network that is all addresses."""
        return "0.0.0.0/0" if self.number == socket.AF_INET else "::/0"


V4 = Family(
    number=socket.AF_INET,
    bits=32,
    network="10.90.0.0/16",
    server="10.90.0.1",
    of_client="10.90.{}.1",
    of_server="10.90.{}.254",
    suffix="",
    first_endpoint=1,
)
V6 = Family(
    number=socket.AF_INET6,
    bits=128,
    network="fd53:6b79:7765::/48",  # unique local (RFC 6890)
    server="fd53:6b79:7765::1",
    of_client="fd53:6b79:7765:{:x}::1",
    of_server="fd53:6b79:7765:{:x}::fe",
    suffix="6",  # of its own, since programs that know both would take IPv6 first
    first_endpoint=101,
)
SERVER = V4.server


def client_address(place: int) -> str:
    """Return the client's address on the path in this place, counted from 0."""
    return V4.client(place)


def server_address(place: int) -> str:
    """Return the server's address that is reached over this path only."""
    return V4.server_over(place)


def place_of(address: str) -> int | None:
    """Return the place of the path that an address of the client belongs to.

    >>> place_of("10.90.2.1")
    1
    """
    parts = address.split(".")
    return int(parts[2]) - 1 if parts[:2] == ["10", "90"] and parts[2] != "0" else None


def device(place: int, name: str) -> str:
    """Return the name of a path's network device: the path's own where Linux takes it.

    >>> device(0, "starlink"), device(1, "Verizon 5G")
    ('starlink', 'path2')
    """
    return name if _DEVICE.match(name) and name not in _TAKEN else f"path{place + 1}"


def hosts(names: list[str], families: Sequence[Family] = (V4,)) -> str:
    """Return the lines of ``/etc/hosts`` of a world with these paths."""
    lines = ["127.0.0.1 localhost"]
    if V6 in families:
        lines.append("::1 localhost")
    for family in families:
        server, client = f"server{family.suffix}", f"client{family.suffix}"
        lines += [f"{family.server} {server}", f"{family.client(0)} {client}"]
        for place, name in enumerate(names):
            label = device(place, name).lower()
            lines.append(f"{family.server_over(place)} {server}.{label}")
            lines.append(f"{family.client(place)} {client}.{label}")
    return "\n".join(lines) + "\n"


OUTSIDE = "outside"
"""The device by which the server of a shell reaches the real network."""
_TAKEN = ("lo", OUTSIDE)
