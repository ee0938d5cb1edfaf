"""``skyweave probe serve``: answers probes, and is of no use to anyone who forges addresses.

Nothing is kept of a client. It first asks for a cookie, which is a keyed hash of its address and of
the time; only a probe with that cookie, which proves that the address is the sender's, gets an
answer. No answer is longer than what it answers, and a source (an address, or the /64 of IPv6) gets
100 answers a second at most.

| datagram | bytes |
| --- | --- |
| hello | ``SKYP1`` ``H``, then zeros up to 32 |
| cookie | ``SKYP1`` ``C``, 2 zeros, 16 of the cookie: 24 |
| probe | ``SKYP1`` ``P``, 2 zeros, 16 of the cookie, 8 of the number, 8 zeros: 40 |
| echo | the same with ``E``, and the server's time (Unix ns) in place of the zeros: 40 |
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import secrets
import select
import socket
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from skyweave.errors import ConfigError

MAGIC = b"SKYP1"
PORT = 4430
HELLO_BYTES = 32
COOKIE_BYTES = 16
PROBE_BYTES = 40
COOKIE_S = 120
"""A cookie holds for one to two of these spans."""
_AT = len(MAGIC) + 3


@dataclass(frozen=True)
class Limits:
    """What the server does at most."""

    per_second: float = 100.0
    """Answers to one source."""
    burst: float = 20.0
    """How many of them at once."""
    sources: int = 10_000
    """Sources that are remembered; the one heard least lately is forgotten."""


class EchoServer:
    """Answers without state; :meth:`answer` is all that it knows."""

    def __init__(
        self, limits: Limits | None = None, now: Callable[[], float] = time.monotonic,
        unix_ns: Callable[[], int] = time.time_ns,
    ) -> None:  # fmt: skip
        self.limits = limits or Limits()
        self.answered = 0
        self.refused = 0
        self._now, self._unix_ns = now, unix_ns
        self._secret = secrets.token_bytes(32)
        self._sources: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def answer(self, datagram: bytes, peer: tuple[str, int]) -> bytes | None:
        """Return what a datagram gets; None for nothing."""
        said = self._said(datagram, peer)
        if said is None or not self._allowed(peer[0]):
            self.refused += 1
            return None
        self.answered += 1
        return said

    def _said(self, datagram: bytes, peer: tuple[str, int]) -> bytes | None:
        head, kind = datagram[: len(MAGIC)], datagram[len(MAGIC) : len(MAGIC) + 1]
        if head != MAGIC:
            return None
        if kind == b"H" and len(datagram) >= HELLO_BYTES:
            return MAGIC + b"C\0\0" + self._cookie(peer, self._span())
        if kind == b"P" and len(datagram) >= PROBE_BYTES:
            cookie = datagram[_AT : _AT + COOKIE_BYTES]
            span = self._span()
            known = (self._cookie(peer, one) for one in (span, span - 1))
            if any(hmac.compare_digest(cookie, one) for one in known):
                number = datagram[_AT + COOKIE_BYTES : _AT + COOKIE_BYTES + 8]
                return MAGIC + b"E\0\0" + cookie + number + self._unix_ns().to_bytes(8, "big")
        return None

    def _span(self) -> int:
        return int(self._now() // COOKIE_S)

    def _cookie(self, peer: tuple[str, int], span: int) -> bytes:
        text = f"{peer[0]}|{peer[1]}|{span}".encode()
        return hashlib.blake2b(text, key=self._secret, digest_size=COOKIE_BYTES).digest()

    def _allowed(self, address: str) -> bool:
        """Take from the source's bucket, if there is something in it."""
        now, source = self._now(), source_of(address)
        left, since = self._sources.pop(source, (self.limits.burst, now))
        left = min(self.limits.burst, left + (now - since) * self.limits.per_second)
        allowed = left >= 1
        self._sources[source] = (left - allowed, now)
        if len(self._sources) > self.limits.sources:
            self._sources.popitem(last=False)
        return allowed

    def serve(self, mine: socket.socket, bell: socket.socket) -> None:
        """Answer until there is something to read from ``bell``."""
        while True:
            ready, _, _ = select.select([mine, bell], [], [])
            if bell in ready:
                return
            try:
                datagram, peer = mine.recvfrom(2048)
                said = self.answer(datagram, (str(peer[0]), int(peer[1])))
                if said is not None:
                    mine.sendto(said, peer)
            except OSError:  # an ICMP error for an earlier answer, or a full buffer: one echo less
                continue


def source_of(address: str) -> str:
    """Return what counts as one source: an IPv4 address, or the /64 of an IPv6 one (RFC 4291).

    >>> source_of("2001:db8::1"), source_of("::ffff:192.0.2.1")
    ('2001:db8::', '192.0.2.1')
    """
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(found, ipaddress.IPv4Address):
        return str(found)
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    return str(ipaddress.ip_network((found, 64), strict=False).network_address)


def listen(address: str, port: int) -> socket.socket:
    """Return a socket to serve on; :class:`ConfigError` if the address is not available."""
    try:
        found = socket.getaddrinfo(address, port, type=socket.SOCK_DGRAM)[0]
        made = socket.socket(found[0], socket.SOCK_DGRAM)
    except OSError as error:
        raise ConfigError(f"--listen {address}: {error.strerror}; give an address") from None
    try:
        made.bind(found[4])
    except OSError as error:
        made.close()
        raise ConfigError(
            f"--listen {address}:{port}: is not available ({error.strerror}); choose another"
        ) from None
    return made
