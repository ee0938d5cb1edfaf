"""What is to be fetched, and from where."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from skyweave.errors import ConfigError

PORT = 4433
"""Where ``skyweave quic serve`` listens if nothing else is said."""


@dataclass(frozen=True)
class Target:
    """A file on a server; ``hq``: over HTTP/0.9, as interoperability tests speak it."""

    host: str
    port: int
    path: str
    hq: bool = False

    @property
    def file_name(self) -> str:
        """The last part of its path."""
        return self.path.rsplit("/", 1)[-1]


def parse_target(text: str) -> Target:
    """Return what a URL, or ``HOST:PORT/PATH``, means.

    >>> parse_target("https://example.org/a%20b")
    Target(host='example.org', port=443, path='/a b', hq=False)
    >>> parse_target("[::1]:7/x/y")
    Target(host='::1', port=7, path='/x/y', hq=False)
    >>> parse_target("hq://server/file")
    Target(host='server', port=4433, path='/file', hq=True)
    """
    is_url = "://" in text
    parts = urlsplit(text if is_url else f"h3://{text}")
    if is_url and parts.scheme not in ("https", "hq"):
        raise ConfigError(f"'{text}' is not an https:// URL; give HOST:PORT/PATH, or such a URL")
    try:
        port = parts.port
    except ValueError:
        raise ConfigError(
            f"'{text}' has no port between 1 and 65535; give HOST:PORT/PATH"
        ) from None
    if not parts.hostname:
        raise ConfigError(f"'{text}' names no server; give HOST:PORT/PATH")
    path = unquote(parts.path)
    if path.rstrip("/") == "" or path.endswith("/"):
        raise ConfigError(f"'{text}' names no file; give HOST:PORT/PATH")
    port = port or (443 if parts.scheme == "https" else PORT)
    return Target(parts.hostname, port, path, hq=parts.scheme == "hq")
