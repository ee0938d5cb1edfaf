"""SYN and SYN-ACK of TCP (RFC 9293) to any port, without rights: a connection that is cut at once.

A refused connection (RST) is a round trip as well. The kernel sends a SYN again after a second, so
no answer is waited for longer: it might be the one to the second SYN.
"""

from __future__ import annotations

import errno
import socket
import struct

from skyweave.telemetry.probes.probe import resolve

_ANSWERS = (0, errno.ECONNREFUSED)
_UNDER_WAY = (0, errno.EINPROGRESS, errno.ECONNREFUSED)
MOST_OPEN = 200
"""Connections under way at a time; more are refused."""


class TcpProbe:
    """Connections under way, each with its number."""

    most_timeout_s = 0.9
    connects = True

    def __init__(self, host: str, port: int) -> None:
        self._family, self._place = resolve(host, port, socket.SOCK_STREAM)
        self.name = f"tcp:{host}:{port}"
        self._open: dict[socket.socket, int] = {}

    def send(self, number: int) -> None:
        """Begin a connection."""
        if len(self._open) >= MOST_OPEN:
            raise OSError(errno.EMFILE, "too many connections under way")
        made = socket.socket(self._family, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # RST
        code = made.connect_ex(self._place)
        if code not in _UNDER_WAY:
            made.close()
            raise OSError(code, errno.errorcode.get(code, "cannot connect"))
        self._open[made] = number

    def sockets(self) -> list[socket.socket]:
        """Return the connections under way."""
        return list(self._open)

    def receive(self, ready: socket.socket) -> list[int]:
        """Return the number of a connection that was answered; errors on the way are none."""
        number = self._open.pop(ready, None)
        if number is None:
            return []
        code = ready.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        ready.close()
        return [number] if code in _ANSWERS else []

    def forget(self, number: int) -> None:
        """Cut a connection that nobody answered."""
        for one, its in list(self._open.items()):
            if its == number:
                del self._open[one]
                one.close()

    def close(self) -> None:
        """Cut everything."""
        for one in self._open:
            one.close()
        self._open.clear()
