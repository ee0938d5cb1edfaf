"""``python -m skyweave.live.outside.relay DESCRIPTOR...``: TCP connections that go on outside.

Every connection through the links ends here, whatever its destination; a second one, through the
device outside, goes on from here to that destination.
"""

from __future__ import annotations

import asyncio
import contextlib
import resource
import socket
import struct
import sys

from skyweave.live.outside.destination import Destinations
from skyweave.live.world.addresses import OUTSIDE

PIECE = 64 * 1024
MOST = 1024
"""Connections at a time, so 128 MiB at most; further ones wait in the queue of the listener."""
PAUSE_S = 0.1
"""Before the next try when no descriptor is left for one more connection."""
_AT_ONCE = struct.pack("ii", 1, 0)
"""``SO_LINGER``: a close is a reset."""


async def serve(listeners: list[socket.socket]) -> None:
    """Carry connections until this process ends."""
    destinations, room = Destinations(), asyncio.Semaphore(MOST)
    await asyncio.gather(*(_accept(one, destinations, room) for one in listeners))


async def _accept(
    listener: socket.socket, destinations: Destinations, room: asyncio.Semaphore
) -> None:
    loop = asyncio.get_running_loop()
    carried: set[asyncio.Task[None]] = set()
    while True:
        await room.acquire()
        try:
            near, _ = await loop.sock_accept(listener)
        except OSError:
            room.release()
            await asyncio.sleep(PAUSE_S)
            continue
        task = asyncio.create_task(_carry(near, destinations))
        carried.add(task)  # the loop holds tasks weakly
        task.add_done_callback(carried.discard)
        task.add_done_callback(lambda _: room.release())


async def _carry(near: socket.socket, destinations: Destinations) -> None:
    """Connect to the original destination and carry bytes both ways; a failure is a reset."""
    with near:
        try:
            with socket.socket(near.family, socket.SOCK_STREAM) as far:
                far.setblocking(False)
                far.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, OUTSIDE.encode())
                target = await destinations.of(near)
                await asyncio.get_running_loop().sock_connect(far, target)
                await _both_ways(near, far)
        except OSError:
            _reset(near)


async def _both_ways(near: socket.socket, far: socket.socket) -> None:
    for end in (near, far):
        end.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        with contextlib.suppress(OSError):  # Multipath TCP of Linux before 5.16
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(_pump(near, far))
            group.create_task(_pump(far, near))
    except* OSError:
        _reset(near)
        _reset(far)


async def _pump(source: socket.socket, sink: socket.socket) -> None:
    """Carry one direction to its end, which is passed on."""
    loop = asyncio.get_running_loop()
    buffer = memoryview(bytearray(PIECE))
    while count := await loop.sock_recv_into(source, buffer):
        await loop.sock_sendall(sink, buffer[:count])
    sink.shutdown(socket.SHUT_WR)


def _reset(end: socket.socket) -> None:
    with contextlib.suppress(OSError):
        end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)


def main() -> None:
    """Serve the listeners of the command line."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    listeners = [socket.socket(fileno=int(word)) for word in sys.argv[1:]]
    for one in listeners:
        one.setblocking(False)
    asyncio.run(serve(listeners))


if __name__ == "__main__":
    main()
