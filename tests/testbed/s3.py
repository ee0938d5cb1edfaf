"""An S3 of moto's in a process of its own, behind a door that can be shut, also in the middle."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import threading
import urllib.request
from pathlib import Path

import pytest
from orchestrator import free_port

MOTO = Path(__file__).parents[2] / "target" / "moto" / "bin" / "moto_server"
SIGNED = (
    "AWS4-HMAC-SHA256 Credential=tester/20270115/us-east-1/s3/aws4_request, "
    "SignedHeaders=host, Signature=none"
)


class Door:
    """A relay of TCP to one port. ``cut_after``: how many bytes of answers pass until it shuts."""

    def __init__(self, to: int) -> None:
        self._to, self.is_open, self.cut_after = to, True, -1
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._open: set[socket.socket] = set()
        threading.Thread(target=self._accept, daemon=True).start()

    def shut(self) -> None:
        """Refuse all, and end what goes on."""
        self.is_open = False
        for one in list(self._open):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def open(self) -> None:
        self.is_open, self.cut_after = True, -1

    def close(self) -> None:
        self.shut()
        self._listener.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                if not self.is_open:
                    near.close()
                    continue
                far = socket.create_connection(("127.0.0.1", self._to))
                self._open |= {near, far}
                for one, other, is_answer in ((near, far, False), (far, near, True)):
                    arguments = one, other, is_answer
                    threading.Thread(target=self._pass, args=arguments, daemon=True).start()

    def _pass(self, one: socket.socket, other: socket.socket, is_answer: bool) -> None:
        with contextlib.suppress(OSError):
            while piece := one.recv(65_536):
                if is_answer and self.cut_after >= 0:
                    piece = piece[: self.cut_after]
                    self.cut_after -= len(piece)
                    other.sendall(piece)
                    if self.cut_after == 0:
                        self.shut()
                        break
                    continue
                other.sendall(piece)
        for socket_ in (one, other):
            self._open.discard(socket_)
            with contextlib.suppress(OSError):
                socket_.shutdown(socket.SHUT_RDWR)
        one.close()


class S3:
    """Buckets, and the door before them."""

    def __init__(self, port: int) -> None:
        self.door, self._port, self._made = Door(port), port, 0

    def bucket(self) -> str:
        """Return the URL of a new bucket."""
        self._made += 1
        name = f"bucket-{self.door.port}-{self._made}"
        asked = urllib.request.Request(
            f"http://127.0.0.1:{self._port}/{name}", b"", {"Authorization": SIGNED}, method="PUT"
        )
        with urllib.request.urlopen(asked) as answer:
            assert answer.status == 200
        return f"s3://{name}/artefacts"


@pytest.fixture(scope="session")
def moto(tmp_path_factory):
    """The port of a server; the test is skipped where it is not installed."""
    if not MOTO.exists():
        pytest.skip("moto is not installed; run scripts/install-moto")
    port, said = free_port(), tmp_path_factory.mktemp("moto") / "log"
    with said.open("wb") as out:
        process = subprocess.Popen(
            [MOTO, "-H", "127.0.0.1", "-p", f"{port}"], stdout=out, stderr=out
        )
    while True:
        assert process.poll() is None, said.read_text()
        try:
            with socket.create_connection(("127.0.0.1", port), 1):
                break
        except OSError:
            continue
    yield port
    process.terminate()
    process.wait()


@pytest.fixture
def s3(moto, monkeypatch):
    """An S3 that the environment leads to."""
    made = S3(moto)
    for name, value in {
        "ENDPOINT_URL": f"http://127.0.0.1:{made.door.port}", "ALLOW_HTTP": "true",
        "ACCESS_KEY_ID": "tester", "SECRET_ACCESS_KEY": "secret", "REGION": "us-east-1",
    }.items():  # fmt: skip
        monkeypatch.setenv(f"AWS_{name}", value)
    yield made
    made.door.close()
