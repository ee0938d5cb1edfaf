"""Segmentation offload between the devices of a world: what it changes, and what it must not."""

from __future__ import annotations

import errno
import fcntl
import struct
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from made_paths import path

from skyweave.live.world import wiring
from skyweave.live.world.world import World

BYTES = 3_000_000

_SINK = """
import socket, sys
s = socket.create_server((sys.argv[1], 9))
client, _ = s.accept()
got = 0
while piece := client.recv(1 << 20):
    got += len(piece)
client.sendall(got.to_bytes(8, "big"))
"""

_SOURCE = """
import socket, sys, time
while True:
    try:
        s = socket.create_connection((sys.argv[1], 9))
        break
    except OSError:
        time.sleep(0.01)
s.sendall(bytes(int(sys.argv[2])))
s.shutdown(socket.SHUT_WR)
assert int.from_bytes(s.recv(8), "big") == int(sys.argv[2])
"""

# 40 datagrams of 1000 bytes that the kernel gets as one (UDP_SEGMENT), until all have come back.
_DATAGRAMS = """
import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(17, 103, 1000)
s.settimeout(60)
s.sendto(b"".join(bytes([n]) * 1000 for n in range(40)), (sys.argv[1], 7))
for n in range(40):
    assert s.recv(2000) == bytes([n]) * 1000, n
"""

_ECHO = """
import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind((sys.argv[1], 7))
while True:
    data, sender = s.recvfrom(2000)
    s.sendto(data, sender)
"""

_AFTER_BIND = """
import pathlib, time
while ":0007 " not in pathlib.Path("/proc/net/udp").read_text():
    time.sleep(0.01)
"""


def _spawn(world: World, program: str, *arguments: str) -> None:
    argv = [sys.executable, "-c", program, *arguments]
    world.ask(world.server, {"do": "spawn", "argv": argv, "cwd": "/"})


def _run(channel: Any, world: World, program: str, *arguments: str) -> None:
    argv = [sys.executable, "-c", program, *arguments]
    assert world.ask(channel, {"do": "run", "argv": argv, "cwd": "/"}, 300.0)["code"] == 0


def _transfer(capture: Path | None = None, offload: bool = True, **link: Any) -> dict[str, Any]:
    """Send bytes of TCP over one path; return the statistics of the relay."""
    with World([path("p", 400.0, 5.0, **link)], offload=offload) as world:
        _spawn(world, _SINK, "10.90.1.254")
        world.start(100, str(capture) if capture else None)
        _run(world.client, world, _SOURCE, "10.90.1.254", str(BYTES))
        found: dict[str, Any] = world.finish()["statistics"]
    return found


def _captured(file: Path) -> dict[str, list[bytes]]:
    """Return the packets of each interface of a capture."""
    names = ("down-in", "down-out", "up-in", "up-out")
    found: dict[str, list[bytes]] = {name: [] for name in names}
    data, at = file.read_bytes(), 0
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        if kind == 6:
            interface, _, _, size = struct.unpack_from("<IIII", data, at + 8)
            found[names[interface]].append(data[at + 28 : at + 28 + size])
        at += length
    return found


def _sum(data: bytes) -> int:
    padded = data + b"\0" * (len(data) % 2)
    total = sum(struct.unpack(f"!{len(padded) // 2}H", padded))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return total


def _is_whole(packet: bytes) -> bool:
    """Tell whether the lengths and both checksums of a packet of TCP over IPv4 are right."""
    header = (packet[0] & 15) * 4
    length = len(packet) - header
    pseudo = packet[12:20] + struct.pack("!HH", packet[9], length)
    lengths = struct.unpack_from("!H", packet, 2)[0] == len(packet) <= 1500
    return lengths and _sum(packet[:header]) == _sum(pseudo + packet[header:]) == 0xFFFF


offloaded = pytest.mark.skipif(
    not Path("/dev/net/tun").exists(), reason="there are no TUN devices here"
)


@offloaded
def test_one_read_has_many_segments_and_links_count_each(tmp_path: Path) -> None:
    found = _transfer(tmp_path, loss={"kind": "bernoulli", "ratio": 0.002})
    assert found["offload"] in ("tcp", "tcp_udp")
    up = found["links"]["p.up"]
    assert up["in_packets"] >= BYTES / 1448
    assert found["reads"] < found["frames_read"] / 2
    assert found["writes"] < found["frames_written"] / 1.5
    assert (found["odd_headers"], found["device_drops"]) == (0, 0)
    assert found["lateness_us"]["count"] == found["frames_written"]
    packets = _captured(tmp_path / "p.pcapng")
    assert len(packets["up-in"]) == up["in_packets"]
    assert len(packets["up-out"]) == up["delivered_packets"]
    assert sum(map(len, packets["up-out"])) == up["delivered_bytes"]
    assert all(_is_whole(packet) for interface in packets.values() for packet in interface)
    # What leaves is what entered, less what the link lost.
    lost = Counter(packets["up-in"]) - Counter(packets["up-out"])
    # The last ones may be under way when the world ends.
    assert sum(lost.values()) == up["in_packets"] - up["delivered_packets"] >= up["dropped_loss"]
    assert not Counter(packets["up-out"]) - Counter(packets["up-in"])


@offloaded
def test_without_offload_each_read_is_a_packet(tmp_path: Path) -> None:
    found = _transfer(tmp_path, offload=False)
    assert found["offload"] == "none"
    assert found["reads"] == found["frames_read"] >= BYTES / 1448
    assert found["writes"] == found["frames_written"]
    packets = _captured(tmp_path / "p.pcapng")
    assert all(_is_whole(packet) for interface in packets.values() for packet in interface)


@offloaded
def test_datagrams_handed_over_together_arrive_one_by_one() -> None:
    with World([path("p", 10_000.0)]) as world:
        _spawn(world, _ECHO, "10.90.1.254")
        world.start(100)
        _run(world.server, world, _AFTER_BIND)
        _run(world.client, world, _DATAGRAMS, "10.90.1.254")
        found = world.finish()["statistics"]
    link = found["links"]["p.up"]
    assert (link["in_packets"], link["delivered_bytes"]) == (40, 40 * 1028)
    if found["offload"] == "tcp_udp":
        assert found["reads"] == 1 + 40  # there together, back each by itself


@pytest.mark.parametrize(
    ("refused", "expected"),
    [((), "tcp_udp"), ((0x6F,), "tcp"), ((0x6F, 0x0F), "none"), (("header",), "none")],
)
def test_devices_have_what_the_kernel_has(
    monkeypatch: pytest.MonkeyPatch, refused: tuple[object, ...], expected: str
) -> None:
    def ioctl(descriptor: int, request: int, what: Any) -> int:
        if what in refused or (isinstance(what, bytes) and "header" in refused and what[17] & 0x40):
            raise OSError(errno.EINVAL, "Invalid argument")
        return 0

    monkeypatch.setattr(fcntl, "ioctl", ioctl)
    if not Path("/dev/net/tun").exists():
        pytest.skip("there are no TUN devices here")
    assert wiring.most_offload() == expected
