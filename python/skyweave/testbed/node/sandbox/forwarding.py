"""An owner's machine that forwards for runs, and for nobody else."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path

from skyweave.testbed.errors import TestbedError
from skyweave.testbed.node.tools import tool

FORWARDS6 = Path("/proc/sys/net/ipv6/conf/all")
GUARD = "skyweave_node"
"""The table of :func:`guard`; those of runs have their names."""


def can_forward6() -> bool:
    """Tell whether IPv6 can be forwarded for runs alone.

    A machine that begins to forward on all devices no longer learns its own routes from its
    router; since Linux 6.17 devices can be told one by one.
    """
    return forwards6() or (FORWARDS6 / "force_forwarding").exists()


def forwards6() -> bool:
    """Tell whether this machine is a router of IPv6 already."""
    try:
        return (FORWARDS6 / "forwarding").read_text().strip() == "1"
    except OSError:  # no IPv6 in this kernel
        return False


def guard(devices: Sequence[str], devices6: Sequence[str] = ()) -> None:
    """Let uplinks carry for runs alone: forwarding does not make a router of the machine.

    Given are those that carried nothing before, of IPv4 and of IPv6; :func:`unguard` takes it back.
    """
    unguard()
    drops = [
        f"meta nfproto {family} iifname {{ {', '.join(map(_quoted, some))} }} "
        f'oifname != "sw*" drop;'
        for family, some in (("ipv4", devices), ("ipv6", devices6)) if some
    ]  # fmt: skip
    if drops:
        tool("nft", "-f", "-", given=(
            f"table inet {GUARD} {{\nchain forward {{ type filter hook forward priority -5; "
            f"policy accept; {' '.join(drops)} }}\n}}\n"
        ))  # fmt: skip


def unguard() -> None:
    """Take away the rules of :func:`guard`."""
    with contextlib.suppress(TestbedError):  # there is none
        tool("nft", "delete", "table", "inet", GUARD)


def _quoted(device: str) -> str:
    return f'"{device}"'
