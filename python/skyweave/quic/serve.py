"""A server of files: ``FileServer``."""

from __future__ import annotations

import contextlib
import json
import resource
import socket
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from skyweave import _skyweave
from skyweave.errors import ConfigError
from skyweave.printing import visible
from skyweave.quic.errors import QuicError
from skyweave.quic.options import Retry
from skyweave.steady import steady


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
class Serve:
    """What is served, where and how; without certificate and key they are made."""

    root: Path
    listen: str
    cert: Path | None
    key: Path | None
    retry: Retry
    options: dict[str, Any]
    limits: Limits = Limits()
    hidden: bool = False
    """Files and folders whose names begin with a dot are served, too."""


@dataclass(frozen=True)
class Served:
    """What happened: ``opened``; a further ``path``, from what address; ``asked`` for what (None
    bytes: no such file); ``failed``, what and why; ``closed``; ``missed``, so many more."""

    kind: str
    client: str
    what: str
    bytes: int | None

    def words(self) -> str:
        """Return a sentence about it, on one line whatever the client sent."""
        what = visible(self.what)
        if self.kind == "opened":
            return f"{self.client}: connected"
        if self.kind == "path":
            return f"{self.client}: a further path, from {what}"
        if self.kind == "missed":
            return f"{self.bytes:,} more events are not shown"
        if self.kind == "failed":
            return f"{self.client}: GET {what}; the client was told that the server is busy"
        if self.kind == "closed":
            return f"{self.client}: over, {what}"
        answer = "no such file" if self.bytes is None else f"{self.bytes:,} bytes"
        return f"{self.client}: GET {what}: {answer}"


class FileServer:
    """Listens from the beginning. Raises :class:`ConfigError` and :class:`QuicError`."""

    def __init__(self, serve: Serve) -> None:
        if not serve.root.is_dir():
            raise ConfigError(f"{serve.root} is no folder; give one whose files are to be served")
        self.address = _address(serve.listen)
        request = {
            "root": str(serve.root),
            "listen": self.address,
            "cert": None if serve.cert is None else str(serve.cert),
            "key": None if serve.key is None else str(serve.key),
            "names": ["localhost", socket.gethostname() or "localhost"],
            "limits": asdict(serve.limits),
            "hidden": serve.hidden,
            "retry": serve.retry,
            "options": serve.options,
        }
        try:
            self._server = _skyweave.QuicFileServer(json.dumps(request))
        except ValueError as error:
            raise ConfigError(str(error)) from None
        except OSError as error:
            raise QuicError(str(error)) from None

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the certificate."""
        return self._server.fingerprint

    @property
    def port(self) -> int:
        """The UDP port."""
        return self._server.port

    def run(self, watch: Callable[[int, tuple[Served, ...]], None]) -> None:
        """Serve until Ctrl-C; ``watch`` gets the number of connections and what happened.

        What ``watch`` raises is logged once and ends nothing. Raises :class:`QuicError`.
        """

        def look(said: str) -> None:
            connections, news = json.loads(said)
            unfailing(connections, tuple(Served(*one) for one in news))

        unfailing = steady(watch, "the server's watcher")

        try:
            self._server.run(look)
        except OSError as error:
            raise QuicError(str(error)) from None


def allow_many_files() -> None:
    """Let this process have as many files open as the system admits: clients want some each."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def _address(listen: str) -> str:
    """Return ``ADDRESS:PORT`` with an address, for names and where IPv6 is missing."""
    try:
        parts = urlsplit(f"//{listen}")
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
    if host is None or port is None:
        raise ConfigError(f"'{listen}' is not ADDRESS:PORT; give e.g. 0.0.0.0:4433 or [::]:4433")
    if host == "::" and not socket.has_ipv6:
        host = "0.0.0.0"
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM)
    except OSError as error:
        raise ConfigError(f"'{host}' is no address of this machine: {error.strerror}") from None
    address = str(found[0][4][0])
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"
