"""The boat's camera: an application that knows its LEO link, and where its pictures arrive.

    python -m skyweave.lab.testbed.camera send HOST:PORT SOCKET
    python -m skyweave.lab.testbed.camera take HOST:PORT

It uploads a group of pictures each half second over one TCP connection, and waits for none to
arrive. Before each it asks the awareness library on SOCKET: where an edge of a slot is foreseen
within the next second, the group is a quarter as large. What it did is a JSON object a line.
"""

from __future__ import annotations

import json
import socket
import sys
import threading
import time
from pathlib import Path
from typing import Any

from skyweave.awareness import Awareness
from skyweave.forecast import ForecastFile
from skyweave.telemetry.address import host_port

EVERY_S, AHEAD_S = 0.5, 1.0
WHOLE_BYTES, LEAST_SHARE = 100_000, 4
"""1.6 Mbit/s."""
AGAIN_S = 1.0
HEAD_BYTES = 4


def edge_is_near(known: dict[str, ForecastFile], now_unix_s: float) -> bool:
    """Tell whether a boundary of any path is foreseen within the next second."""
    return any(
        0 <= one.start_unix_s + edge.at_s - now_unix_s <= AHEAD_S
        for one in known.values()
        for edge in one.forecast.boundaries
    )


def send(place: tuple[str, int], publisher: Path) -> None:
    """Upload without end; a broken connection is replaced by a new one."""
    awareness = Awareness(publisher)
    while True:
        try:
            with socket.create_connection(place) as end:
                _send(end, awareness)
        except OSError as error:
            _note(broken=str(error)[:100])
        time.sleep(AGAIN_S)


def _send(end: socket.socket, awareness: Awareness) -> None:
    threading.Thread(target=_hear, args=(end,), daemon=True).start()
    due = time.monotonic()
    while True:
        now = time.time()
        known = awareness.forecasts(now)
        near = edge_is_near(known, now)
        size = WHOLE_BYTES // LEAST_SHARE if near else WHOLE_BYTES
        end.sendall(size.to_bytes(HEAD_BYTES, "big") + bytes(size))
        _note(sent_bytes=size, knows=bool(known), held_back=near)
        due += EVERY_S
        time.sleep(max(due - time.monotonic(), 0.0))


def _hear(end: socket.socket) -> None:
    """Count what has arrived: a byte for each group."""
    while said := end.recv(1024):
        _note(arrived=len(said))


def take(place: tuple[str, int]) -> None:
    """Accept uploads without end."""
    with socket.create_server(place) as server:
        while True:
            end, _ = server.accept()
            threading.Thread(target=_take, args=(end,), daemon=True).start()


def _take(end: socket.socket) -> None:
    with end, end.makefile("rb") as stream:
        while len(head := stream.read(HEAD_BYTES)) == HEAD_BYTES:
            size = int.from_bytes(head, "big")
            if len(stream.read(size)) < size:
                return
            end.sendall(b"!")


def _note(**facts: Any) -> None:
    sys.stdout.write(json.dumps({"time_unix_s": time.time(), **facts}) + "\n")
    sys.stdout.flush()


def main() -> None:
    """Be the camera, or the far end of it."""
    place = host_port(sys.argv[2], "HOST:PORT")
    if sys.argv[1] == "send":
        send(place, Path(sys.argv[3]))
    take(place)


if __name__ == "__main__":
    main()
