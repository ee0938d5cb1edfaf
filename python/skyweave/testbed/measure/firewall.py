"""Who may reach the services of a run: the addresses that its gate admitted, and nobody else."""

from __future__ import annotations

import contextlib
import ipaddress
from collections.abc import Sequence

from skyweave.testbed.errors import TestbedError
from skyweave.testbed.node.tools import tool

PREFIX = "skyweave_serve_"


class Firewall:
    """The rules of one run: all its ports are shut, then opened address by address."""

    def __init__(self, run: str, ports: Sequence[int]) -> None:
        """Shut the ports; :class:`TestbedError` if this process may not."""
        self._table = f"{PREFIX}{run}"
        all_ports = ", ".join(str(int(port)) for port in ports)
        self.close()
        tool("nft", "-f", "-", given=(
            f"table inet {self._table} {{\n"
            "set four { type ipv4_addr; }\n"
            "set six { type ipv6_addr; }\n"
            "chain input { type filter hook input priority -20; policy accept;\n"
            f"meta l4proto {{ tcp, udp }} th dport {{ {all_ports} }} jump services\n"
            "}\n"
            "chain services {\n"
            "ip saddr @four return\n"
            "ip6 saddr @six return\n"
            "drop\n"
            "}\n"
            "}\n"
        ))  # fmt: skip

    def admit(self, address: str) -> None:
        """Let an address in."""
        found = ipaddress.ip_address(address.removeprefix("::ffff:"))
        family = "four" if found.version == 4 else "six"
        tool("nft", "add", "element", "inet", self._table, family, f"{{ {found} }}")

    def close(self) -> None:
        """Take the rules away; the services are gone by then."""
        with contextlib.suppress(TestbedError):
            tool("nft", "delete", "table", "inet", self._table)


def sweep() -> None:
    """Take away the rules that a dead server left."""
    with contextlib.suppress(TestbedError):
        for line in tool("nft", "list", "tables", "inet").splitlines():
            name = line.rpartition(" ")[2]
            if name.startswith(PREFIX):
                tool("nft", "delete", "table", "inet", name)
