"""``skyweave quic`` as a user meets it: files, certificates, and one sentence for each failure."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
from pathlib import Path

import pytest
from quic_certificates import certificate
from quic_ends import SKYWEAVE, Serve, get, get_inside, invoke

ROOT_ONLY = pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts")


def one_sentence(err: str) -> str:
    """The last line, which must be the only one of the failure."""
    assert "Traceback" not in err
    last = err.strip().splitlines()[-1]
    assert last.startswith("skyweave: ")
    return last


def test_a_file_comes_over_two_paths(serve: Serve, tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    server = serve("--qlog", str(logs))
    data = os.urandom(3_000_000)
    (server.root / "a b.bin").write_bytes(data)
    out = tmp_path / "out"
    said = get(
        f"127.0.0.1:{server.port}/a%20b.bin", "--pin", server.pin, "--out", str(out),
        "--path", "127.0.0.1", "--path", "127.0.0.2", "--qlog", str(logs),
    )  # fmt: skip
    assert said.code == 0, said.err
    assert out.read_bytes() == data
    assert "3,000,000 bytes" in said.err
    assert "127.0.0.2: up" in said.err
    assert not out.with_name("out.part").exists()
    ends = sorted(file.name.split("-")[0] for file in logs.glob("*.sqlog"))
    assert ends == ["client", "server"]


def test_sigterm_ends_a_server_as_ctrl_c_does(serve: Serve, tmp_path: Path) -> None:
    """With whole logs: a service is stopped by SIGTERM."""
    logs = tmp_path / "logs"
    server = serve("--qlog", str(logs))
    (server.root / "file").write_bytes(os.urandom(100_000))
    where = f"127.0.0.1:{server.port}/file"
    assert get(where, "--pin", server.pin, "--out", str(tmp_path / "out")).code == 0
    server.process.terminate()
    assert server.process.wait() == 130
    (log,) = logs.glob("server-*.sqlog")
    frames = [
        frame
        for record in log.read_text().split("\x1e")[1:]
        for frame in json.loads(record).get("data", {}).get("frames", [])
    ]
    sent = [frame for frame in frames if frame["frame_type"] == "stream" and frame["offset"]]
    assert any(frame["fin"] for frame in sent), "the log ends before the file does"


def test_a_connection_holds_what_it_may(serve: Serve, tmp_path: Path) -> None:
    keeps_order = ("--memory-mb", "0.2", "--scheduler", "weave", "--congestion", "headroom")
    server = serve(*keeps_order)
    data = os.urandom(3_000_000)
    (server.root / "file").write_bytes(data)
    out = tmp_path / "out"
    where = f"127.0.0.1:{server.port}/file"
    said = get(where, "--pin", server.pin, "--out", str(out), "--memory-mb", "0.2")
    assert (said.code, out.read_bytes() == data) == (0, True), said.err


def test_who_has_to_prove_its_address_gets_the_file_all_the_same(
    serve: Serve, tmp_path: Path
) -> None:
    logs = tmp_path / "logs"
    server = serve("--retry", "always")
    (server.root / "file").write_bytes(b"x" * 100_000)
    said = get(
        f"127.0.0.1:{server.port}/file", "--pin", server.pin, "--out", str(tmp_path / "out"),
        "--path", "127.0.0.1", "--qlog", str(logs),
    )  # fmt: skip
    assert said.code == 0, said.err
    assert "retry_source_connection_id" in next(logs.glob("client-*.sqlog")).read_text()


def test_certificates_of_files_are_checked_by_their_authority(serve: Serve, tmp_path: Path) -> None:
    cert, key = certificate(tmp_path)
    server = serve("--cert", str(cert), "--key", str(key))
    (server.root / "file").write_bytes(b"x")
    url, out = f"localhost:{server.port}/file", tmp_path / "out"
    to = ("--out", str(out))
    assert get(url, "--ca", str(cert), "--path", "127.0.0.1", *to).code == 0
    assert out.read_bytes() == b"x"
    refused = get(url, "--path", "127.0.0.1", *to)
    assert refused.code == 2
    assert "not trusted" in one_sentence(refused.err)
    other = get(url.replace("localhost", "127.0.0.1"), "--ca", str(key), *to)
    assert other.code == 2
    assert "no certificate is in it" in one_sentence(other.err)


def test_another_certificate_than_the_pinned_one_is_refused(serve: Serve, tmp_path: Path) -> None:
    server = serve()
    out = tmp_path / "out"
    url = f"127.0.0.1:{server.port}/file"
    said = get(url, "--pin", "ab" * 32, "--out", str(out))
    assert said.code == 2
    assert f"fingerprint {server.pin}, not {'ab' * 32}" in one_sentence(said.err)
    said = get(url, "--pin", "abc", "--out", str(out))
    assert said.code == 2
    assert "64 hexadecimal digits" in one_sentence(said.err)
    assert list(tmp_path.glob("out*")) == []


def test_a_server_without_multipath_serves_one_path_and_that_is_said(
    serve: Serve, tmp_path: Path
) -> None:
    server = serve("--max-paths", "1")
    (server.root / "file").write_bytes(bytes(500_000))
    said = get(
        f"127.0.0.1:{server.port}/file", "--pin", server.pin, "--out", str(tmp_path / "out"),
        "--path", "127.0.0.1", "--path", "127.0.0.2",
    )  # fmt: skip
    assert said.code == 0, said.err
    assert "does not speak multipath; 127.0.0.1 is the only path" in said.err
    assert (tmp_path / "out").stat().st_size == 500_000


def test_what_is_not_there_is_said(serve: Serve, tmp_path: Path) -> None:
    server = serve()
    here = f"127.0.0.1:{server.port}"
    to = ("--pin", server.pin, "--out", str(tmp_path / "out"))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as silent:
        silent.bind(("127.0.0.1", 0))
        nobody = f"127.0.0.1:{silent.getsockname()[1]}"
        cases = {
            "has no file '/nothing'": (f"{here}/nothing", *to),
            "no network interface 'nosuch0'": (f"{here}/file", *to, "--path", "nosuch0"),
            "no answer from": (f"{nobody}/file", *to, "--timeout", "0.5"),
            "192.0.2.1 cannot be used": (f"{here}/file", *to, "--path", "192.0.2.1"),
            "has no IPv4 address": (f"{here}/file", *to, "--path", "::1"),
            "names no file": (f"{here}/", *to),
            "has no address": ("no.such.host.invalid/file", *to),
            "given twice": (f"{here}/file", *to, "--path", "lo", "--path", "lo"),
            "no scheduler is called 'x'": (f"{here}/file", *to, "--scheduler", "x"),
            "takes 0.1 to 4096 MB, not nan": (f"{here}/file", *to, "--memory-mb", "nan"),
            "takes 0.1 to 4096 MB, not 0.0": (f"{here}/file", *to, "--memory-mb", "0"),
            "cannot be; take 1200": (f"{here}/file", *to, "--datagram-bytes", "10"),
            "is a folder": (f"{here}/file", "--pin", server.pin, "--out", str(tmp_path)),
            "cannot be written": (f"{here}/file", "--pin", server.pin, "--out", "/no/such/x"),
        }
        for words, arguments in cases.items():
            said = get(*arguments)
            assert (said.code, words in one_sentence(said.err)) == (2, True), said.err
    assert list(tmp_path.glob("out*")) == []


def test_what_cannot_be_served_is_said(serve: Serve, tmp_path: Path) -> None:
    server = serve()
    root = str(server.root)
    cases = {
        "take another one": (root, "--listen", f"127.0.0.1:{server.port}"),
        "is no folder": (str(tmp_path / "nothing"),),
        "is not ADDRESS:PORT": (root, "--listen", "here"),
        "belong together": (root, "--cert", "x.pem"),
        "x.pem": (root, "--cert", "x.pem", "--key", "x.pem"),
        "192.0.2.1": (root, "--listen", "192.0.2.1:4433"),
    }
    for words, arguments in cases.items():
        said = invoke("serve", *arguments)
        assert (said.code, words in one_sentence(said.err)) == (2, True), said.err


@ROOT_ONLY
def test_a_full_disk_keeps_what_came(serve: Serve, tmp_path: Path) -> None:
    server = serve()
    (server.root / "file").write_bytes(bytes(3_000_000))
    small = tmp_path / "small"
    small.mkdir()
    # In a mount namespace of its own: nothing is left to undo.
    mounted = (
        "unshare", "--mount", "--", "sh", "-c",
        f'mount -t tmpfs -o size=1M none {small} && "$@"; code=$?; ls {small} >&2; exit $code',
        "sh",
    )  # fmt: skip
    said = get_inside(
        mounted,
        f"127.0.0.1:{server.port}/file", "--pin", server.pin, "--out", str(small / "out"),
    )  # fmt: skip
    assert said.code == 2
    sentence, listing = said.err.strip().splitlines()[-2:]
    assert "out.part cannot be written: No space left on device" in sentence
    assert "bytes are kept in it" in sentence
    assert listing == "out.part"


def test_ctrl_c_ends_both_ends_at_once(serve: Serve, tmp_path: Path) -> None:
    server = serve()
    with (server.root / "file").open("wb") as file:
        file.truncate(50_000_000_000)
    out = tmp_path / "out"
    client = subprocess.Popen(
        [*SKYWEAVE, "quic", "get", f"127.0.0.1:{server.port}/file", "--pin", server.pin,
         "--out", str(out)],
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert server.process.stderr is not None
    for line in server.process.stderr:
        if "GET /file" in line:
            break
    client.send_signal(signal.SIGINT)
    _, err = client.communicate(timeout=60)
    assert client.returncode == 130
    assert "Traceback" not in err
    assert out.with_name("out.part").stat().st_size > 0
    for line in server.process.stderr:
        if "over, the other end closed it" in line:
            break
    server.process.send_signal(signal.SIGINT)
    _, rest = server.process.communicate(timeout=60)
    assert server.process.returncode == 130
    assert "Traceback" not in rest
