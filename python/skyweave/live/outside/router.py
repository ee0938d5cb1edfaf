"""What makes a router of a world's server: addresses, rules, and a listener for all of TCP.

UDP and ICMP are forwarded behind one address. TCP connections end here, at the kernel's TCP or
Multipath TCP, and :mod:`skyweave.live.outside.relay` goes on with connections of its own: so a
client uses all its paths to servers that speak TCP alone, and losses of the links meet Linux's TCP
and not the stack's, which is made for devices that lose nothing.
"""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

from pyroute2 import IPRoute

from skyweave.live.outside.stack import Ends, Stack, which
from skyweave.live.world import wiring
from skyweave.live.world.addresses import OUTSIDE, V4, V6, Family

_MTU = 65520
_IPPROTO_MPTCP = 262
_RULES = """\
table inet outside {{
  chain arrive {{
    type filter hook prerouting priority mangle
    # To a stack whose sockets speak both versions these would be the host's own addresses.
    ip6 daddr ::ffff:0:0/96 drop
  }}
  chain end {{
    type nat hook prerouting priority dstnat
    iifname {{ "lo", "{device}" }} return
    ip daddr {v4} return
    ip6 daddr {v6} return
{tcp}
  }}
  chain through {{
    type filter hook forward priority filter; policy drop
    ct state established,related accept
    iifname != "{device}" oifname "{device}" accept
  }}
  chain inward {{
    type filter hook input priority filter
    iifname "{device}" ct state new drop
  }}
  chain hide {{
    type nat hook postrouting priority srcnat
    oifname "{device}" masquerade
  }}
}}
"""


def open_door(stack: Stack, network: int) -> None:
    """Make a router of the server, whose network (a descriptor) the calling thread is in."""
    wiring.sysctl("ipv4.ip_forward", "1")
    if V6 in stack.families:
        wiring.sysctl("ipv6.conf.all.forwarding", "1")
    stack.join(network)
    listeners = {family: _listen(family) for family in stack.families}
    with IPRoute() as ip:
        index = ip.link_lookup(ifname=OUTSIDE)[0]
        ip.link("set", index=index, mtu=_MTU, state="up")
        for family in stack.families:
            _address(ip, index, family, stack.ends[family])
    _rules({family: one.getsockname()[1] for family, one in listeners.items()})
    descriptors = [one.fileno() for one in listeners.values()]
    relay = [sys.executable, "-m", "skyweave.live.outside.relay", *map(str, descriptors)]
    subprocess.Popen(relay, pass_fds=descriptors, stdin=subprocess.DEVNULL, start_new_session=True)
    for one in listeners.values():
        one.close()


def _address(ip: IPRoute, index: int, family: Family, ends: Ends) -> None:
    """Give the device its address and the default route."""
    ip.addr("add", index=index, address=ends.own, prefixlen=ends.length, flags=wiring.NO_DAD)
    ip.route("add", dst=family.everywhere, gateway=ends.router, oif=index)


def _listen(family: Family) -> socket.socket:
    """Return the socket at which connections to everywhere end.

    It has an address and a port, as ``dnat`` gives and ``tproxy`` does not: a subflow joins only
    where its port is the listener's (``subflow_use_different_sport``, net/mptcp/subflow.c).
    """
    has_mptcp = Path("/proc/sys/net/mptcp/enabled").exists()
    protocol = _IPPROTO_MPTCP if has_mptcp else socket.IPPROTO_TCP
    listener = socket.socket(family.number, socket.SOCK_STREAM, protocol)
    listener.bind((family.server, 0))
    listener.listen(socket.SOMAXCONN)
    return listener


def _rules(ports: dict[Family, int]) -> None:
    lines = (
        f"    meta nfproto ipv4 meta l4proto tcp dnat ip to {V4.server}:{port}"
        if family is V4
        else f"    meta nfproto ipv6 meta l4proto tcp dnat ip6 to [{V6.server}]:{port}"
        for family, port in ports.items()
    )
    rules = _RULES.format(device=OUTSIDE, v4=V4.network, v6=V6.network, tcp="\n".join(lines))
    nft = [which("nft") or "nft", "-f", "-"]
    done = subprocess.run(nft, input=rules, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        said = done.stderr.strip().splitlines()[:1] or ["it said nothing"]
        raise OSError(f"nft refused the rules of the way out ({said[0]})")
