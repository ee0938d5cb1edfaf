"""The user-space stack by which a world's server reaches the host's network: slirp4netns or pasta.

Such a program holds an Ethernet device in the server's namespace and opens ordinary sockets in the
host's for what comes there, so that it needs no privilege on the host, and nothing of the host is
changed. It is a child of the world's first process and ends with it.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pyroute2 import IPRoute
from pyroute2.netlink.exceptions import NetlinkError

from skyweave.live.errors import LiveError
from skyweave.live.world import namespaces
from skyweave.live.world.addresses import OUTSIDE, V4, V6, Family

SBIN = "/usr/local/sbin:/usr/sbin:/sbin"
"""Where programs are that the PATH of ordinary users may leave out."""
RESOLV = Path("/etc/resolv.conf")
_START_S = 10.0
_LOOK_S = 0.01
_MOST_SAID = 500
_PLACE = Path("/tmp/network")
"""Where the network of the world is for the program, which is alone in its mount namespace."""
_SOMEWHERE = {V4: "203.0.113.1", V6: "2001:db8::1"}
"""Addresses that no network has: what leads there is the default route (RFC 6890)."""


@dataclass(frozen=True)
class Ends:
    """What both ends of the device are called, in one version of IP."""

    own: str
    length: int
    """Bits of the network that both are in."""
    router: str
    names: str
    """Where the program answers questions for names, by asking the host's resolver."""


_PLAIN = Ends("10.91.0.100", 24, "10.91.0.2", "10.91.0.3")
ENDS = {
    "slirp4netns": {V4: _PLAIN, V6: Ends("fd00::100", 64, "fd00::2", "fd00::3")},  # its own network
    "pasta": {
        V4: _PLAIN,
        V6: Ends("fd53:6b79:7766::100", 64, "fd53:6b79:7766::2", "fd53:6b79:7766::3"),
    },
}
"""The programs with the addresses of their device, the preferred one first: pasta of Debian 12 does
not tell when a connection is refused, and answers questions for names over UDP only."""


def which(program: str) -> str | None:
    """Return where a program is, also if it is for administrators."""
    return shutil.which(program, path=f"{os.environ.get('PATH', os.defpath)}:{SBIN}")


def choose() -> str:
    """Return which program to take.

    Raises :class:`LiveError`, with what to do, if there is none, or no nft.
    """
    found = next((name for name in ENDS if which(name)), None)
    if found is None:
        raise LiveError(
            "a way out needs the program 'slirp4netns' or 'pasta', and neither is installed; "
            "on Debian: apt install slirp4netns (or passt)"
        )
    if which("nft") is None:
        raise LiveError(
            "a way out needs the program 'nft', which is missing; on Debian: apt install nftables"
        )
    return found


class Stack:
    """A process that waits in the network namespace of its birth until it may join another."""

    def __init__(self, program: str) -> None:
        """Call it in the host's network.

        Raises :class:`LiveError` when the host itself has no way out, or no resolver.
        """
        self.program = program
        self.families = tuple(family for family in (V4, V6) if _leads_out(family))
        if not self.families:
            raise LiveError(
                "this machine has no default route, so there is no way out; connect it to a "
                "network, or leave out --outside"
            )
        if not RESOLV.exists():
            raise LiveError(f"{RESOLV} is missing, so no name can be asked for; make one")
        asked = _resolver_family(RESOLV.read_text())
        self.names = self.ends[asked if asked in self.families else self.families[0]].names
        self._said = os.memfd_create("said")
        waits, self._go = os.pipe()
        self._pid = os.fork()
        if self._pid == 0:
            _become(waits, self._said, self._argv)
        os.close(waits)

    @property
    def ends(self) -> dict[Family, Ends]:
        """The addresses of its device."""
        return ENDS[self.program]

    def join(self, network: int) -> None:
        """Let the program join the network of this descriptor, which the calling thread is in.

        Returns when its device is there. Raises :class:`LiveError` with the program's last words.
        """
        os.write(self._go, f"/proc/{os.getpid()}/fd/{network}".encode())
        os.close(self._go)
        give_up = time.monotonic() + _START_S
        with IPRoute() as ip:
            while not ip.link_lookup(ifname=OUTSIDE):
                if os.waitpid(self._pid, os.WNOHANG)[0] or time.monotonic() > give_up:
                    raise LiveError(f"{self.program} made no way out: {self._last_words()}")
                time.sleep(_LOOK_S)

    def _last_words(self) -> str:
        said = os.pread(self._said, 2**16, 0).decode(errors="replace").strip().splitlines()
        return " ".join(said[-9:])[-_MOST_SAID:] or "it said nothing"

    def _argv(self, network: str) -> list[str]:
        """Return the command: nothing of the host's loopback goes in, nothing outside comes in."""
        return (_pasta if self.program == "pasta" else _slirp)(network, self.families)


