"""Messages between the host and the processes of a world: one JSON object a line, over a socket."""

from __future__ import annotations

import contextlib
import json
import select
import socket
from typing import Any

Message = dict[str, Any]


class Channel:
    """One end of a conversation: requests one way, a reply to each the other way."""

    def __init__(self, end: socket.socket) -> None:
        self._socket = end
        self._unread = b""

    @classmethod
    def pair(cls) -> tuple[Channel, socket.socket]:
        """Return a channel, and the socket that another process makes its end of."""
        ours, theirs = socket.socketpair()
        return cls(ours), theirs

    def fileno(self) -> int:
        """Return the descriptor, for ``select``."""
        return self._socket.fileno()

    def send(self, message: Message) -> None:
        """Send a message. Raises :class:`OSError` when nobody listens any more."""
        self._socket.sendall(json.dumps(message).encode() + b"\n")

    def receive(self, timeout_s: float | None = None) -> Message | None:
        """Return the next message; ``None`` when the other end is gone.

        Raises :class:`TimeoutError` when nothing came for ``timeout_s``.
        """
        while b"\n" not in self._unread:
            ready, _, _ = select.select([self._socket], [], [], timeout_s)
            if not ready:
                raise TimeoutError
            try:
                more = self._socket.recv(1 << 20)
            except ConnectionResetError:
                more = b""
            if not more:
                return None
            self._unread += more
        line, self._unread = self._unread.split(b"\n", 1)
        message: Message = json.loads(line)
        return message

    def close(self) -> None:
        """Hang up."""
        with contextlib.suppress(OSError):
            self._socket.close()
