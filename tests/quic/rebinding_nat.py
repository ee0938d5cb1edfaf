"""A NAT in front of a server: after some datagrams, what a client sends comes from elsewhere."""

from __future__ import annotations

import select
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

LONGEST = 65536


@contextmanager
def rebinding(port: int, after: int) -> Iterator[int]:
    """Yield the port at which a server on this machine is reached through a NAT.

    The first ``after`` datagrams of the client arrive at the server from one port, all later ones
    from another; from then on what the server sends to the first is lost, as when an entry has
    expired. For one client.
    """
    near, first, second, stop, stopped = (
        *(socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(3)),
        *socket.socketpair(),
    )
    for end in (near, first, second):
        end.bind(("127.0.0.1", 0))

    def carry() -> None:
        came, client = 0, None
        while True:
            ready, _, _ = select.select([near, first, second, stopped], [], [])
            if stopped in ready:
                return
            for end in ready:
                data, who = end.recvfrom(LONGEST)
                if end is near:
                    client = who
                    (first if came < after else second).sendto(data, ("127.0.0.1", port))
                    came += 1
                elif client is not None and (end is second or came <= after):
                    near.sendto(data, client)

    thread = threading.Thread(target=carry)
    thread.start()
    try:
        yield near.getsockname()[1]
    finally:
        stop.close()
        thread.join()
        for end in (near, first, second, stopped):
            end.close()
