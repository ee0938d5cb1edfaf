"""Debian's Chromium, driven by Playwright, and an orchestrator over TLS for it to look at."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import uvicorn
from world_http import Front

from skyweave.testbed.api.serve import own_certificate

CHROMIUM = Path("/usr/bin/chromium")


@pytest.fixture(scope="module")
def chromium():
    """A browser; the test is skipped where there is none."""
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    if not CHROMIUM.exists():
        pytest.skip("Debian's chromium is not installed")
    with playwright.sync_playwright() as started:
        options = ["--no-sandbox"] if os.getuid() == 0 else []
        browser = started.chromium.launch(executable_path=str(CHROMIUM), args=options)
        yield browser
        browser.close()


@contextmanager
def serving(front: Front, host: str = "127.0.0.1") -> Iterator[str]:
    """Serve an orchestrator over TLS on a free port of loopback; yield its address."""
    certificate = own_certificate(front.office.folder, host)
    config = uvicorn.Config(
        front.http.app, host="127.0.0.1", port=0, log_level="critical", lifespan="off",
        ssl_certfile=certificate.file, ssl_keyfile=certificate.key, timeout_graceful_shutdown=1,
    )  # fmt: skip
    server = uvicorn.Server(config)
    socket = config.bind_socket()
    socket.listen()  # who comes before the thread does waits
    thread = threading.Thread(target=server.run, args=([socket],), daemon=True)
    thread.start()
    yield f"https://{host}:{socket.getsockname()[1]}"
    server.should_exit = True
    thread.join()
    socket.close()
