"""A store that breaks off in the middle of a file, behind the real server."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator

import pytest
import uvicorn
from fastapi import FastAPI

from skyweave.testbed.api.sending import Sent
from skyweave.testbed.store import UnavailableError

HEAD = b"GET /file HTTP/1.1\r\nHost: here\r\n\r\n"


def pieces() -> Iterator[bytes]:
    yield b"first"
    raise UnavailableError("runs/x: broke off (connection reset); try again")


def test_a_file_that_breaks_off_ends_the_connection_with_one_sentence(
    capfd: pytest.CaptureFixture[str],
) -> None:
    app = FastAPI()

    @app.get("/file")
    def file() -> Sent:
        return Sent(pieces(), headers={"Content-Length": "10"})

    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", lifespan="off"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        with socket.create_connection(listening.getsockname(), timeout=60) as end:
            end.sendall(HEAD)
            said = b""
            while piece := end.recv(65_536):  # it is closed, though the request asks to keep it
                said += piece
    finally:
        server.should_exit = True
        thread.join()
    assert said.startswith(b"HTTP/1.1 200 OK")
    assert said.endswith(b"\r\n\r\nfirst")
    words = capfd.readouterr().err
    assert "runs/x: broke off" in words
    assert "Traceback" not in words
