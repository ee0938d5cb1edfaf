"""picoquic at the other end, a program: transfers, Retry, HelloRetryRequest, key update, rebinding.

``scripts/install-picoquic FOLDER`` builds ``picoquicdemo``; the variable PICOQUIC_DEMO names it.
"""

from __future__ import annotations

import hashlib
import json
import os
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from quic_certificates import certificate
from quic_ends import Running, Serve, get
from rebinding_nat import rebinding

DEMO = os.environ.get("PICOQUIC_DEMO")
BYTES = 3_000_000
HQ, H3 = ("-a", "hq-interop"), ("-a", "h3")
TWO_PATHS = ("-M", "-A", "0.0.0.0/0")
"""The same address, another port."""
TRIES, TOO_EARLY = 20, "Renew CNXID failed"
FLIGHTS = (1, 2, 3, 30)
"""Datagrams of the client before its NAT forgets it: in the handshake, and amid the transfer."""

pytestmark = pytest.mark.skipif(DEMO is None, reason="PICOQUIC_DEMO names no picoquicdemo")


@pytest.fixture
def data() -> bytes:
    return os.urandom(BYTES)


def picoquic_gets(port: int, folder: Path, *options: str) -> tuple[bytes | None, str]:
    """What picoquic's client fetches from ``/file``, and what it says; its code is 0 either way."""
    folder.mkdir()
    command = [str(DEMO), "-n", "localhost", "-o", ".", *options, "127.0.0.1", str(port), "/file"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    files = [one for one in folder.iterdir() if one.name.endswith("file")]
    return files[0].read_bytes() if files else None, done.stdout


def ours(serve: Serve, data: bytes, *options: str) -> Running:
    server = serve("--hq-interop", *options)
    (server.root / "file").write_bytes(data)
    return server


@contextmanager
def picoquic_serves(folder: Path, data: bytes, *options: str) -> Iterator[tuple[int, str]]:
    """Yield port and pin of picoquic's server for ``/file``."""
    (folder / "www").mkdir()
    (folder / "www/file").write_bytes(data)
    cert, key = certificate(folder)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    command = [str(DEMO), "-p", str(port), "-w", "www", "-c", str(cert), "-k", str(key), *options]
    server = subprocess.Popen(
        command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        der = subprocess.run(
            ["openssl", "x509", "-in", cert, "-outform", "der"], capture_output=True, check=True
        )
        while f":{port:04X} " not in Path("/proc/net/udp").read_text() + udp6():
            assert server.poll() is None
            time.sleep(0.01)
        yield port, hashlib.sha256(der.stdout).hexdigest()
    finally:
        server.kill()
        server.wait()


def udp6() -> str:
    table = Path("/proc/net/udp6")
    return table.read_text() if table.exists() else ""


@pytest.mark.parametrize("paths", [1, 2])
@pytest.mark.parametrize("protocol", [HQ, H3], ids=["hq", "h3"])
def test_picoquic_gets_from_ours(
    serve: Serve, tmp_path: Path, data: bytes, protocol: tuple[str, str], paths: int
) -> None:
    server = ours(serve, data)
    more = TWO_PATHS if paths == 2 else ()
    came, said = picoquic_gets(server.port, tmp_path / "out", *protocol, *more)
    assert came == data
    assert ("Enable multipath: Success" in said) == (paths == 2)


@pytest.mark.parametrize("paths", [1, 2])
@pytest.mark.parametrize("scheme", ["hq://", ""], ids=["hq", "h3"])
def test_ours_gets_from_picoquic(tmp_path: Path, data: bytes, scheme: str, paths: int) -> None:
    names = [word for last in range(paths) for word in ("--path", f"127.0.0.{last + 1}")]
    out = tmp_path / "came"
    with picoquic_serves(tmp_path, data, *(["-M"] if paths == 2 else [])) as (port, pin):
        url = f"{scheme}127.0.0.1:{port}/file"
        said = get(url, "--pin", pin, "--out", str(out), *names)
    assert said.code == 0, said.err
    assert out.read_bytes() == data
    if paths == 2:
        assert "127.0.0.2: up" in said.err


def test_a_retry_of_ours_is_answered(serve: Serve, tmp_path: Path, data: bytes) -> None:
    server = ours(serve, data, "--retry", "always")
    came, said = picoquic_gets(server.port, tmp_path / "out", *HQ)
    assert came == data
    first, established = (
        line.split("I-CID: ")[1].split(",")[0] for line in said.splitlines() if "I-CID: " in line
    )
    assert first != established  # a Retry has another connection ID


def test_a_retry_of_picoquic_is_answered(tmp_path: Path, data: bytes) -> None:
    out, logs = tmp_path / "came", tmp_path / "logs"
    with picoquic_serves(tmp_path, data, "-r") as (port, pin):
        said = get(f"hq://127.0.0.1:{port}/file", "--pin", pin, "--out", str(out),
                   "--qlog", str(logs))  # fmt: skip
    assert said.code == 0, said.err
    assert out.read_bytes() == data
    assert "retry_source_connection_id" in next(logs.glob("client-*.sqlog")).read_text()


def test_a_client_without_a_key_share_is_asked_for_one(
    serve: Serve, tmp_path: Path, data: bytes
) -> None:
    """HelloRetryRequest: a second ClientHello comes after our first answer."""
    logs = tmp_path / "logs"
    server = ours(serve, data, "--qlog", str(logs))
    came, _ = picoquic_gets(server.port, tmp_path / "out", *HQ, "-z")
    assert came == data
    (log,) = logs.glob("server-*.sqlog")
    turns = []
    for record in log.read_text().split("\x1e")[2:]:
        event = json.loads(record)
        turn, packet = event["name"].removeprefix("transport:packet_"), event["data"]
        if turn in ("sent", "received") and packet["header"]["packet_type"] == "initial":
            turns += [turn for frame in packet["frames"] if frame["frame_type"] == "crypto"]
    first = turns.index("sent")
    assert "received" in turns[first:], turns


@pytest.mark.parametrize(
    ("options", "sign"),
    [
        (("-u", "50"), "Key rotation started"),
        (("-f", "2"), "Remode CID changed"),
    ],
    ids=["key-update", "cid-renewal"],
)
def test_what_picoquic_changes_on_the_way(
    serve: Serve, tmp_path: Path, data: bytes, options: tuple[str, str], sign: str
) -> None:
    """picoquicdemo tries once, at a moment of its own: where that was too early, again."""
    server = ours(serve, data)
    for attempt in range(TRIES):
        came, said = picoquic_gets(server.port, tmp_path / f"out{attempt}", *HQ, *options)
        assert came == data
        if sign in said:
            return
        assert TOO_EARLY in said
    pytest.fail(f"never in {TRIES} connections: {said}")


@pytest.mark.parametrize("after", FLIGHTS)
def test_a_nat_rebinds_before_picoquic(
    serve: Serve, tmp_path: Path, data: bytes, after: int
) -> None:
    server = ours(serve, data)
    with rebinding(server.port, after) as port:
        came, _ = picoquic_gets(port, tmp_path / "out", *HQ, "-0")
    assert came == data


@pytest.mark.parametrize("after", FLIGHTS)
def test_a_nat_rebinds_before_ours(tmp_path: Path, data: bytes, after: int) -> None:
    out = tmp_path / "came"
    with picoquic_serves(tmp_path, data) as (server, pin), rebinding(server, after) as port:
        said = get(f"hq://127.0.0.1:{port}/file", "--pin", pin, "--out", str(out))
    assert said.code == 0, said.err
    assert out.read_bytes() == data


@pytest.mark.parametrize("move", ["1", "3"], ids=["as-a-nat-does", "migration"])
def test_picoquic_moves_as_soon_as_it_is_connected(
    serve: Serve, tmp_path: Path, data: bytes, move: str
) -> None:
    server = ours(serve, data)
    came, _ = picoquic_gets(server.port, tmp_path / "out", *HQ, "-f", move)
    assert came == data
