"""The workloads of a run over the kernel's sockets, and what is seen of them.

Bulk transfers are moved here; other workloads by ``crates/sockets`` (``kernel.rs``).

Runs in the agent of each side. All times are those of ``CLOCK_MONOTONIC``, which both sides share.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import struct
import threading
import time
from dataclasses import asdict, dataclass, field
from typing import Any

from skyweave import _skyweave
from skyweave.live.traffic.kernel import (
    IPPROTO_MPTCP,
    congestion_of,
    mptcp_state,
    set_congestion,
    tcp_state,
)

_CHUNK_BYTES = 1 << 18
_RETRY_S = 0.1
_LEAVE_S = 1.0
"""How long a thread may take to see that its socket was shut down."""
_ABORT = struct.pack("ii", 1, 0)
"""``struct linger``: a close that forgets what is still queued."""


@dataclass(frozen=True)
class Flow:
    """One transfer, as one side gets it; times in ns."""

    place: int
    transport: str
    congestion: str
    server: tuple[str, int]
    source: str
    sends: bool
    size_bytes: int | None
    start_ns: int
    end_ns: int
    workload: dict[str, Any] | None = None
    """Any but bulk."""
    device: str | None = None
    """Client: the network device that a bulk transfer leaves by; ``None``: as the routes say."""


Listener = socket.socket | _skyweave.KernelListener


@dataclass
class _Live:
    """A transfer on its way."""

    flow: Flow
    listener: Listener | None = None
    sock: socket.socket | None = None
    moved_bytes: int = 0
    opened_ns: int | None = None
    completed_ns: int | None = None
    last_state: dict[str, Any] = field(default_factory=dict)
    """What the kernel said when the transfer was complete, before its ends took leave."""
    end: _skyweave.KernelEnd | None = None
    """What runs a workload other than bulk."""
    is_carrying: bool = False
    """It does so now; its report follows."""
    application: list[list[Any]] = field(default_factory=list)
    congestion: str | None = None
    """The control that its socket had."""
    over: bool = False
    error: str | None = None
    rows: list[dict[str, Any]] = field(default_factory=list)


def _socket(flow: Flow) -> socket.socket:
    protocol = IPPROTO_MPTCP if flow.transport == "mptcp" else socket.IPPROTO_TCP
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM, protocol)
    try:
        set_congestion(sock, flow.congestion)
    except OSError:
        sock.close()
        raise
    return sock


def listen(flow: Flow) -> Listener:
    """Return what waits for the client of this transfer."""
    if flow.workload is not None:
        return _skyweave.KernelListener(_plan(flow, 0))
    sock = _socket(flow)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind(flow.server)
        sock.listen(1)
    except OSError:
        sock.close()
        raise
    return sock


def transfer(
    flows: list[Flow], listeners: list[Listener], epoch_ns: int, interval_ns: int
) -> list[dict[str, Any]]:
    """Carry out all transfers; return, for each, what was seen every ``interval_ns``.

    ``listeners``: those of the server, in the order of ``flows``; empty for the client.
    """
    lives = [_Live(flow) for flow in flows]
    for live, listener in zip(lives, listeners, strict=False):
        live.listener = listener
    threads = [
        threading.Thread(target=_carry, args=(live, epoch_ns), daemon=True) for live in lives
    ]
    for thread in threads:
        thread.start()
    tick = 1
    while not all(live.over for live in lives):
        _sleep_until(epoch_ns + tick * interval_ns)
        for live in lives:
            _look(live, tick)
        tick += 1
    for live, thread in zip(lives, threads, strict=True):
        _close(live, thread)
    return [_report(live) for live in lives]


def _plan(flow: Flow, epoch_ns: int) -> str:
    """Return what one end of a workload is built from (``KernelPlan`` of ``crates/sockets``)."""
    host, port = flow.server
    plan = {
        "transport": flow.transport,
        "congestion": flow.congestion,
        "server": f"{host}:{port}",
        "source": flow.source,
        "workload": flow.workload,
        "epoch_ns": epoch_ns,
        "end_ns": flow.end_ns,
    }
    return json.dumps(plan)


def _carry(live: _Live, epoch_ns: int) -> None:
    """Open the connection and move the data, until all is moved or the time is over."""
    try:
        if live.flow.workload is not None:
            _run(live, _plan(live.flow, epoch_ns))
            return
        if not _open(live):
            return
        if live.flow.sends:
            _send(live)
        else:
            _receive(live)
    except OSError as error:
        if time.monotonic_ns() < live.flow.end_ns:
            live.error = f"{error.strerror or error} after {live.moved_bytes} bytes"


def _run(live: _Live, plan: str) -> None:
    """Run a workload other than bulk to its end."""
    flow = live.flow
    if isinstance(live.listener, _skyweave.KernelListener):
        live.end = live.listener.accept(plan)
    else:
        _sleep_until(flow.start_ns)
        live.end = _skyweave.KernelEnd.connect(plan)
    if live.end is None:
        return
    live.is_carrying = True
    live.sock = socket.socket(fileno=os.dup(live.end.fileno()))
    live.opened_ns = flow.start_ns
    try:
        report = json.loads(live.end.run())
        live.application = report["application"]
        live.last_state = _state(live)
        live.completed_ns = report["completed_ns"]
    finally:
        live.is_carrying = False


def _open(live: _Live) -> bool:
    flow = live.flow
    if isinstance(live.listener, socket.socket):
        live.listener.settimeout(max((flow.end_ns - time.monotonic_ns()) / 1e9, 0.001))
        try:
            live.sock, _ = live.listener.accept()
        except TimeoutError:
            return False
        live.sock.settimeout(None)
        set_congestion(live.sock, flow.congestion)
        live.opened_ns = flow.start_ns
        return True
    _sleep_until(flow.start_ns)
    while time.monotonic_ns() < flow.end_ns:
        sock = _socket(flow)
        try:
            if flow.device is not None:
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, flow.device.encode())
            sock.bind((flow.source, 0))
            sock.connect(flow.server)
        except OSError as error:  # the path is down: a device tries again
            sock.close()
            live.error = f"no connection: {error.strerror or error}"
            time.sleep(_RETRY_S)
            continue
        live.sock, live.opened_ns, live.error = sock, flow.start_ns, None
        return True
    return False


def _send(live: _Live) -> None:
    sock, size = live.sock, live.flow.size_bytes
    chunk = memoryview(bytes(_CHUNK_BYTES))
    while sock is not None and (size is None or live.moved_bytes < size):
        left = _CHUNK_BYTES if size is None else min(_CHUNK_BYTES, size - live.moved_bytes)
        live.moved_bytes += sock.send(chunk[:left])
    if sock is not None and sock.recv(1):  # the sink says that it has everything
        live.last_state = _state(live)
        live.completed_ns = time.monotonic_ns()


def _receive(live: _Live) -> None:
    sock = live.sock
    space = bytearray(4 * _CHUNK_BYTES)
    while sock is not None:
        count = sock.recv_into(space)
        if count == 0:
            return
        live.moved_bytes += count
        if live.moved_bytes == live.flow.size_bytes:
            live.last_state = _state(live)
            live.completed_ns = time.monotonic_ns()
            sock.send(b".")
            return


def _look(live: _Live, tick: int) -> None:
    """Note the state of a transfer at a tick; end it when its time has come."""
    if live.over or live.opened_ns is None:
        live.over = live.over or time.monotonic_ns() >= live.flow.end_ns
        return
    is_complete = live.completed_ns is not None  # asked first: then the last row has every byte
    moved_bytes = live.moved_bytes if live.end is None else live.end.moved_bytes
    row: dict[str, Any] = {"tick": tick, "at_ns": time.monotonic_ns(), "bytes": moved_bytes}
    row |= live.last_state or _state(live)
    live.rows.append(row)
    if live.congestion is None and live.sock is not None:
        with contextlib.suppress(OSError):
            live.congestion = congestion_of(live.sock)
    if live.is_carrying:
        return  # it ends by itself, and has something to say
    if is_complete or row["at_ns"] >= live.flow.end_ns:
        live.over = True
        _end(live)


def _state(live: _Live) -> dict[str, Any]:
    """Return what the kernel says of the connection; nothing when it is no more."""
    sock = live.sock
    if sock is None or sock.fileno() < 0:
        return {}
    try:
        state = mptcp_state(sock) if live.flow.transport == "mptcp" else tcp_state(sock)
    except OSError:
        return {}
    return asdict(state)


def _end(live: _Live) -> None:
    for sock in (live.sock, live.listener):
        if isinstance(sock, socket.socket):
            with contextlib.suppress(OSError):
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _ABORT)
                sock.shutdown(socket.SHUT_RDWR)


def _close(live: _Live, thread: threading.Thread) -> None:
    """Let go of the sockets, when nobody waits for them any more: a server has further runs."""
    thread.join(_LEAVE_S)
    for sock in (live.sock, live.listener):
        if isinstance(sock, socket.socket):
            sock.close()


def _report(live: _Live) -> dict[str, Any]:
    return {
        "place": live.flow.place,
        "bytes": live.moved_bytes if live.end is None else live.end.moved_bytes,
        "application": live.application,
        "opened_ns": live.opened_ns,
        "completed_ns": live.completed_ns,
        "congestion": live.congestion,
        "error": live.error,
        "rows": live.rows,
    }


def _sleep_until(at_ns: int) -> None:
    while (left := at_ns - time.monotonic_ns()) > 0:
        time.sleep(left / 1e9)
