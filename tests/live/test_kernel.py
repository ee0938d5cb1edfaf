"""What the kernel says of real sockets, on the loopback of a world."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from made_paths import path

from skyweave.live.world.world import World

# Sends 100,000 bytes over the loopback, and writes what both ends say of it then.
PROGRAM = """
import dataclasses, json, pathlib, socket, sys
from skyweave.live.traffic.kernel import IPPROTO_MPTCP, mptcp_state, set_congestion, tcp_state
asked, out = sys.argv[1:]
# No probe for a lost tail: an acknowledgement that the processor holds up for 10 ms is not lost.
pathlib.Path("/proc/sys/net/ipv4/tcp_early_retrans").write_text("0")
protocol = IPPROTO_MPTCP if asked != "tcp" else socket.IPPROTO_TCP
there = IPPROTO_MPTCP if asked == "mptcp" else socket.IPPROTO_TCP
listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, there)
listener.bind(("127.0.0.1", 0))
listener.listen()
near = socket.socket(socket.AF_INET, socket.SOCK_STREAM, protocol)
set_congestion(near, "reno")
near.connect(listener.getsockname())
far, _ = listener.accept()
got = 0
for _ in range(10):
    near.sendall(bytes(10_000))
    part = 0
    while part < 10_000:
        part += len(far.recv(10_000 - part))
far.sendall(b"!")
near.recv(1)  # carries the acknowledgement of everything
state = tcp_state if asked == "tcp" else mptcp_state
found = {"near": state(near), "far": (state if asked != "fallback" else tcp_state)(far)}
found = {side: dataclasses.asdict(one) for side, one in found.items()}
found["port"] = near.getsockname()[1]
pathlib.Path(out).write_text(json.dumps(found))
"""


def states(protocol: str, folder: Path) -> dict[str, Any]:
    out = folder / "found.json"
    with World([path("p")], joined=[]) as world:
        argv = [sys.executable, "-c", PROGRAM, protocol, str(out)]
        assert world.ask(world.client, {"do": "run", "argv": argv, "cwd": "/"})["code"] == 0
    found: dict[str, Any] = json.loads(out.read_text())
    return found


@pytest.mark.parametrize("protocol", ["tcp", "mptcp"])
def test_the_state_of_a_connection(protocol: str, tmp_path: Path) -> None:
    found = states(protocol, tmp_path)
    for side in ("near", "far"):
        assert found[side]["fallback"] is False
        assert found[side]["reinjections"] == 0
    (near,), (far,) = found["near"]["subflows"], found["far"]["subflows"]
    assert near["local"] == ["127.0.0.1", found["port"]] == far["remote"]
    assert near["remote"] == far["local"]
    assert near["sent_bytes"] == far["received_bytes"] == 100_000
    assert near["acked_bytes"] in (100_000, 100_001)  # Linux counts the SYN of who connects
    assert near["received_bytes"] == 1
    assert near["sent_packets"] >= 2
    assert near["retransmitted_packets"] == near["timeouts"] == near["in_flight_packets"] == 0
    assert near["cwnd_packets"] >= 10
    assert 0 < near["min_rtt_ms"] <= near["srtt_ms"] * 2


def test_a_connection_that_fell_back_to_tcp_says_so(tmp_path: Path) -> None:
    near = states("fallback", tmp_path)["near"]
    assert near["fallback"] is True
    (only,) = near["subflows"]
    assert only["sent_bytes"] == 100_000
