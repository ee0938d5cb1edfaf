"""What a gateway carries over loopback: TCP in, multipath QUIC, TCP out, in one process."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable
from statistics import median

from skyweave.quic.errors import QuicError
from skyweave.quic.fetch import Verification
from skyweave.quic.gateway import Connector, Door, GatewayServer, Origin, Passing, Reach
from skyweave.quic.listen import Listen
from skyweave.quic.options import options

_HOST = "127.0.0.1"
_CHUNK = 1 << 20
_CONNECTED_S = 20.0
_DATAGRAM_BYTES = 1440
"""That of the plain transfers beside it."""


def gateway(megabytes: int, rounds: int) -> dict[str, float]:
    """Return goodput and cost of downloads through a gateway over one path and over two, medians.

    The processor seconds are those of both ends of the gateway, of the origin and of the program.
    Raises :class:`QuicError` where the gateway is not reached.
    """
    size = megabytes * 1_000_000
    origin = _origin(size)
    behaviour = options("minrtt", "cubic", "same", "all", datagram_bytes=_DATAGRAM_BYTES)
    server = GatewayServer(
        [Origin("origin", _HOST, origin)], Listen(f"{_HOST}:0", None, None, "never", behaviour)
    )
    _in_background(lambda: server.run(lambda _clients, _news: None))
    found = {}
    for paths in (1, 2):
        local = [f"127.0.0.{last}" for last in range(1, paths + 1)]
        known = Verification(pin=server.fingerprint)
        reach = Reach(_HOST, server.port, known, local, options=behaviour)
        door = _connected(Connector(reach, [Door("", f"{_HOST}:0")]), paths)
        costs = [_download(door, size) for _ in range(rounds)]
        gigabits = size * 8e-9
        found[f"gateway_{paths}_path_gbps"] = gigabits / median(wall_s for wall_s, _ in costs)
        found[f"gateway_{paths}_path_cpu_s_per_gbit"] = (
            median(cpu_s for _, cpu_s in costs) / gigabits
        )
    return found


def _origin(size: int) -> int:
    """Send ``size`` bytes to each that connects to the port that is returned."""
    listening = socket.create_server((_HOST, 0))
    zeros = bytes(_CHUNK)

    def serve() -> None:
        while True:
            connection, _ = listening.accept()
            with connection:
                for left in range(size, 0, -_CHUNK):
                    connection.sendall(zeros[: min(left, _CHUNK)])

    _in_background(serve)
    return int(listening.getsockname()[1])


def _connected(connector: Connector, paths: int) -> tuple[str, int]:
    """Return where a client of the gateway listens, once all of its paths are open."""
    opened = threading.Event()

    def look(passing: Passing) -> None:
        if sum(path.open for path in passing.paths) >= paths:
            opened.set()

    _in_background(lambda: connector.run(look))
    if not opened.wait(_CONNECTED_S):
        raise QuicError(f"the gateway had not {paths} path(s) within {_CONNECTED_S:g} s")
    host, port = connector.addresses[0].rsplit(":", 1)
    return host, int(port)


def _download(door: tuple[str, int], size: int) -> tuple[float, float]:
    """Return wall and processor seconds of a download."""
    began, cpu = time.perf_counter(), time.process_time()
    room = bytearray(_CHUNK)
    left = size
    with socket.create_connection(door) as program:
        while read := program.recv_into(room):
            left -= read
    if left:
        raise QuicError(f"{left:,} bytes did not come through the gateway")
    return time.perf_counter() - began, time.process_time() - cpu


def _in_background(work: Callable[[], None]) -> None:
    threading.Thread(target=work, daemon=True).start()
