"""Readers of a publisher, for its benchmark: ``python -m … SOCKET READERS DEAF WARM``.

Prints how long events took to arrive, when the publisher has ended.
"""

from __future__ import annotations

import re
import selectors
import socket
import sys
import time

from skyweave.printing import put

_SENT = re.compile(rb'"sent_ns": (\d+)')
_REQUEST = b"GET /events?levels=forecasts HTTP/1.1\r\nHost: bench\r\n\r\n"


def connected(name: str) -> socket.socket:
    """Return a connection that has asked for events."""
    end = socket.socket(socket.AF_UNIX)
    end.connect(name)
    end.sendall(_REQUEST)
    return end


def main(name: str, readers: int, deaf: int, warm: int) -> None:
    """Read until all is over; ``warm`` first events of each reader do not count."""
    silent = [connected(name) for _ in range(deaf)]
    seen: dict[int, int] = {}
    delays: list[int] = []
    with selectors.DefaultSelector() as selector:
        for number in range(readers):
            selector.register(connected(name), selectors.EVENT_READ, number)
        while selector.get_map():
            for key, _ in selector.select():
                end = key.fileobj
                assert isinstance(end, socket.socket)
                said, now_ns = end.recv(16_384), time.monotonic_ns()
                if not said:
                    selector.unregister(end)
                    end.close()
                for sent in _SENT.findall(said):
                    seen[key.data] = seen.get(key.data, 0) + 1
                    if seen[key.data] > warm:
                        delays.append(now_ns - int(sent))
    for end in silent:
        end.close()
    delays.sort()
    at = [delays[min(int(share * len(delays)), len(delays) - 1)] / 1e6 for share in (0.5, 0.99, 1)]
    put(
        f'{{"hint_p50_ms": {at[0]}, "hint_p99_ms": {at[1]}, "hint_max_ms": {at[2]}, '
        f'"events_per_reader": {min(seen.values())}}}'
    )


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:5]))
