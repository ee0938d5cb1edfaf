"""A player's connections carried on to the server: by one uplink, or by Multipath TCP.

A foreign program cannot be told by which device its connections leave; it connects to 127.0.0.1,
and each of its connections becomes one of ours. Little waits in between: both ends have small
buffers on this machine, so that a player which reads no more is felt by the server.
"""

from __future__ import annotations

import contextlib
import socket
import threading
from dataclasses import dataclass
from types import TracebackType
from typing import Self

HOST = "127.0.0.1"
MOST_AT_ONCE = 32
_IPPROTO_MPTCP = 262
_PIECE = 64 * 1024
_CONNECT_S = 20.0


@dataclass(frozen=True)
class Way:
    """How connections leave."""

    server: tuple[str, int]
    source: str
    """Address that they come from."""
    device: str | None
    """Device that they are bound to; Multipath TCP has several, and is bound to none."""
    multipath: bool

    def connect(self) -> socket.socket:
        """Open a connection; :class:`OSError` if that cannot be."""
        end = socket.socket(
            socket.AF_INET, socket.SOCK_STREAM, _IPPROTO_MPTCP if self.multipath else 0
        )
        try:
            if self.device is not None:
                end.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, self.device.encode())
            end.settimeout(_CONNECT_S)
            end.bind((self.source, 0))
            end.connect(self.server)
            end.settimeout(None)
        except OSError:
            end.close()
            raise
        return end


class Relay:
    """Listens on 127.0.0.1 until the block is left."""

    def __init__(self, way: Way) -> None:
        self._way = way
        self._lock = threading.Lock()
        self._open: set[socket.socket] = set()
        self._closed = False

    def __enter__(self) -> Self:
        self._listening = socket.create_server((HOST, 0))
        self._listening.setsockopt(
            socket.SOL_SOCKET, socket.SO_SNDBUF, _PIECE
        )  # of each that comes
        self.port: int = self._listening.getsockname()[1]
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with contextlib.suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self._thread.join()
        with self._lock:
            self._closed = True
            for one in self._open:
                with contextlib.suppress(OSError):
                    one.shutdown(socket.SHUT_RDWR)

    def _serve(self) -> None:
        while True:
            try:
                near, _ = self._listening.accept()
            except OSError:
                return
            if not self._keep(near):
                near.close()
                continue
            threading.Thread(target=self._carry, args=(near,), daemon=True).start()

    def _carry(self, near: socket.socket) -> None:
        """Carry one connection, both ways, until both are over."""
        try:
            far = self._way.connect()
        except OSError:
            self._drop(near)
            return
        if not self._keep(far):
            far.close()
            self._drop(near)
            return
        back = threading.Thread(target=_pump, args=(near, far), daemon=True)
        back.start()
        _pump(far, near)
        back.join()
        self._drop(near)
        self._drop(far)

    def _keep(self, end: socket.socket) -> bool:
        with self._lock:
            if self._closed or len(self._open) >= 2 * MOST_AT_ONCE:
                return False
            self._open.add(end)
            return True

    def _drop(self, end: socket.socket) -> None:
        with self._lock:
            self._open.discard(end)
        end.close()


def _pump(source: socket.socket, sink: socket.socket) -> None:
    """Pass on what comes until it ends; a side that is gone ends the other, too."""
    try:
        while piece := source.recv(_PIECE):
            sink.sendall(piece)
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        for one in (source, sink):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
