"""``skyweave quic``: clients that take all places, two that write one file, names with a dot.

What needs clients that break rules is beside the code: ``crates/sockets/tests`` (memory and
descriptors of hostile clients), ``src/tests/limits.rs``, ``src/files/root.rs``, ``src/part.rs``.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from quic_ends import SKYWEAVE, Running, Serve, get

ENDLESS = 50_000_000_000
"""Bytes of a file that no client gets to the end of here; it occupies no disk."""


def endless(server: Running) -> None:
    with (server.root / "endless").open("wb") as file:
        file.truncate(ENDLESS)


@contextmanager
def fetching(server: Running, out: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A client under way; the server has begun to answer."""
    client = subprocess.Popen(
        [*SKYWEAVE, "quic", "get", f"127.0.0.1:{server.port}/endless", "--pin", server.pin,
         "--out", str(out), "--quiet"],
    )  # fmt: skip
    try:
        assert server.process.stderr is not None
        for line in server.process.stderr:
            if "GET /endless" in line:
                break
        yield client
    finally:
        client.kill()
        client.wait()


def test_of_two_that_write_one_file_the_second_is_told(serve: Serve, tmp_path: Path) -> None:
    server = serve()
    endless(server)
    (server.root / "file").write_bytes(b"\0" * 1000 + b"there")
    out = tmp_path / "out"
    arguments = (f"127.0.0.1:{server.port}/file", "--pin", server.pin, "--out", str(out), "--quiet")
    with fetching(server, out):
        said = get(*arguments)
        assert said.code == 2
        assert said.err.startswith(f"skyweave: another fetch is writing {out}; wait for it")
        assert not out.exists()
    # Killed: the lock went with the process, and what was kept is compared with what comes.
    said = get(*arguments)
    assert said.code == 0, said.err
    assert out.read_bytes() == b"\0" * 1000 + b"there"
    assert list(tmp_path.glob("out*")) == [out]


def test_a_link_in_the_way_is_not_followed(serve: Serve, tmp_path: Path) -> None:
    server = serve()
    (server.root / "file").write_bytes(b"there")
    victim, out = tmp_path / "victim", tmp_path / "out"
    victim.write_bytes(b"precious")
    out.with_name("out.part").symlink_to(victim)
    said = get(f"127.0.0.1:{server.port}/file", "--pin", server.pin, "--out", str(out), "--quiet")
    assert (said.code, victim.read_bytes()) == (2, b"precious")
    assert "symbolic link" in said.err


def test_one_address_does_not_shut_others_out(serve: Serve, tmp_path: Path) -> None:
    server = serve("--max-per-address", "1")
    endless(server)
    (server.root / "file").write_bytes(b"there")
    out = tmp_path / "other"
    arguments = (f"127.0.0.1:{server.port}/file", "--pin", server.pin, "--out", str(out), "--quiet")
    with fetching(server, tmp_path / "out"):
        said = get(*arguments, "--path", "127.0.0.1")
        assert (said.code, said.err) == (2, "skyweave: the server is busy; try again later\n")
        said = get(*arguments, "--path", "127.0.0.2")
        assert (said.code, out.read_bytes()) == (0, b"there")


def test_names_with_a_dot_need_to_be_asked_for(serve: Serve, tmp_path: Path) -> None:
    out = tmp_path / "out"
    for more, code in (((), 2), (("--hidden",), 0)):
        server = serve(*more)
        (server.root / ".secret").write_bytes(b"there")
        where = f"127.0.0.1:{server.port}/.secret"
        said = get(where, "--pin", server.pin, "--out", str(out), "--quiet")
        assert said.code == code, said.err
        assert out.exists() == (code == 0)
