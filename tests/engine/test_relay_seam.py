"""The relay of the compiled module, with pairs of sockets instead of TUN devices."""

import json
import pathlib
import socket
import time
from collections.abc import Iterator

import numpy as np
import pytest

from skyweave._skyweave import Relay
from skyweave.model.config import Link, Path

LINK = Link.model_validate(
    {"capacity": {"kind": "constant", "mbps": 1000}, "delay": {"kind": "constant", "ms": 0}}
)
PATHS = json.dumps([Path(name="a", down=LINK, up=LINK).model_dump(mode="json")])
Ends = tuple[socket.socket, socket.socket, tuple[int, int]]


@pytest.fixture
def ends() -> Iterator[Ends]:
    """The far ends at client and server, and the descriptors of the two devices."""
    pairs = [socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM) for _ in range(2)]
    (client, client_device), (server, server_device) = pairs
    yield client, server, (client_device.fileno(), server_device.fileno())
    for pair in pairs:
        for one in pair:
            one.close()


def start(devices: tuple[int, int], capture: str | None = None, paths: str = PATHS) -> Relay:
    return Relay(paths, [devices], 1, time.monotonic_ns(), 10, capture)


def test_frames_cross_and_are_counted(ends: Ends, tmp_path: pathlib.Path) -> None:
    client, server, devices = ends
    relay = start(devices, str(tmp_path))
    client.send(b"E" * 100)
    assert server.recv(2000) == b"E" * 100
    server.send(b"E" * 60)
    assert client.recv(2000) == b"E" * 60
    relay.change("a", "up", '{"delay": {"kind": "constant", "ms": 1}}')
    relay.close("a")
    relay.open("a")
    while len(relay.samples()["time_s"]) == 0:
        pass
    relay.stop()
    relay.stop()
    statistics = json.loads(relay.statistics())
    assert statistics["links"]["a.up"]["delivered_bytes"] == 100
    assert statistics["links"]["a.down"]["delivered_bytes"] == 60
    assert statistics["lateness_us"]["count"] == 2
    assert statistics["capture_error"] is None
    columns = relay.samples()
    assert set(columns["link"]) == {"a.down", "a.up"}
    assert np.all(np.diff(columns["time_s"]) >= 0)
    assert relay.failure is None


def test_each_mistake_has_its_exception(ends: Ends) -> None:
    with pytest.raises(ValueError, match="missing field"):
        start(ends[2], paths='[{"name": "a"}]')
    with pytest.raises(OSError, match="no descriptor"):
        start((-1, -1))
    with pytest.raises(OSError, match="cannot be written"):
        start(ends[2], capture="/nowhere")
    relay = start(ends[2])
    with pytest.raises(ValueError, match="no path 'b'"):
        relay.close("b")
    with pytest.raises(ValueError, match=r"capacity\.mbps"):
        relay.change("a", "up", '{"capacity": {"kind": "constant", "mbps": -1}}')
    with pytest.raises(ValueError, match="sideways"):
        relay.change("a", "sideways", "{}")  # type: ignore[arg-type]
    relay.stop()
    with pytest.raises(RuntimeError, match="ended"):
        relay.close("a")
