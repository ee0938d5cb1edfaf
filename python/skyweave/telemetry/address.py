"""Where something answers: a host and a port, as people write them."""

from __future__ import annotations

from skyweave.errors import ConfigError


def host_port(text: str, what: str) -> tuple[str, int]:
    """Read ``HOST:PORT`` or ``[IPV6]:PORT``; :class:`ConfigError` names ``what`` it stands for."""
    host, colon, port = text.rpartition(":")
    bare = host.removeprefix("[").removesuffix("]")
    if not (colon and bare and port.isascii() and port.isdigit() and 0 <= int(port) < 65_536):
        raise ConfigError(f"{what} {text}: write ADDRESS:PORT, such as 192.168.100.1:9200")
    return bare, int(port)
