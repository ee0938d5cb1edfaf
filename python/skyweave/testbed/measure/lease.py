"""All that a server does for one run: a gate, then services, until the lease is over."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from skyweave.testbed.errors import TestbedError
from skyweave.testbed.measure.firewall import Firewall
from skyweave.testbed.measure.gate import Gate, Said
from skyweave.testbed.measure.services import argv_of, is_listening, lacking
from skyweave.testbed.node.sandbox import Group, Groups
from skyweave.testbed.node.sandbox.cage import USER, cage, furnish
from skyweave.testbed.node.tools import PATH
from skyweave.testbed.wire import Limits, Serve
from skyweave.testbed.wire.run import Service

START_S = 30.0
LIMITS = Limits(memory_bytes=2**30, processes=128, cpu_share=8.0)
_LOOK_S = 0.01
BLOCK = 8
"""Ports of a run: its gate, its services, and those on which studies carry data."""
_GATE = 'read -r go && exec "$@" </dev/null'


class Lease:
    """One run at a server, from its beginning until :meth:`close`."""

    def __init__(
        self, serve: Serve, first_port: int, shared: Path, pin: str, groups: Groups
    ) -> None:
        """Open the gate at ``first_port``; services have the ports after it.

        Raises :class:`TestbedError` if a program is missing, a port taken, or rules cannot be made.
        """
        self.serve, self.ports = serve, ports_of(serve.services, first_port)
        self.data = range(max(self.ports.values()) + 1, first_port + BLOCK)
        for one in serve.services:
            if (why := lacking(one)) is not None:
                raise TestbedError(why)
        self._shared, self._pin = shared, pin
        self._folder = shared.parent / "runs" / serve.run / "results"
        self._lock = threading.Lock()
        self._processes: list[subprocess.Popen[bytes]] = []
        try:
            listening = socket.create_server(("0.0.0.0", first_port))
        except OSError as error:
            raise TestbedError(f"port {first_port} is not available ({error.strerror})") from None
        try:
            self._group: Group = groups.make(serve.run, LIMITS)
            self._firewall = Firewall(serve.run, [*self.ports.values(), *self.data])
        except TestbedError:
            listening.close()
            raise
        self._gate = Gate(listening, serve.token, serve.client_address, self._admit)

    def close(self) -> None:
        """End everything of it."""
        self._gate.close()
        self._group.close()
        for one in self._processes:
            one.wait()
        self._firewall.close()
        shutil.rmtree(self._folder.parent, ignore_errors=True)

    def _admit(self, address: str) -> Said:
        """Let an address in; the first one starts the services."""
        with self._lock:
            if not self._processes:
                self._start()
        self._firewall.admit(address)
        return Said(services=self.ports, pin=self._pin)

    def _start(self) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        os.chown(self._folder, USER, USER)
        furnish(self._folder.parent)
        for service, port in self.ports.items():
            self._spawn(service, port)
        end = time.monotonic() + START_S
        for service, port in self.ports.items():
            while not is_listening(service, port):
                if time.monotonic() > end:
                    raise TestbedError(f"{service} does not start: {self._last_words(service)}")
                time.sleep(_LOOK_S)

    def _last_words(self, service: Service) -> str:
        said = (self._folder.parent / f"{service}.txt").read_text(errors="replace").splitlines()
        return said[-1][:200] if said else "it says nothing"

    def _spawn(self, service: Service, port: int) -> None:
        argv = argv_of(service, port, self._folder, len(self.data))
        inside = {"PATH": PATH, "LC_ALL": "C.UTF-8", "HOME": "/results"}
        if service == "field":  # its data ports are for who knows the token, too
            inside["SKYWEAVE_TOKEN"] = self.serve.token
        caged = cage(argv, self._folder, self._shared, [])
        with (self._folder.parent / f"{service}.txt").open("wb") as log:
            process = subprocess.Popen(
                ["sh", "-c", _GATE, "sh", *caged], stdin=subprocess.PIPE, stdout=log,
                stderr=log, cwd="/", env=inside,
            )  # fmt: skip
        self._processes.append(process)
        self._group.add(process.pid)
        assert process.stdin is not None
        with contextlib.suppress(OSError), process.stdin as gate:
            gate.write(b"go\n")


def ports_of(services: Sequence[Service], first_port: int) -> dict[Service, int]:
    """Return the ports of services: those after the gate's; after ``field`` come its data.

    >>> ports_of(["field", "iperf3"], 5200)
    {'iperf3': 5201, 'field': 5202}
    """
    order = sorted(services, key=lambda one: one == "field")
    return {one: first_port + place for place, one in enumerate(order, start=1)}
