"""An orchestrator as a process of its own, which can be killed and started again."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

from skyweave.testbed.client import Login, Testbed, parse_address
from skyweave.testbed.errors import TestbedError
from skyweave.testbed.wire import Invitation
from skyweave.testbed.wire.pinning import fetch_certificate

PATIENCE_S = 60.0


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


class Orchestrator:
    """``skyweave testbed up`` in a folder, with an admin who is logged in."""

    def __init__(self, folder: Path, database: str | None = None) -> None:
        self.folder, self._more = folder, ["--database", database] if database else []
        self.said = folder.with_suffix(".log")
        self.port = free_port()
        self.start()
        line = next(one for one in self.said.read_text().splitlines() if "login" in one)
        self.url, code, pin = parse_address(line.split("'")[1])
        self.certificate = fetch_certificate(self.url, pin)
        with Testbed(Login(self.url, "", self.certificate)) as testbed:
            token = testbed.ask("POST", "/first", {"code": code, "name": "ada"})["token"]
        self.login = Login(self.url, token, self.certificate)

    @classmethod
    def beside(cls, first: Orchestrator) -> Orchestrator:
        """Start another one in the folder of the first, which is a mistake."""
        made = cls.__new__(cls)
        made.folder, made._more, made.said = first.folder, [], first.said
        made.port = free_port()
        made.start()
        made.url = f"https://127.0.0.1:{made.port}"
        made.certificate = first.certificate
        made.login = Login(made.url, first.login.token, first.certificate)
        return made

    def start(self) -> None:
        """Start it, and return when it answers."""
        with self.said.open("ab") as out:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "skyweave.cli", "testbed", "up", "--data", self.folder,
                 "--listen", f"127.0.0.1:{self.port}", *self._more],
                stdout=out, stderr=out,
            )  # fmt: skip
        self._await_answer()

    def _await_answer(self) -> None:
        end = time.monotonic() + PATIENCE_S
        while True:
            assert self.process.poll() is None, self.said.read_text()
            try:
                with socket.create_connection(("127.0.0.1", self.port), 1):
                    return
            except OSError:
                assert time.monotonic() < end, self.said.read_text()
                time.sleep(0.02)

    def kill(self) -> None:
        """Kill it with nothing tidied up."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self) -> None:
        """End it as Ctrl-C does."""
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=PATIENCE_S)

    def testbed(self) -> Testbed:
        """Return a client of the admin's."""
        return Testbed(self.login)

    def invite(self, kind: str = "node") -> Invitation:
        """Return an invitation."""
        with self.testbed() as testbed:
            said = testbed.ask("POST", "/invitations", {"kind": kind})["invitation"]
        return Invitation.parse(said)

    def usage(self) -> tuple[float, float]:
        """Return the seconds of processor time that it has taken, and its memory in MB."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(") ")[2].split()
        seconds = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        resident = next(line for line in status.splitlines() if line.startswith("VmRSS"))
        return seconds, int(resident.split()[1]) / 1024


def patiently(ask, *arguments, **options):
    """Ask again while the orchestrator is down."""
    while True:
        try:
            return ask(*arguments, **options)
        except TestbedError as error:
            if "does not answer" not in str(error):
                raise
            time.sleep(0.05)
