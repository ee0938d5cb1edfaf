"""Programs that ``skyweave bench emulator`` lets the agents of a world run: UDP echo and flood."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from skyweave.live.errors import LiveError
from skyweave.live.world import addresses
from skyweave.live.world.world import World

PACKET_BYTES = 1500
"""What each packet of the flood is on a link, IP header included."""

_ECHO = """
import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind((sys.argv[1], 7))
while True:
    data, sender = s.recvfrom(2048)
    s.sendto(data, sender)
"""

_PING = """
import json, pathlib, socket, sys, time
address, count, spacing_s, out = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), sys.argv[4]
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.connect((address, 7))
s.settimeout(1.0)
found, due = [], time.perf_counter()
for number in range(count):
    due = max(due + spacing_s, time.perf_counter())
    time.sleep(max(due - time.perf_counter(), 0))
    began = time.perf_counter_ns()
    s.send(number.to_bytes(4, "big"))
    try:
        while int.from_bytes(s.recv(64), "big") != number:
            pass
    except TimeoutError:
        continue
    found.append((time.perf_counter_ns() - began) / 1e6)
pathlib.Path(out).write_text(json.dumps(found))
"""

# Hands up to 44 datagrams to the kernel at once (UDP_SEGMENT), as many as are due each 1 ms.
_FLOOD = """
import socket, sys, time
address, mbps, seconds = sys.argv[1], float(sys.argv[2]), float(sys.argv[3])
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(17, 103, 1472)
s.connect((address, 9))
most = bytes(1472 * 44)
begin = now = time.perf_counter()
sent = 0
while now - begin < seconds:
    due = int((now - begin) * mbps * 1e6 / 12000) - sent
    while due > 0:
        part = min(due, 44)
        try:
            s.send(most[: 1472 * part])
        except OSError:
            pass
        sent, due = sent + part, due - part
    time.sleep(0.001)
    now = time.perf_counter()
"""

_SINK = """
import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind((sys.argv[1], 9))
while True:
    s.recv(2048)
"""


def round_trips_ms(world: World, count: int, spacing_s: float) -> list[float]:
    """Return the round-trip times of UDP packets of 4 bytes over the first path of a world.

    Those that got lost, or took more than 1 s, are missing.
    """
    server = addresses.server_address(0)
    _spawn(world, _ECHO, server)
    with tempfile.TemporaryDirectory(prefix="skyweave-") as folder:
        out = Path(folder) / "found.json"
        _run(world, _PING, server, str(count), str(spacing_s), str(out))
        found: list[float] = json.loads(out.read_text())
    return found


def flood(world: World, mbps: float, seconds: float) -> None:
    """Send packets of :data:`PACKET_BYTES` from the client over the first path of a world."""
    server = addresses.server_address(0)
    _spawn(world, _SINK, server)
    _run(world, _FLOOD, server, str(mbps), str(seconds))


def _spawn(world: World, program: str, *arguments: str) -> None:
    argv = [sys.executable, "-c", program, *arguments]
    world.ask(world.server, {"do": "spawn", "argv": argv, "cwd": "/"})


def _run(world: World, program: str, *arguments: str) -> None:
    argv = [sys.executable, "-c", program, *arguments]
    code = world.ask(world.client, {"do": "run", "argv": argv, "cwd": "/"}, None)["code"]
    if code != 0:
        raise LiveError(f"a program of the measurement ended with code {code}; see above for why")
