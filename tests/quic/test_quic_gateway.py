"""``skyweave quic gateway`` and ``connect``: a web server of the standard library behind them.

What needs origins and clients that break rules is in ``crates/sockets/tests/gateway.rs``.
"""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from quic_ends import QUIC, invoke

from skyweave.printing import visible
from skyweave.quic.gateway import Passed

GATEWAY_LINES = 3
"""What a gateway prints before it serves."""


class Handler(SimpleHTTPRequestHandler):
    """Files, without a line for each request."""

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


class Web(ThreadingHTTPServer):
    """A server to which a connection that breaks off is no error."""

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing."""


@pytest.fixture
def web(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """A folder and the address of the web server that serves it."""
    root = tmp_path / "web"
    root.mkdir()
    with Web(("127.0.0.1", 0), partial(Handler, directory=str(root))) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield root, f"127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


@pytest.fixture
def begin() -> Iterator[partial[tuple[subprocess.Popen[str], list[str]]]]:
    """Start commands and read their first lines; they end with the test."""
    started: list[subprocess.Popen[str]] = []

    def start(lines: int, *command: str) -> tuple[subprocess.Popen[str], list[str]]:
        process = subprocess.Popen([*QUIC, *command], stderr=subprocess.PIPE, text=True)
        started.append(process)
        assert process.stderr is not None
        return process, [process.stderr.readline() for _ in range(lines)]

    yield partial(start)
    for process in started:
        process.kill()
        process.wait()
        if process.stderr is not None:
            process.stderr.close()


def found(pattern: str, lines: list[str]) -> str:
    """The group of a pattern in what was said."""
    match = re.search(pattern, "".join(lines))
    assert match is not None, lines
    return match[1]


def said_until(process: subprocess.Popen[str], words: str) -> list[str]:
    """What a process says up to these words."""
    lines: list[str] = []
    assert process.stderr is not None
    for line in process.stderr:
        lines.append(line)
        if words in line:
            return lines
    raise AssertionError(lines)


def test_a_web_server_is_reached_over_two_paths(web, begin) -> None:
    root, origin = web
    data = os.urandom(5_000_000)
    (root / "film").write_bytes(data)
    gateway, lines = begin(
        GATEWAY_LINES, "gateway", "--origin", f"film={origin}", "--listen", "127.0.0.1:0"
    )
    port, pin = found(r"HOST:(\d+)", lines), found(r"([0-9a-f]{64})", lines)
    doors = ("--listen", "film=127.0.0.1:0", "--listen", "other=127.0.0.1:0")
    client, lines = begin(
        2, "connect", f"127.0.0.1:{port}", "--pin", pin, *doors,
        "--path", "127.0.0.1", "--path", "127.0.0.2",
    )  # fmt: skip
    film, other = (found(r"(\S+) \(TCP\)", [line]) for line in lines)
    said_until(client, "127.0.0.2: up")
    with urllib.request.urlopen(f"http://{film}/film") as answer:
        assert answer.read() == data
    with pytest.raises(urllib.error.HTTPError, match="404"):
        urllib.request.urlopen(f"http://{film}/nothing")
    with pytest.raises((urllib.error.URLError, ConnectionResetError)):
        urllib.request.urlopen(f"http://{other}/film")
    assert "cannot pass to 'other': the gateway has no such origin" in "".join(
        said_until(client, "no such origin")
    )
    said = "".join(said_until(gateway, "cannot pass to 'other'"))
    assert "passes to 'film'" in said
    assert re.search(r"ended with 'film', [\d,]+ bytes to it, 5,\d{3},\d{3} from it\n", said)

    # A gateway that ends breaks its connections off; its client stays, and says why.
    with socket.create_connection(tuple(film.rsplit(":", 1))) as player:
        said_until(client, "passes to 'film'")
        gateway.send_signal(signal.SIGINT)
        with pytest.raises(ConnectionResetError):
            player.recv(1)
    said_until(client, "over, the other end closed it")
    assert gateway.wait() == 130
    client.send_signal(signal.SIGINT)
    _, rest = client.communicate()
    assert client.returncode == 130
    assert "Traceback" not in rest


def test_what_cannot_be_is_said() -> None:
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as silent,
        socket.create_server(("127.0.0.1", 0)) as listener,
    ):
        taken = f"127.0.0.1:{listener.getsockname()[1]}"
        silent.bind(("127.0.0.1", 0))
        nobody = f"127.0.0.1:{silent.getsockname()[1]}"
        door = ("--listen", "127.0.0.1:0")
        pin = ("--pin", "ab" * 32)
        here = ("gateway", "--listen", "127.0.0.1:0", "--origin")
        cases = {
            "no answer from": ("connect", nobody, *door, *pin, "--timeout", "0.5"),
            "no loopback address": ("connect", nobody, "--listen", "0.0.0.0:0", *pin),
            "is too long to name": ("connect", nobody, "--listen", f"{'x' * 256}=127.0.0.1:0"),
            "take another one": ("connect", nobody, "--listen", taken),
            "give each path once": ("connect", nobody, *door, "--path", "lo", "--path", "lo"),
            "'here' is not ADDRESS:PORT": ("connect", nobody, "--listen", "here"),
            "'there' is not ADDRESS:PORT": ("connect", "there", *door),
            "is no origin": (*here, "127.0.0.1:0"),
            "give each its own name": (*here, "a=127.0.0.1:1", "--origin", "a=127.0.0.1:2"),
            "has no address": (*here, "no.such.host.invalid:80"),
            "belong together": (*here, "127.0.0.1:1", "--cert", "x.pem"),
        }  # fmt: skip
        for words, arguments in cases.items():
            said = invoke(*arguments)
            last = said.err.strip().splitlines()[-1]
            assert (said.code, words in last) == (2, True), (words, said.err)


@pytest.mark.parametrize(
    "kind", ["opened", "path", "begun", "refused", "ended", "closed", "missed"]
)
def test_a_line_is_one_line_whatever_a_client_calls_its_origin(kind: str) -> None:
    hostile = "a\x1b[2J\r\n[/x]\u202e"
    words = Passed(kind, "192.0.2.1:7", hostile, hostile, 1, 2).words()
    assert visible(words) == words