def _pasta(network: str, families: tuple[Family, ...]) -> list[str]:
    """Return pasta's command. ``--runas 0``: nobody may not join a network that root made."""
    argv = [which("pasta") or "pasta", "--foreground", "--quiet", "--runas", "0"]
    argv += ["--netns", network, "--no-netns-quit", "--ns-ifname", OUTSIDE, "--no-map-gw"]
    argv += ["--no-dhcp", "--no-dhcpv6", "--no-ra"]
    for forwarded in ("--tcp-ports", "--udp-ports", "--tcp-ns", "--udp-ns"):
        argv += [forwarded, "none"]
    for family in families:
        ends = ENDS["pasta"][family]
        argv += ["--address", ends.own, "--gateway", ends.router, "--dns-forward", ends.names]
        argv += ["--netmask", str(ends.length)] if family is V4 else []
    if len(families) == 1:
        argv.append("--ipv4-only" if families[0] is V4 else "--ipv6-only")
    return argv


def _slirp(network: str, families: tuple[Family, ...]) -> list[str]:
    argv = [which("slirp4netns") or "slirp4netns", "--netns-type=path", "--disable-host-loopback"]
    argv += ["--enable-sandbox", "--enable-seccomp", "--cidr", "10.91.0.0/24", "--mtu", "65520"]
    argv += ["--enable-ipv6"] if V6 in families else []
    return [*argv, network, OUTSIDE]


def _become(waits: int, said: int, argv: Callable[[str], list[str]]) -> None:
    """Wait for the path of a network, then be the program; never returns."""
    try:
        network = os.read(waits, 1000).decode()
        if network:
            signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # pasta ends where it is ignored
            os.setsid()  # Ctrl-C is for programs of the world
            namespaces.new_mounts()  # in which resolv.conf stays the host's
            # pasta drops the privilege to open what is another process's before it opens this.
            _mount(said, "-t", "tmpfs", "none", str(_PLACE.parent))
            _PLACE.touch()
            _mount(said, "--no-canonicalize", "--bind", network, str(_PLACE))
            nothing = os.open(os.devnull, os.O_RDONLY)
            for descriptor, place in ((nothing, 0), (said, 1), (said, 2)):
                os.dup2(descriptor, place)
            os.closerange(3, os.sysconf("SC_OPEN_MAX"))
            command = argv(str(_PLACE))
            os.execv(command[0], command)
    except (OSError, subprocess.SubprocessError) as error:
        os.write(said, str(error).encode())
    finally:
        os._exit(1)


def _mount(said: int, *words: str) -> None:
    subprocess.run(["mount", *words], check=True, stderr=said)


def _leads_out(family: Family) -> bool:
    try:
        with IPRoute() as ip:
            return bool(ip.route("get", dst=_SOMEWHERE[family], family=family.number))
    except NetlinkError:
        return False


def _resolver_family(resolv: str) -> Family:
    """Return the version of IP by which the host's resolver is asked: 4 if there is such a one.

    >>> _resolver_family("nameserver 2001:db8::53").bits
    128
    """
    found = [line.split()[1] for line in resolv.splitlines() if line.startswith("nameserver ")]
    with_v4 = any("." in one for one in found) or not found
    return V4 if with_v4 else V6


def resolv_conf(host: str, names: str) -> str:
    """Return a resolv.conf that asks ``names``, in the domains that the host's names.

    >>> resolv_conf("nameserver 192.0.2.53\\nsearch example.org\\n", "10.91.0.3").splitlines()
    ['nameserver 10.91.0.3', 'options edns0', 'search example.org']
    """
    kept = [line for line in host.splitlines() if line.split()[:1] in (["search"], ["domain"])]
    return "\n".join([f"nameserver {names}", "options edns0", *kept]) + "\n"
