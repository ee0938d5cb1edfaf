"""Interfaces that go in the middle of a transfer and come back, in network namespaces."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from quic_ends import start, stop

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root makes interfaces")
FETCHER = Path(__file__).with_name("fetcher.py")
CLIENT, SERVER = f"sw-c-{os.getpid()}", f"sw-s-{os.getpid()}"


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True)


@pytest.fixture
def network() -> Iterator[None]:
    """A client with the interfaces if1 and if2, both with a way to the server's 10.77.0.1."""
    try:
        ip("netns", "add", CLIENT)
        ip("netns", "add", SERVER)
    except subprocess.CalledProcessError:
        pytest.skip("no network namespaces can be made here")
    try:
        ip("-n", SERVER, "link", "set", "lo", "up")
        ip("-n", SERVER, "addr", "add", "10.77.0.1/32", "dev", "lo")
        for n in ("1", "2"):
            ip("-n", CLIENT, "link", "add", f"if{n}", "type", "veth", "peer", f"far{n}",
               "netns", SERVER)  # fmt: skip
            ip("-n", CLIENT, "addr", "add", f"10.77.{n}.1/24", "dev", f"if{n}")
            ip("-n", SERVER, "addr", "add", f"10.77.{n}.2/24", "dev", f"far{n}")
            ip("-n", SERVER, "link", "set", f"far{n}", "up")
            ip("-n", CLIENT, "link", "set", f"if{n}", "up")
            ip("-n", CLIENT, "route", "add", "10.77.0.1", "via", f"10.77.{n}.2", "dev", f"if{n}",
               "metric", n)  # fmt: skip
        yield
    finally:
        ip("netns", "del", CLIENT)
        ip("netns", "del", SERVER)


@pytest.mark.parametrize(
    ("victim", "paths"),
    [
        ("if2", ["if1", "if2"]),
        ("if1", ["if1", "if2"]),
        ("if1", ["if1"]),
        ("if1=10.77.1.7/24", ["if1", "if2"]),
    ],
)
@pytest.mark.usefixtures("network")
def test_an_interface_goes_and_comes_back(tmp_path: Path, victim: str, paths: list[str]) -> None:
    root = tmp_path / "files"
    root.mkdir()
    data = os.urandom(1 << 20) * 200
    (root / "file").write_bytes(data)
    server = start(root, inside=("ip", "netns", "exec", SERVER), listen="0.0.0.0:0")
    try:
        done = subprocess.run(
            ["ip", "netns", "exec", CLIENT, sys.executable, str(FETCHER),
             f"10.77.0.1:{server.port}/file", server.pin, str(tmp_path / "out"), victim, *paths],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
    finally:
        stop(server)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    carried = [line.split() for line in lines if line.startswith("carried")]
    happened = [line for line in lines if not line.startswith("carried")]
    assert sorted(happened[: len(paths)]) == [f"up {path}" for path in paths]
    name = victim.partition("=")[0]
    assert happened[len(paths) :] == [f"down {name}", f"up {name}"]
    beside = sum(int(count) for _, _, count in carried) - len(data)
    assert 0 <= beside < 1200  # what HTTP says beside the file
    assert (tmp_path / "out").read_bytes() == data
