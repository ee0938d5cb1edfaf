"""Packets for the links of a world."""

from __future__ import annotations

import sys

from skyweave.live.world.world import World

# Sends packets of 1,000 bytes of UDP with their number, to the address of the path in argv[1].
BURST = """
import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for number in range(int(sys.argv[2])):
    s.sendto(number.to_bytes(4, 'big').ljust(972, b'.'), (sys.argv[1], 7))
"""


def burst(world: World, packets: int) -> None:
    """Send packets from the client over the first path."""
    argv = [sys.executable, "-c", BURST, "10.90.1.254", str(packets)]
    assert world.ask(world.client, {"do": "run", "argv": argv, "cwd": "/"})["code"] == 0
