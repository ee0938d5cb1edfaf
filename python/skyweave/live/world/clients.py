"""Clients of a local socket, each answered when it has said something, however silent others are.

One thread serves all of them. What they can take is bounded: a message has at most
:data:`LONGEST` bytes, and when more than :data:`MOST` are there, the one that was silent longest
has to go.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import socket
import time
from collections.abc import Callable
from pathlib import Path

from skyweave.live.errors import LiveError
from skyweave.live.world.messages import Message

LONGEST = 64 * 1024
MOST = 32
PIECE = 4096
PAUSE_S = 0.1
LONGEST_NAME = 107  # bytes of the name of a UNIX socket, unix(7)

Answer = Callable[[bytes], Message]
"""Answers a line; never raises."""


class Clients:
    """A socket that listens at ``name``; :meth:`serve` runs in a thread until :meth:`stop`."""

    def __init__(self, name: Path, answer: Answer) -> None:
        self.name = name
        self._answer = answer
        self._listener = socket.socket(socket.AF_UNIX)
        try:
            self._listener.bind(str(name))
            self._listener.listen(MOST)
        except OSError as error:
            self._listener.close()
            hint = "; set TMPDIR to a shorter one" if len(os.fsencode(name)) > LONGEST_NAME else ""
            raise LiveError(f"no control socket at {name}: {error}{hint}") from error
        self._listener.setblocking(False)
        self._stop, self._stopped = socket.socketpair()
        self._heard: dict[socket.socket, bytes] = {}
        """What each client has said of a line that is not at its end, the most silent one first."""
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._listener, selectors.EVENT_READ)
        self._selector.register(self._stopped, selectors.EVENT_READ)

    def stop(self) -> None:
        """Let :meth:`serve` hang up on everybody and return."""
        self._stop.close()

    def serve(self) -> None:
        """Answer clients until :meth:`stop`."""
        while True:
            ready = [key.fileobj for key, _ in self._selector.select()]
            if self._stopped in ready:
                break
            for one in ready:
                if one is self._listener:
                    self._accept()
                elif isinstance(one, socket.socket) and one in self._heard:
                    self._read(one)
        for client in list(self._heard):
            self._hang_up(client)
        for end in (self._listener, self._stopped, self._selector):
            end.close()

    def _accept(self) -> None:
        if len(self._heard) >= MOST:
            self._hang_up(next(iter(self._heard)))
        try:
            client, _ = self._listener.accept()
        except OSError:  # it has gone, or no descriptor is left: then one less is held, or we wait
            if self._heard:
                self._hang_up(next(iter(self._heard)))
            else:
                time.sleep(PAUSE_S)
            return
        client.setblocking(False)
        self._heard[client] = b""
        self._selector.register(client, selectors.EVENT_READ)

    def _read(self, client: socket.socket) -> None:
        try:
            more = client.recv(PIECE)
        except BlockingIOError:
            return
        except OSError:
            more = b""
        heard = self._heard.pop(client) + more
        self._heard[client] = heard  # now the last one that was heard
        if not more:
            self._hang_up(client)
            return
        *lines, rest = heard.split(b"\n")
        self._heard[client] = rest
        for line in lines:
            if not self._say(client, self._answer(line)):
                return
        if len(rest) > LONGEST:
            self._say(client, {"error": f"a message has at most {LONGEST} bytes"})
            self._hang_up(client)

    def _say(self, client: socket.socket, message: Message) -> bool:
        """Send an answer; who does not take it is hung up on."""
        said = json.dumps(message).encode() + b"\n"
        try:
            taken = client.send(said)
        except OSError:
            taken = 0
        if taken < len(said):
            self._hang_up(client)
        return taken == len(said)

    def _hang_up(self, client: socket.socket) -> None:
        del self._heard[client]
        with contextlib.suppress(KeyError, ValueError):
            self._selector.unregister(client)
        client.close()
