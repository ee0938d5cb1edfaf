"""The way to a target, hop by hop, without rights; and the segments that its addresses say.

UDP probes with rising TTL; routers' ICMP answers come through the socket's error queue (Linux,
``IP_RECVERR``), each with the port that it was sent to, so that all probes are under way at once.
"""

from __future__ import annotations

import csv
import ipaddress
import select
import socket
import struct
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from skyweave.errors import ConfigError
from skyweave.model.textfile import read_text
from skyweave.telemetry.probes.probe import resolve

FIRST_PORT = 33_434
MOST_HOPS = 30
TRIES = 3
MOST_SEGMENTS = 10_000
Network = ipaddress.IPv4Network | ipaddress.IPv6Network
_ERROR = struct.Struct("=IBBBBII")  # sock_extended_err of errqueue.h (Linux)
_FAMILIES = {
    socket.AF_INET: (socket.IPPROTO_IP, 11, socket.IP_TTL, 2),
    socket.AF_INET6: (socket.IPPROTO_IPV6, 25, socket.IPV6_UNICAST_HOPS, 3),
}
"""Level, option of the error queue, option of the TTL, what says that ICMP is the origin."""
DEFAULT_SEGMENTS = """prefix,segment
192.168.100.1/32,dish
100.64.0.0/10,satellite
172.16.0.0/12,point of presence
206.224.64.0/19,backbone
149.19.108.0/23,backbone
10.0.0.0/8,local network
192.168.0.0/16,local network
fe80::/10,local network
2000::/3,internet
0.0.0.0/0,internet
"""
"""Behind a Starlink dish: 100.64.0.1 is the gateway, so up to there is the bent pipe."""


@dataclass(frozen=True)
class Hop:
    """Who answered at a distance; '' and no round trips where nobody did."""

    distance: int
    address: str
    rtts_ms: tuple[float, ...]
    segment: str

    @property
    def rtt_ms(self) -> float | None:
        """The median round trip."""
        return median(self.rtts_ms) if self.rtts_ms else None


def read_segments(file: Path | None = None) -> list[tuple[Network, str]]:
    """Read ``prefix,segment`` rows, longest prefix first; without a file the table of Starlink.

    Raises :class:`DataError <skyweave.errors.DataError>` with file and line.
    """
    if file is None:
        rows = enumerate(csv.reader(DEFAULT_SEGMENTS.splitlines()), 1)
        found = [(ipaddress.ip_network(row[0]), row[1]) for line, row in rows if line > 1]
    else:
        text = read_text(file)
        found = []
        for line, cells in text.rows():
            if line == 1 and cells[:1] == ["prefix"]:
                continue
            try:
                found.append((ipaddress.ip_network(cells[0].strip()), cells[1].strip()))
            except (ValueError, IndexError):
                raise text.bad(
                    line, "is no prefix and segment", "write 100.64.0.0/10,satellite"
                ) from None
            if len(found) > MOST_SEGMENTS:
                raise text.bad(line, f"more than {MOST_SEGMENTS:,} segments", "cut the table")
    return sorted(found, key=lambda one: -one[0].prefixlen)


def segment_of(address: str, segments: Sequence[tuple[Network, str]]) -> str:
    """Return the segment of the longest prefix that holds an address; '' if none does."""
    if not address:
        return ""
    where = ipaddress.ip_address(address.partition("%")[0])
    held = (name for net, name in segments if net.version == where.version and where in net)
    return next(held, "")


def shares(hops: Sequence[Hop]) -> dict[str, float]:
    """Return what each segment adds to the round trip, as a share of the whole way.

    From the median to the last hop of a segment less that to the last hop of the segment before;
    routers that answer slowly make a segment look longer, and never less than nothing.
    """
    ends: dict[str, float] = {}
    for hop in hops:
        if hop.segment and hop.rtt_ms is not None:
            ends[hop.segment] = hop.rtt_ms
    total = max(ends.values(), default=0.0)
    found, before = {}, 0.0
    for name, end in ends.items():
        found[name] = max(0.0, end - before) / total if total else 0.0
        before = max(before, end)
    return found


