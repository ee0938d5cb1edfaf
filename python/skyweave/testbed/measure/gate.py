"""The gate of a run: who shows its token over TCP is admitted, by the address it comes from.

A handshake of TCP and 43 characters that only the run knows prove an address; nothing is said to
anybody else, and no datagram is ever answered here. Each run has a gate of its own, which goes
with its lease.
"""

from __future__ import annotations

import hmac
import json
import selectors
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from pydantic import Field

from skyweave.field.knock import HELLO
from skyweave.testbed.wire import Message
from skyweave.testbed.wire.names import Port
from skyweave.testbed.wire.run import Service

MOST_HELLO = 128
PATIENCE_S = 5.0
MOST_WAITING = 16
MOST_TRIES = 200
"""Wrong tokens of a lease; after that the gate is shut to newcomers."""
MOST_ADDRESSES = 8
"""A run has as many uplinks at most."""


class Said(Message):
    """What who is admitted learns."""

    services: dict[Service, Port] = Field(max_length=8)
    pin: str
    """SHA-256 of the QUIC server's certificate."""


@dataclass
class _Waiting:
    """Somebody who has not said enough yet."""

    address: str
    since: float
    said: bytes = field(default=b"")


class Gate:
    """One gate, from its beginning until :meth:`close`."""

    def __init__(
        self, listening: socket.socket, token: str, only: str | None,
        admit: Callable[[str], Said], now: Callable[[], float] = time.monotonic,
    ) -> None:  # fmt: skip
        """``admit`` is called for each new address and returns when the services answer to it.

        ``only``: the one address that may come, if that is known.
        """
        self._token, self._only, self._admit, self._now = token.encode(), only, admit, now
        self._listening, self.tries, self.admitted = listening, 0, set[str]()
        listening.setblocking(False)
        self._bell, self._rung = socket.socketpair()
        self._selector = selectors.DefaultSelector()
        self._selector.register(listening, selectors.EVENT_READ)
        self._selector.register(self._rung, selectors.EVENT_READ)
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Shut it; who waits is cut off."""
        self._bell.send(b"!")
        self._thread.join()
        for key in list(self._selector.get_map().values()):
            if isinstance(key.fileobj, socket.socket):
                key.fileobj.close()
        self._selector.close()
        self._bell.close()

    def _serve(self) -> None:
        while True:
            for key, _ in self._selector.select(PATIENCE_S):
                if key.fileobj is self._rung:
                    return
                if key.fileobj is self._listening:
                    self._take()
                elif isinstance(key.fileobj, socket.socket):
                    self._hear(key.fileobj, key.data)
            self._tire()

    def _take(self) -> None:
        try:
            end, peer = self._listening.accept()
        except OSError:
            return
        address = str(peer[0])
        full = len(self._selector.get_map()) - 2 >= MOST_WAITING or self.tries >= MOST_TRIES
        if full or self._only not in (None, address):
            end.close()
            return
        end.setblocking(False)
        self._selector.register(end, selectors.EVENT_READ, _Waiting(address, self._now()))

    def _hear(self, end: socket.socket, one: _Waiting) -> None:
        try:
            said = end.recv(MOST_HELLO)
        except OSError:
            said = b""
        one.said += said
        if said and b"\n" not in one.said and len(one.said) < MOST_HELLO:
            return
        line = one.said.split(b"\n")[0]
        token = line.removeprefix(HELLO)
        known = line.startswith(HELLO) and hmac.compare_digest(token, self._token)
        room = one.address in self.admitted or len(self.admitted) < MOST_ADDRESSES
        if known and room:
            self._open(end, one.address)
        else:
            self.tries += 1
        self._drop(end)

    def _open(self, end: socket.socket, address: str) -> None:
        try:
            said = self._admit(address)
        except Exception as error:  # a service that does not start shuts no gate
            said_bytes = json.dumps({"error": str(error)[:300]}).encode()
        else:
            self.admitted.add(address)
            said_bytes = said.model_dump_json().encode()
        try:
            end.setblocking(True)
            end.settimeout(PATIENCE_S)
            end.sendall(said_bytes + b"\n")
        except OSError:
            return

    def _tire(self) -> None:
        """Cut off who has said too little for too long."""
        for key in list(self._selector.get_map().values()):
            if isinstance(key.data, _Waiting) and self._now() - key.data.since > PATIENCE_S:
                self.tries += 1
                if isinstance(key.fileobj, socket.socket):
                    self._drop(key.fileobj)

    def _drop(self, end: socket.socket) -> None:
        self._selector.unregister(end)
        end.close()
