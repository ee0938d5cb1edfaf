"""A server of files in a process of its own, and the command line as a user calls it."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from typer.testing import CliRunner

from skyweave.cli.quic import quic_app
from skyweave.errors import SkyweaveError
from skyweave.printing import visible

SKYWEAVE = [sys.executable, "-m", "skyweave.cli"]
QUIC = [sys.executable, "-c", "from skyweave.cli.quic import quic_app; quic_app()"]
"""The same without what the other commands import."""
READY_LINES = 3
"""What a server prints before it serves."""


@dataclass
class Running:
    """A server under way."""

    process: subprocess.Popen[str]
    port: int
    pin: str
    root: Path


@dataclass
class Said:
    """How a command ended."""

    code: int
    err: str


Serve = Callable[..., Running]


def start(
    root: Path, *more: str, inside: tuple[str, ...] = (), listen: str = "127.0.0.1:0"
) -> Running:
    """Start a server; ``inside``: a command that runs another one somewhere else."""
    command = [*inside, *QUIC, "serve", str(root), "--listen", listen, *more]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    lines = [process.stderr.readline() for _ in range(READY_LINES)]
    said = "".join(lines)
    port, pin = re.search(r"HOST:(\d+)", said), re.search(r"[0-9a-f]{64}", said)
    assert port is not None, said
    assert pin is not None, said
    return Running(process, int(port[1]), pin[0], root)


def stop(server: Running) -> None:
    """End a server and read the rest of what it says."""
    server.process.terminate()
    server.process.communicate()


def invoke(*arguments: str) -> Said:
    """Run ``skyweave quic`` in this process; an error ends as the main command ends it."""
    result = CliRunner().invoke(quic_app, list(arguments))
    if isinstance(result.exception, SkyweaveError):
        return Said(2, f"{result.stderr}skyweave: {visible(str(result.exception))}\n")
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return Said(result.exit_code, result.stderr)


def get(*arguments: str) -> Said:
    """Run ``skyweave quic get`` in this process."""
    return invoke("get", *arguments)


def get_inside(place: tuple[str, ...], *arguments: str) -> Said:
    """Run ``skyweave quic get`` by a command that runs another one somewhere else."""
    command = [*place, *SKYWEAVE, "quic", "get", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return Said(done.returncode, done.stderr)


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """Start servers of a folder ``files``; they end with the test."""
    root = tmp_path / "files"
    root.mkdir()
    servers: list[Running] = []

    def begin(*more: str, **place: object) -> Running:
        servers.append(start(root, *more, **place))  # type: ignore[arg-type]
        return servers[-1]

    yield begin
    for server in servers:
        stop(server)