def trace(
    host: str, segments: Sequence[tuple[Network, str]], *, most_hops: int = MOST_HOPS,
    tries: int = TRIES, timeout_s: float = 3.0,
) -> list[Hop]:  # fmt: skip
    """Follow the way to ``host``; ends with the target, or with the last hop that answered."""
    if not (1 <= most_hops <= 64 and 1 <= tries <= 10):
        raise ConfigError("give 1 to 64 hops and 1 to 10 tries")
    family, place = resolve(host, FIRST_PORT)
    sent: dict[int, tuple[int, float]] = {}
    heard: dict[int, list[tuple[str, float]]] = {}
    reached = most_hops
    with _Errors(socket.AddressFamily(family)) as errors:
        for number in range(most_hops * tries):
            distance = 1 + number // tries
            sent[FIRST_PORT + number] = (distance, time.monotonic())
            errors.send(distance, (place[0], FIRST_PORT + number))
        end = time.monotonic() + timeout_s
        while sent and (left := end - time.monotonic()) > 0:
            for port, address, arrived in errors.receive(left):
                if port not in sent:
                    continue
                distance, since = sent.pop(port)
                heard.setdefault(distance, []).append((address, 1e3 * (arrived - since)))
                if address == place[0]:
                    reached = min(reached, distance)
                    sent = {p: one for p, one in sent.items() if one[0] <= reached}
    last = min(reached, max(heard, default=0))
    return [_hop(distance, heard.get(distance, []), segments) for distance in range(1, last + 1)]


def _hop(
    distance: int, heard: list[tuple[str, float]], segments: Sequence[tuple[Network, str]]
) -> Hop:
    address = heard[0][0] if heard else ""
    rtts = tuple(rtt for who, rtt in heard if who == address)
    return Hop(distance, address, rtts, segment_of(address, segments))


class _Errors:
    """A socket whose error queue says who sent a packet back."""

    def __init__(self, family: socket.AddressFamily) -> None:
        self._level, self._option, self._ttl, self._origin = _FAMILIES[family]
        self._socket = socket.socket(family, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
        self._socket.setsockopt(self._level, self._option, 1)

    def __enter__(self) -> _Errors:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def send(self, distance: int, place: tuple[str, int]) -> None:
        """Send a probe; an error of an earlier one may be in the way once."""
        self._socket.setsockopt(self._level, self._ttl, distance)
        for _ in range(3):
            try:
                self._socket.sendto(b"skyweave", place)
                return
            except OSError:
                continue

    def receive(self, most_s: float) -> list[tuple[int, str, float]]:
        """Return port, who answered, and when; waits once."""
        poll = select.poll()
        poll.register(self._socket, select.POLLERR)
        poll.poll(1e3 * most_s)
        found: list[tuple[int, str, float]] = []
        while True:
            try:
                _, extra, _, place = self._socket.recvmsg(512, 512, socket.MSG_ERRQUEUE)
            except OSError:
                return found
            arrived = time.monotonic()
            for level, kind, data in extra:
                if (level, kind) == (self._level, self._option) and len(data) > _ERROR.size:
                    origin = _ERROR.unpack_from(data)[1]
                    who = _address(data[_ERROR.size :])
                    if origin == self._origin and who:
                        found.append((int(place[1]), who, arrived))


def _address(sockaddr: bytes) -> str:
    """Return the address in a ``sockaddr_in`` or ``sockaddr_in6``; '' for anything else."""
    if len(sockaddr) < 8:
        return ""
    family = struct.unpack_from("=H", sockaddr)[0]
    if family == socket.AF_INET:
        return socket.inet_ntop(socket.AF_INET, sockaddr[4:8])
    if family == socket.AF_INET6 and len(sockaddr) >= 24:
        return socket.inet_ntop(socket.AF_INET6, sockaddr[8:24])
    return ""
