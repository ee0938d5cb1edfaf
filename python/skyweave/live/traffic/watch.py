"""What the sockets of foreign programs do, looked at each interval until somebody asks for it."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from dataclasses import asdict
from typing import Any

from skyweave.live.traffic.diag import Diagnosis, Multipath, Subflow

_SELDOM = 10
"""Every tenth look takes in what changes little, which takes the kernel a while to go through."""
_NICE = -10


class Watch:
    """A thread that looks at the connections with a server's port, on the side that starts it.

    Its rows have the keys of :func:`skyweave.live.traffic.transfer.transfer`. ``bytes`` is what
    programs of this side have received, over all their connections: those that are closed keep
    what they had at the last look.
    """

    def __init__(self, port: int, on_server: bool, epoch_ns: int, interval_ns: int) -> None:
        self._on_server = on_server
        self._ports = {"local": port} if on_server else {"remote": port}
        self._subflows: list[Subflow] = []
        self._connections: list[Multipath] = []
        self._epoch_ns, self._interval_ns = epoch_ns, interval_ns
        self._stop = threading.Event()
        self._rows: list[dict[str, Any]] = []
        self._congestion: set[str] = set()
        self._error: str | None = None
        self._received: dict[tuple[Any, ...], int] = {}
        self._reinjected: dict[tuple[Any, ...], int] = {}
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def stop(self) -> dict[str, Any]:
        """Stop looking; return the rows, and the congestion controls that sockets had."""
        self._stop.set()
        self._thread.join()
        return {
            "rows": self._rows,
            "congestion": sorted(self._congestion),
            "completed_ns": None,
            "ended_ns": self._epoch_ns + self._rows[-1]["tick"] * self._interval_ns
            if self._rows
            else None,
            "error": self._error,
        }

    def _run(self) -> None:
        _give_way()
        try:
            with Diagnosis() as diagnosis:
                tick = 1
                while not self._stopped_before(self._epoch_ns + tick * self._interval_ns):
                    self._look(diagnosis, tick)
                    tick += 1
        except OSError as error:
            self._error = f"sock_diag: {error.strerror or error}"

    def _stopped_before(self, at_ns: int) -> bool:
        return self._stop.wait(max((at_ns - time.monotonic_ns()) / 1e9, 0.0))

    def _look(self, diagnosis: Diagnosis, tick: int) -> None:
        """Note what there is now; Multipath TCP's connections know what came in order."""
        at_ns = time.monotonic_ns()
        seldom = tick % _SELDOM == 1
        if self._on_server or seldom or not self._connections:
            self._subflows = diagnosis.subflows(**self._ports)
            self._congestion |= {one.congestion for one in self._subflows}
        if seldom or not self._on_server:
            self._connections = diagnosis.multipath(**self._ports)
        subflows, connections = self._subflows, self._connections
        ours = bool(connections)
        self._received |= {one.address: one.received_bytes for one in connections}
        self._reinjected |= {one.address: one.reinjections for one in connections}
        # Once there was Multipath TCP, what is left without a connection are its last subflows.
        if not ours and not self._reinjected:
            plain = {(*one.info.local, *one.info.remote): one.info for one in subflows}
            self._received |= {address: one.received_bytes for address, one in plain.items()}
        self._rows.append(
            {
                "tick": tick,
                "at_ns": at_ns,
                "bytes": sum(self._received.values()),
                "subflows": [asdict(one.info) for one in subflows],
                "reinjections": sum(self._reinjected.values()),
                "fallback": any(one.fallback for one in connections),
            }
        )


def _give_way() -> None:
    """Let this thread stand behind a relay with a real-time class, and before all else."""
    with contextlib.suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
        os.setpriority(os.PRIO_PROCESS, 0, _NICE)
