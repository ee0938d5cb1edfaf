"""Where something answers: a host and a port as people write them, a socket of this machine."""

from __future__ import annotations

import contextlib
import os
import socket
from pathlib import Path

from skyweave.errors import ConfigError

MODE = 0o660
"""Owner and group may use a socket of this machine."""
MOST_READERS = 256


def host_port(text: str, what: str) -> tuple[str, int]:
    """Read ``HOST:PORT`` or ``[IPV6]:PORT``; :class:`ConfigError` names ``what`` it stands for."""
    host, colon, port = text.rpartition(":")
    bare = host.removeprefix("[").removesuffix("]")
    if not (colon and bare and port.isascii() and port.isdigit() and 0 <= int(port) < 65_536):
        raise ConfigError(f"{what} {text}: write ADDRESS:PORT, such as 192.168.100.1:9200")
    return bare, int(port)


def listen_locally(name: Path) -> socket.socket:
    """Return a listening Unix socket that owner and group may use, in place of a dead one's.

    Raises :class:`ConfigError` where none can be, or where somebody answers.
    """
    made = socket.socket(socket.AF_UNIX)
    try:
        with contextlib.suppress(FileNotFoundError, ConnectionRefusedError):
            made.connect(str(name))
            made.close()
            raise ConfigError(f"{name}: another publisher is there; choose another socket")
        made.close()
        made = socket.socket(socket.AF_UNIX)
        if name.is_socket():
            name.unlink()
        before = os.umask(0o777 & ~MODE)
        try:
            made.bind(str(name))
        finally:
            os.umask(before)
        made.listen(MOST_READERS)
    except OSError as error:
        made.close()
        why = error.strerror or str(error)
        raise ConfigError(f"{name}: no socket can be there ({why}); choose another") from None
    return made
