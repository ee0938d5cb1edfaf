"""The firewall of one run, for nft: one table of both families, closed but for what it names."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

PUBLIC6 = ipaddress.IPv6Network("2000::/3")
"""All of IPv6 that is global unicast: neither ULA, link-local, multicast nor NAT64's prefix."""
SITE_BITS = 48
"""What one customer may have of an IPv6 network (RFC 6177): other networks of the same home."""
NOT_PUBLIC = (
    "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
    "192.0.0.0/24", "192.0.2.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24",
    "203.0.113.0/24", "224.0.0.0/3",
    "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20",
)  # fmt: skip
"""What is not global (RFC 6890), and multicast: an owner's network is in one of these. Of IPv6 what
is within :data:`PUBLIC6`; 6to4 leads to addresses of IPv4, whichever they are."""
LOWER_EFFORT = "dscp set 0x01"
"""LE (RFC 8622)."""
LOWEST_BAND = "meta priority set 0:1"
"""Of Linux's queues that have bands."""

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


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
    address6: str | None = None
    gateway6: str | None = None


@dataclass(frozen=True)
class Ways:
    """What of the world a run may have, by the policy of its owner."""

    reach: tuple[str, ...] = ()
    """Networks that are not public."""
    ipv6: bool = False
    resolver: str | None = None
    """Who answers for names, on port 53 alone."""


def owners_networks(
    routes: Sequence[dict[str, Any]], routes6: Sequence[dict[str, Any]], own6: Iterable[str]
) -> list[Network]:
    """Return what is the owner's, or nobody's: what no run reaches unless the policy says so.

    ``routes``, ``routes6``: as ``ip -j route`` lists them; ``own6``: the machine's addresses.
    """
    on_link = [one["dst"] for one in routes if one.get("scope") == "link"]
    on_link += [one["dst"] for one in routes6 if "gateway" not in one and "nexthops" not in one]
    found = [ipaddress.ip_network(one) for one in (*NOT_PUBLIC, *on_link) if one != "default"]
    found += [ipaddress.IPv6Network((one, SITE_BITS), strict=False) for one in own6]
    return found


def rules(
    table: str, links: Sequence[Link], lan: Iterable[Network], ways: Ways, most_bytes: int,
    yields: bool,
) -> str:  # fmt: skip
    """Return the rules of a run; every value in them is a number, network or device."""
    reach = [ipaddress.ip_network(one) for one in ways.reach]
    outer = ", ".join(f'"{link.outer}"' for link in links)
    lines = [
        f"table inet {table} {{",
        *_sets("lan", lan), *_sets("reach", reach),
        f"quota cap {{ over {max(most_bytes, 1)} bytes }}",
        "chain pause { }",
        "chain forward { type filter hook forward priority -10; policy accept;",
        f"iifname {{ {outer} }} jump pause",
        f"oifname {{ {outer} }} jump pause",
        f'iifname {{ {outer} }} quota name "cap" drop',
        f'oifname {{ {outer} }} quota name "cap" drop',
        f"oifname {{ {outer} }} ct state established,related accept",
        f"oifname {{ {outer} }} drop",
        *(f'iifname "{link.outer}" {one}' for link in links for one in _way(link, ways, yields)),
        "}",
        "chain input { type filter hook input priority -10; policy accept;",
        f"iifname {{ {outer} }} icmpv6 type {{ nd-neighbor-solicit, nd-neighbor-advert }} accept",
        f"iifname {{ {outer} }} drop",
        "}",
        "chain source { type nat hook postrouting priority srcnat; policy accept;",
        *(f"ip saddr {link.address} masquerade" for link in links),
        *(f"ip6 saddr {link.address6} masquerade" for link in links if link.address6 is not None),
        "}",
        "}",
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def _way(link: Link, ways: Ways, yields: bool) -> list[str]:
    """Return what holds for packets that a run sends over one of its uplinks, in order."""
    six = link.address6 is not None
    lines = [f"ip saddr != {link.address} drop"]
    lines.append(f"ip6 saddr != {link.address6} drop" if six else "meta nfproto ipv6 drop")
    if yields:
        lines += [f"ip {LOWER_EFFORT}", f"ip6 {LOWER_EFFORT}", LOWEST_BAND]
    if ways.resolver is not None:
        family = "ip6" if ":" in ways.resolver else "ip"
        lines += [f"{family} daddr {ways.resolver} {one} dport 53 accept" for one in ("udp", "tcp")]
    return [
        *lines, "ip daddr @reach4 accept", "ip6 daddr @reach6 accept",
        f'oifname != "{link.device}" drop', "ip daddr @lan4 drop",
        f"ip6 daddr != {PUBLIC6} drop", "ip6 daddr @lan6 drop",
    ]  # fmt: skip


def _sets(name: str, networks: Iterable[Network]) -> list[str]:
    """Return a set for each family."""
    four: list[ipaddress.IPv4Network] = []
    six: list[ipaddress.IPv6Network] = []
    for one in networks:
        if isinstance(one, ipaddress.IPv4Network):
            four.append(one)
        else:
            six.append(one)
    return [
        _set(f"{name}4", "ipv4_addr", [str(one) for one in ipaddress.collapse_addresses(four)]),
        _set(f"{name}6", "ipv6_addr", [str(one) for one in ipaddress.collapse_addresses(six)]),
    ]


def _set(name: str, kind: str, networks: list[str]) -> str:
    elements = f" elements = {{ {', '.join(networks)} }};" if networks else ""
    return f"set {name} {{ type {kind}; flags interval;{elements} }}"
