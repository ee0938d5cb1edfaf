"""Readers of a publisher, for its benchmark: ``python -m … SOCKET READERS DEAF WARM``.

Prints how long events took to arrive, when the publisher has ended.
"""

from __future__ import annotations

import re
import selectors
import socket
import sys
import time
from collections.abc import Iterator

from skyweave.printing import put

_SENT = re.compile(rb'"sent_ns": (\d+)')
_REQUEST = b"GET /events?levels=forecasts HTTP/1.1\r\nHost: bench\r\n\r\n"


def connected(name: str) -> socket.socket:
    """Return a connection that has asked for events."""
    end = socket.socket(socket.AF_UNIX)
    end.connect(name)
    end.sendall(_REQUEST)
    return end


def looked_into(
    came: list[tuple[int, int, bytes]], seen: dict[int, int], warm: int
) -> Iterator[int]:
    """Yield how long events took in ns; ``came`` has reader, moment and bytes, ``seen`` counts."""
    for number, now_ns, said in came:
        for sent in _SENT.findall(said):
            seen[number] = seen.get(number, 0) + 1
            if seen[number] > warm:
                yield now_ns - int(sent)


def main(name: str, readers: int, deaf: int, warm: int) -> None:
    """Read until all is over; ``warm`` first events of each reader do not count."""
    silent = [connected(name) for _ in range(deaf)]
    seen: dict[int, int] = {}
    delays: list[int] = []
    came: list[tuple[int, int, bytes]] = []
    with selectors.DefaultSelector() as selector:
        for number in range(readers):
            selector.register(connected(name), selectors.EVENT_READ, number)
        while selector.get_map():
            ready = selector.select(0 if came else None)
            if not ready:  # nobody waits for this process: time to look into what came
                delays += looked_into(came, seen, warm)
                came.clear()
            for key, _ in ready:
                end = key.fileobj
                assert isinstance(end, socket.socket)
                said = end.recv(16_384)
                came.append((key.data, time.monotonic_ns(), said))
                if not said:
                    selector.unregister(end)
                    end.close()
    delays += looked_into(came, seen, warm)
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
