"""Films that a server has: nginx serves one at a port of a run, and its sockets are watched.

A film is made beforehand by who runs the server; nobody who asks for one has it made.
"""

from __future__ import annotations

import contextlib
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from skyweave.errors import ConfigError
from skyweave.field.words import FarFlow
from skyweave.live.traffic import origin
from skyweave.live.traffic.origin import Origin
from skyweave.live.traffic.watch import Watch

PATIENCE_S = 20.0


@contextlib.contextmanager
def offered(folder: Path | None, flow: FarFlow, port: int) -> Iterator[None]:
    """Serve the film of a flow at a port while the block lasts.

    Raises :class:`ConfigError` if the server has no such film, or cannot serve it.
    """
    assert flow.film is not None
    top = flow.film.partition("/")[0]
    if folder is None or not (folder / flow.film).is_file():
        raise ConfigError(
            f"the server has no film {flow.film}; who runs it makes it with 'skyweave video' and "
            "names its folder: --films"
        )
    around = ["mptcpize", "run"] if flow.transport == "mptcp" else []
    if why := origin.refusal():
        raise ConfigError(why)
    if around and shutil.which("mptcpize") is None:
        raise ConfigError(
            "the server lacks the program 'mptcpize'; on Debian: apt install mptcpize"
        )
    with Origin([folder / top], port) as served:
        process = subprocess.Popen(
            [*around, *served.argv], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            _await(process, port)
            yield
        finally:
            process.terminate()
            process.wait()


def watched(flow: FarFlow, port: int, epoch_ns: int, interval_ns: int) -> dict[str, Any]:
    """Return samples of nginx's sockets until the flow ends, in the format of our transfers."""
    watch = Watch(port, True, epoch_ns, interval_ns)
    time.sleep(max((epoch_ns + flow.end_ns - time.monotonic_ns()) / 1e9, 0.0))
    return told(watch.stop(), epoch_ns + flow.start_ns)


def told(seen: dict[str, Any], opened_ns: int) -> dict[str, Any]:
    """Return what a watch saw as one connection, the first and only one of a run."""
    controls = seen["congestion"]
    rows = seen["rows"]
    return {
        **seen, "place": 0, "opened_ns": opened_ns, "bytes": rows[-1]["bytes"] if rows else 0,
        "congestion": controls[0] if len(controls) == 1 else None,
    }  # fmt: skip


def _await(process: subprocess.Popen[bytes], port: int) -> None:
    """Return when nginx listens; :class:`ConfigError` if it does not."""
    end = time.monotonic() + PATIENCE_S
    while process.poll() is None and time.monotonic() < end:
        with socket.socket() as one, contextlib.suppress(OSError):
            one.connect(("127.0.0.1", port))
            return
        time.sleep(0.02)
    raise ConfigError("nginx does not start on the server; its port may be taken")
