"""The network interfaces that a study's paths are, with what the kernel says of them."""

from __future__ import annotations

import errno
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pyroute2 import IPRoute
from pyroute2.netlink.exceptions import NetlinkError

from skyweave.errors import ConfigError

_GLOBAL = 0
"""``RT_SCOPE_UNIVERSE``: an address that is good beyond this machine."""


@dataclass(frozen=True)
class Uplink:
    """One path of a study on this machine."""

    name: str
    device: str
    address: str
    routed: bool
    """What comes from its address leaves by its device, whatever the default route."""

    @property
    def facts(self) -> dict[str, Any]:
        """What a record says of it."""
        return asdict(self)


def look(names: Sequence[str], devices: Mapping[str, str], server: str) -> dict[str, Uplink]:
    """Return the uplink of each path; ``devices`` name those that are not called as the path is.

    Raises :class:`ConfigError` for a device that is not there, is down, has no IPv4 address, or
    does not lead to the server.
    """
    with IPRoute() as ip:
        there = {one.get_attr("IFLA_IFNAME"): one for one in ip.get_links()}
        return {name: _uplink(ip, there, name, devices.get(name, name), server) for name in names}


def _uplink(ip: Any, there: Mapping[str, Any], name: str, device: str, server: str) -> Uplink:
    link = there.get(device)
    if link is None:
        known = ", ".join(sorted(one for one in there if one != "lo")) or "none"
        raise ConfigError(
            f"path '{name}': this machine has no network device '{device[:40]}' (it has "
            f"{known[:300]}); name it with --uplink {name}=DEVICE"
        )
    index = link["index"]
    if link.get_attr("IFLA_OPERSTATE") == "DOWN":
        raise ConfigError(f"path '{name}': the network device '{device}' is down; connect it")
    own = [
        one.get_attr("IFA_LOCAL") or one.get_attr("IFA_ADDRESS")
        for one in ip.get_addr(index=index, family=2)
        if one["scope"] == _GLOBAL
    ]
    if not own:
        raise ConfigError(
            f"path '{name}': the network device '{device}' has no IPv4 address; connect it"
        )
    if _way(ip, {"dst": server, "oif": index}) != index:
        raise ConfigError(
            f"path '{name}': no route leads to {server} by '{device}'; "
            f"ip route add default via GATEWAY dev {device} metric 900"
        )
    return Uplink(name, device, own[0], _way(ip, {"dst": server, "src": own[0]}) == index)


def _way(ip: Any, wanted: dict[str, Any]) -> int | None:
    """Return the device that packets leave by; ``None``: there is no way."""
    try:
        found = ip.route("get", **wanted)
    except NetlinkError as error:
        if error.code in (errno.ENETUNREACH, errno.EHOSTUNREACH, errno.EINVAL, errno.ENODEV):
            return None
        raise
    return next((one.get_attr("RTA_OIF") for one in found), None)


def counters(devices: Sequence[str]) -> dict[str, tuple[int, int]]:
    """Return bytes received and sent of network devices, as the kernel counts frames."""
    found = {}
    for line in Path("/proc/thread-self/net/dev").read_text().splitlines()[2:]:
        name, _, numbers = line.partition(":")
        cells = numbers.split()
        if name.strip() in devices:
            found[name.strip()] = int(cells[0]), int(cells[8])
    return found
