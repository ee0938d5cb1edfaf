"""Messages between a run and its server: one JSON object a line over TCP, of bounded length."""

from __future__ import annotations

import contextlib
import json
import socket
import time
from typing import Any

from skyweave.field.errors import FieldError

_PIECE = 1 << 16
_IDLE_S, _TRIES = 15, 8
"""Kept awake, because a carrier's translator forgets a connection that is silent for a minute."""


class Line:
    """One end of a conversation."""

    def __init__(self, end: socket.socket) -> None:
        self._end, self._unread = end, b""
        end.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        end.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, _IDLE_S)
        end.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, _IDLE_S)
        end.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT, _TRIES)
        end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def send(self, message: dict[str, Any], seconds: float) -> None:
        """Send a message; :class:`OSError` when nobody takes it in that time."""
        self._end.settimeout(seconds)
        self._end.sendall(json.dumps(message).encode() + b"\n")

    def receive(self, seconds: float, most_bytes: int) -> dict[str, Any]:
        """Return the next message.

        Raises :class:`OSError` when none came in that time or the other end is gone, and
        :class:`FieldError` for what is too long or no object.
        """
        end = time.monotonic() + seconds
        parts, size = [self._unread], len(self._unread)
        while b"\n" not in parts[-1]:
            if size > most_bytes:
                raise FieldError(f"a message is longer than {most_bytes:,} bytes")
            left = end - time.monotonic()
            if left <= 0:
                raise TimeoutError("nothing came in time")
            self._end.settimeout(left)
            more = self._end.recv(_PIECE)
            if not more:
                raise ConnectionResetError("the other end is gone")
            parts.append(more)
            size += len(more)
        line, _, self._unread = b"".join(parts).partition(b"\n")
        if len(line) > most_bytes:
            raise FieldError(f"a message is longer than {most_bytes:,} bytes")
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            message = None
        if not isinstance(message, dict):
            raise FieldError("a message is no JSON object")
        return message

    def close(self) -> None:
        """Hang up."""
        with contextlib.suppress(OSError):
            self._end.close()
