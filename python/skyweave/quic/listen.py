"""Where a server listens, its certificate and its limits: ``Listen``."""

from __future__ import annotations

import contextlib
import resource
import socket
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from skyweave.errors import ConfigError
from skyweave.quic.options import Retry


@dataclass(frozen=True)
class Limits:
    """How many connections a server keeps; ``crates/sockets/src/limits.rs`` says what is refused.

    ``per_address`` counts an IPv4 address or an IPv6 /64, ``per_network`` an IPv4 /24 or IPv6 /48.
    """

    connections: int = 4096
    half_open: int = 1024
    per_address: int = 64
    per_network: int = 256

    @classmethod
    def of(cls, connections: int, per_address: int) -> Limits:
        """Return limits in the proportions of the default ones."""
        return cls(connections, max(connections // 4, 1), per_address, 4 * per_address)


@dataclass(frozen=True)
class Listen:
    """Where and how a server listens; without certificate and key they are made."""

    listen: str
    cert: Path | None
    key: Path | None
    retry: Retry
    options: dict[str, Any]
    limits: Limits = Limits()

    def request(self) -> dict[str, Any]:
        """Return it as the seam takes it. Raises :class:`ConfigError`."""
        return {
            "listen": udp_address(self.listen),
            "cert": None if self.cert is None else str(self.cert),
            "key": None if self.key is None else str(self.key),
            "names": ["localhost", socket.gethostname() or "localhost"],
            "limits": asdict(self.limits),
            "retry": self.retry,
            "options": self.options,
        }


def allow_many_files() -> None:
    """Let this process have as many files open as the system admits: clients want some each."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def host_and_port(text: str, example: str) -> tuple[str, int]:
    """Return both parts. Raises :class:`ConfigError`, with the ``example``.

    >>> host_and_port("[::1]:80", "localhost:8080")
    ('::1', 80)
    """
    try:
        parts = urlsplit(f"//{text}")
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
    if host is None or port is None or text.count("/") or "@" in text:
        raise ConfigError(f"'{text}' is not ADDRESS:PORT; give e.g. {example}")
    return host, port


def joined(host: str, port: int) -> str:
    """Return an address and a port as URLs have them.

    >>> joined("::1", 80)
    '[::1]:80'
    """
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def udp_address(listen: str) -> str:
    """Return ``ADDRESS:PORT`` with an address, for names and where IPv6 is missing.

    Raises :class:`ConfigError`.
    """
    host, port = host_and_port(listen, "0.0.0.0:4433 or [::]:4433")
    if host == "::" and not socket.has_ipv6:
        host = "0.0.0.0"
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM)
    except OSError as error:
        raise ConfigError(f"'{host}' is no address of this machine: {error.strerror}") from None
    return joined(str(found[0][4][0]), port)
