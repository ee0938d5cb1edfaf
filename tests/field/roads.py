"""Two networks in real time between a client and a server: namespaces, TUN devices, a relay."""

from __future__ import annotations

import json
import os
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from skyweave import _skyweave
from skyweave.live.world import wiring
from skyweave.live.world.world import obstacle
from skyweave.model import config
from skyweave.testbed.node.tools import tool, within

SERVER = "11.0.0.1"
"""A public address, so far as the rules of a sandbox can tell."""


def link(mbps: float, one_way_ms: float, packets: int = 60) -> config.Link:
    return config.Link(
        capacity=config.ConstantRate(mbps=mbps), delay=config.ConstantDelay(ms=one_way_ms),
        queue=config.DropTail(packets=packets),
    )  # fmt: skip


def road(name: str, down_mbps: float, up_mbps: float, rtt_ms: float) -> config.Path:
    down, up = link(down_mbps, rtt_ms / 2), link(up_mbps, rtt_ms / 2)
    return config.Path(name=name, down=down, up=up)


@dataclass(frozen=True)
class Roads:
    """A client's and a server's network; device ``NAME`` of the client leads over road ``NAME``."""

    client: Path
    server: Path
    relay: _skyweave.Relay

    def carried(self, name: str, direction: str) -> int:
        """Return the bytes that a road has delivered."""
        counted = json.loads(self.relay.statistics())["links"][f"{name}.{direction}"]
        return int(counted["delivered_bytes"])


def need_roads() -> None:
    """Skip where there can be none."""
    if os.geteuid() != 0:
        pytest.skip("needs root, for namespaces")
    if reason := obstacle():
        pytest.skip(reason)


def address(place: int) -> str:
    """Return the client's address on a road."""
    return f"11.0.{place + 1}.2"


@contextmanager
def roads(*paths: config.Path, joined: bool = True) -> Iterator[Roads]:
    """Make them; ``joined``: the client's kernel knows the roads for Multipath TCP."""
    mark = uuid.uuid4().hex[:6]
    names = [f"{kind}{mark}" for kind in ("cli", "srv")]
    client, server = (Path("/run/netns", name) for name in names)
    for name in names:
        tool("ip", "netns", "add", name)
        tool("ip", "-n", name, "link", "set", "lo", "up")
    tool("ip", "-n", names[1], "addr", "add", f"{SERVER}/32", "dev", "lo")
    devices: list[tuple[int, int]] = []
    try:
        for place, path in enumerate(paths):
            ends = [
                within(network, lambda name=path.name: wiring.open_tun(name))  # type: ignore[misc]
                for network in (client, server)
            ]
            devices.append((ends[0], ends[1]))
            _connect(names, place, path.name, joined)
        relay = _relay(paths, devices)
        try:
            yield Roads(client, server, relay)
        finally:
            relay.stop()
    finally:
        for pair in devices:
            for one in pair:
                os.close(one)
        for name in names:
            tool("ip", "netns", "del", name)


def _relay(paths: tuple[config.Path, ...], devices: list[tuple[int, int]]) -> _skyweave.Relay:
    """Start a relay whose thread goes before all others: one that waits is late with packets."""
    before = os.sched_getscheduler(0), os.sched_getparam(0)
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(20))
    try:
        told = json.dumps([json.loads(one.model_dump_json()) for one in paths])
        return _skyweave.Relay(told, devices, 1, time.monotonic_ns(), 100, None)
    finally:
        os.sched_setscheduler(0, *before)


def _connect(names: list[str], place: int, device: str, joined: bool) -> None:
    client, server = names
    own, table = address(place), str(101 + place)
    for name in names:
        tool("ip", "-n", name, "link", "set", device, "up", "txqueuelen", "10000")
    tool("ip", "-n", server, "route", "add", own, "dev", device, "src", SERVER)
    tool("ip", "-n", client, "addr", "add", f"{own}/32", "dev", device)
    tool("ip", "-n", client, "route", "add", "default", "dev", device, "src", own, "metric", table)
    tool("ip", "-n", client, "route", "add", "default", "dev", device, "src", own, "table", table)
    tool("ip", "-n", client, "rule", "add", "from", own, "table", table)
    if joined:
        tool("ip", "-n", client, "mptcp", "endpoint", "add", own, "dev", device, "subflow")
