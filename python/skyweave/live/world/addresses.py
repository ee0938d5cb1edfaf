"""Addresses and names inside a world; they cannot clash with the host's, which are elsewhere.

The server has one address, as a server on the Internet has; the client has one on each path.
Beside it the server has an address for each path that is reached over that path only.
"""

from __future__ import annotations

import re

SERVER = "10.90.0.1"
NETWORK = "10.90.0.0/16"
MOST_PATHS = 8
"""Subflows that the kernel joins to a connection (``MPTCP_PM_ADDR_MAX``, net/mptcp/pm.c)."""
_DEVICE = re.compile(r"^[A-Za-z][A-Za-z0-9_\-]{0,14}$")


def client_address(place: int) -> str:
    """Return the client's address on the path in this place, counted from 0."""
    return f"10.90.{place + 1}.1"


def server_address(place: int) -> str:
    """Return the server's address that is reached over this path only."""
    return f"10.90.{place + 1}.254"


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
    return name if _DEVICE.match(name) and name != "lo" else f"path{place + 1}"


def hosts(names: list[str]) -> str:
    """Return the lines of ``/etc/hosts`` of a world with these paths."""
    lines = ["127.0.0.1 localhost", f"{SERVER} server", f"{client_address(0)} client"]
    for place, name in enumerate(names):
        label = device(place, name).lower()
        lines.append(f"{server_address(place)} server.{label}")
        lines.append(f"{client_address(place)} client.{label}")
    return "\n".join(lines) + "\n"
