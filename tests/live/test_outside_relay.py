"""The relay of a way out carries a bounded number of connections at a time."""

from __future__ import annotations

import asyncio
import socket
from typing import cast

import pytest

from skyweave.live.outside import relay
from skyweave.live.outside.destination import Destinations, Target

ROOM, CLIENTS = 2, 6


class Far:
    """Echoes, and counts how many connections it had at a time."""

    def __init__(self) -> None:
        self.now = self.most = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.now += 1
        self.most = max(self.most, self.now)
        while data := await reader.read(100):
            writer.write(data)
        self.now -= 1
        writer.close()


class To:
    """Every connection has the same destination."""

    def __init__(self, target: Target) -> None:
        self._target = target

    async def of(self, near: socket.socket) -> Target:
        return self._target


async def visit(port: int) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"hello")
    writer.write_eof()
    said = await reader.read()
    writer.close()
    return said


async def visited() -> tuple[list[bytes], int]:
    far = Far()
    server = await asyncio.start_server(far.serve, "127.0.0.1", 0)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        destinations = cast(Destinations, To(server.sockets[0].getsockname()[:2]))
        room = asyncio.Semaphore(ROOM)
        accepting = asyncio.create_task(relay._accept(listener, destinations, room))
        port = listener.getsockname()[1]
        said = await asyncio.gather(*(visit(port) for _ in range(CLIENTS)))
        accepting.cancel()
    server.close()
    return said, far.most


def test_further_connections_wait_for_room_and_are_served(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relay, "OUTSIDE", "lo")
    said, most = asyncio.run(visited())
    assert said == [b"hello"] * CLIENTS
    assert most <= ROOM
