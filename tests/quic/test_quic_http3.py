"""HTTP/3 of ``skyweave quic serve`` and ``get`` beside foreign clients, and fetches that go on."""

from __future__ import annotations

import base64
import hashlib
import os
import re
import signal
import subprocess
from pathlib import Path

import pytest
from quic_certificates import certificate
from quic_ends import SKYWEAVE, Serve, get, start, stop

CHROMIUM = Path("/usr/bin/chromium")


def sha256(data: bytes) -> str:
    """A digest as a field of HTTP has it."""
    return f"sha-256=:{base64.b64encode(hashlib.sha256(data).digest()).decode()}:"


def test_aioquic_gets_what_it_asks_for(serve: Serve) -> None:
    pytest.importorskip("aioquic", reason="aioquic is not installed: make setup")
    from foreign import ask

    server = serve()
    data = os.urandom(2_000_000)
    (server.root / "file").write_bytes(data)
    (server.root / "folder").mkdir()
    # No HEAD: aioquic takes its length for a lie, against RFC 9114, section 4.1.2.
    answers = ask(
        server.port,
        ("GET", "/file", {}),
        ("GET", "/file", {"range": "bytes=1500000-", "want-repr-digest": "sha-256=10"}),
        ("GET", "/file", {"range": "bytes=-10", "want-content-digest": "sha-256=10"}),
        ("GET", "/file", {"range": "bytes=2000000-"}),
        ("GET", "/nothing", {}),
        ("GET", "/folder", {}),
        ("POST", "/file", {}),
    )
    assert [one.status for one in answers] == [200, 206, 206, 416, 404, 403, 405]
    whole, rest, end, beyond = answers[:4]
    assert whole.content == data
    assert rest.content == data[1_500_000:]
    assert rest.fields["content-range"] == "bytes 1500000-1999999/2000000"
    assert rest.trailers == {"repr-digest": sha256(data)}
    assert end.trailers == {"content-digest": sha256(data[-10:])}
    assert beyond.fields["content-range"] == "bytes */2000000"


def test_a_token_opens_the_server(serve: Serve, tmp_path: Path) -> None:
    token, out = tmp_path / "token", tmp_path / "out"
    token.write_text("s3cret\n")
    server = serve("--token-file", str(token))
    (server.root / "file").write_bytes(b"x" * 1000)
    here = (f"127.0.0.1:{server.port}/file", "--pin", server.pin, "--out", str(out))
    said = get(*here)
    assert (said.code, "who bear its token" in said.err) == (2, True), said.err
    assert not out.exists()
    said = get(*here, "--token-file", str(token))
    assert (said.code, out.stat().st_size) == (0, 1000), said.err
    assert "SHA-256 as the server has it" in said.err
    token.write_text("")
    said = get(*here, "--token-file", str(token))
    assert (said.code, "has no token" in said.err) == (2, True), said.err


def test_hq_interop_is_spoken_only_if_asked(serve: Serve, tmp_path: Path) -> None:
    out = ("--out", str(tmp_path / "out"))
    without, both = serve(), serve("--hq-interop")
    (both.root / "file").write_bytes(b"x" * 1000)
    said = get(f"hq://127.0.0.1:{without.port}/file", "--pin", without.pin, *out)
    assert (said.code, "serves something else" in said.err) == (2, True), said.err
    said = get(f"hq://127.0.0.1:{both.port}/file", "--pin", both.pin, *out)
    assert said.code == 0, said.err
    said = get(f"hq://127.0.0.1:{both.port}/file", "--pin", both.pin, *out, "--continue")
    assert (said.code, "neither ranges nor tokens" in said.err) == (2, True), said.err


def test_a_killed_server_costs_neither_the_file_nor_what_came(tmp_path: Path) -> None:
    root, out = tmp_path / "files", tmp_path / "out"
    root.mkdir()
    cert, key = certificate(tmp_path)
    data = os.urandom(30_000_000)
    (root / "file").write_bytes(data)
    same = ("--cert", str(cert), "--key", str(key))
    first = start(root, *same)
    client = subprocess.Popen(
        [*SKYWEAVE, "quic", "get", f"localhost:{first.port}/file", "--ca", str(cert),
         "--path", "127.0.0.1", "--limit-mbps", "80", "--out", str(out)],
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert first.process.stderr is not None
    for line in first.process.stderr:
        if "GET /file" in line:
            break
    first.process.send_signal(signal.SIGKILL)
    first.process.communicate()
    second = start(root, *same, listen=f"127.0.0.1:{first.port}")
    _, said = client.communicate(timeout=280)
    stop(second)
    assert client.returncode == 0, said
    assert out.read_bytes() == data
    assert "trying again: " in said
    assert re.search(r"SHA-256 as the server has it, \d+ connections", said), said


def test_keys_are_logged_where_the_environment_says(
    serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "keys"
    monkeypatch.setenv("SSLKEYLOGFILE", str(log))
    server = serve()
    (server.root / "file").write_bytes(b"x")
    where = f"127.0.0.1:{server.port}/file"
    said = get(where, "--pin", server.pin, "--path", "127.0.0.1", "--out", str(tmp_path / "out"))
    assert said.code == 0, said.err
    lines = log.read_text().splitlines()
    labels = {line.split()[0] for line in lines}
    traffic = {f"{side}_TRAFFIC_SECRET_0" for side in ("CLIENT", "SERVER")}
    handshake = {f"{side}_HANDSHAKE_TRAFFIC_SECRET" for side in ("CLIENT", "SERVER")}
    assert labels >= traffic | handshake
    # Both ends log: each line is there twice, and the same.
    assert sorted(lines) == sorted(2 * sorted(set(lines)))


@pytest.mark.skipif(not CHROMIUM.exists(), reason="Debian's chromium is not installed")
@pytest.mark.waits
def test_chromium_shows_a_page(serve: Serve, tmp_path: Path) -> None:
    cert, key = certificate(tmp_path)
    server = serve("--cert", str(cert), "--key", str(key))
    (server.root / "page.html").write_text(
        "<!doctype html><title>x</title><p id=p>no</p><script src=script.js></script>"
    )
    (server.root / "script.js").write_text("document.getElementById('p').textContent = 'came'")
    public = subprocess.run(
        f"openssl x509 -in {cert} -pubkey -noout | openssl pkey -pubin -outform der",
        shell=True, check=True, capture_output=True,
    ).stdout  # fmt: skip
    spki = base64.b64encode(hashlib.sha256(public).digest()).decode()
    shown = subprocess.run(
        [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu",
         f"--user-data-dir={tmp_path / 'profile'}", "--disable-background-networking",
         f"--origin-to-force-quic-on=localhost:{server.port}",
         f"--ignore-certificate-errors-spki-list={spki}",
         "--host-resolver-rules=MAP localhost 127.0.0.1", "--virtual-time-budget=20000",
         "--dump-dom", f"https://localhost:{server.port}/page.html"],
        check=True, capture_output=True, text=True, timeout=240,
    )  # fmt: skip
    assert '<p id="p">came</p>' in shown.stdout, shown.stderr[-2000:]
