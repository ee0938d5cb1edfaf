"""The world that a soak lives in: its paths, and what can be done to them and to programs."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from skyweave.live.world import addresses
from skyweave.live.world.world import World

MARK = "SKYWEAVE_SOAK"
_FIRST_TABLE = 100
"""Routing table of the first path (``skyweave.live.world.wiring``)."""


class Place:
    """A world with commands for both sides; programs are recognised by a mark that is theirs."""

    def __init__(self, world: World, names: list[str], folder: Path) -> None:
        self.world, self.names, self.folder = world, names, folder
        self._numbers = [1] * len(names)
        """Last part of the client's address on each path."""
        for place in range(len(names)):
            net = f"10.90.{place + 1}.0/24"
            self._run("server", f"ip route add {net} dev {self.device(place)} src 10.90.0.1")

    def device(self, place: int) -> str:
        """Return the name of a path's interface."""
        return addresses.device(place, self.names[place])

    def _run(self, side: str, script: str) -> None:
        channel = self.world.client if side == "client" else self.world.server
        order = {"do": "run", "argv": ["sh", "-ec", script], "cwd": "/"}
        code = self.world.ask(channel, order)["code"]
        if code != 0:
            raise RuntimeError(f"'{script}' ended with {code}")

    def set_path(self, place: int, up: bool) -> None:
        """Let both links of a path drop everything, or carry again."""
        self.world.set_path(self.names[place], up)

    def interface_down(self, place: int) -> None:
        """Take the client's interface away."""
        self._run("client", f"ip link set {self.device(place)} down")

    def interface_up(self, place: int, another_address: bool) -> None:
        """Give the client's interface back, with its address or with another one."""
        if another_address:
            self._numbers[place] = self._numbers[place] % 200 + 1
        own = f"10.90.{place + 1}.{self._numbers[place]}"
        device, table = self.device(place), _FIRST_TABLE + place
        self._run(
            "client",
            f"ip addr flush dev {device}; ip addr add {own}/32 dev {device}; "
            f"ip link set {device} up; "
            f"while ip rule del table {table} 2>/dev/null; do :; done; "
            f"ip rule add from {own}/32 table {table} priority {table}; "
            f"ip route replace 10.90.0.0/16 dev {device} src {own} table {table}; "
            f"ip route replace 10.90.0.1/32 dev {device} src {own} metric {1 + place}",
        )

    # ---- programs ----------------------------------------------------------------------------

    def start(self, side: str, mark: str, argv: list[str]) -> Program:
        """Start a program; what it says on standard error goes to ``MARK.log``."""
        log = self.folder / f"{mark}.log"
        script = 'log=$1; shift; exec "$@" 2>>"$log" </dev/null'
        around = ["env", f"{MARK}={mark}", "sh", "-c", script, "sh", str(log)]
        channel = self.world.client if side == "client" else self.world.server
        order = {"do": "spawn", "argv": [*around, *argv], "cwd": "/"}
        inner = int(self.world.ask(channel, order)["pid"])
        return Program(self, side, mark, inner, log)


class Program:
    """A program in the world, seen from outside of its PID namespace."""

    def __init__(self, place: Place, side: str, mark: str, inner: int, log: Path) -> None:
        self._place, self.side, self.mark, self._inner = place, side, mark, inner
        self.log = log
        self._wanted = f"{MARK}={mark}".encode()
        self.pid = self._find()

    def _find(self) -> int | None:
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit() and self._is_ours(entry):
                return int(entry.name)
        return None

    def _is_ours(self, entry: Path) -> bool:
        try:
            return self._wanted in (entry / "environ").read_bytes().split(b"\0")
        except OSError:
            return False  # it has ended

    def runs(self) -> bool:
        """Whether it has not ended: a program that has keeps no environment."""
        return self.pid is not None and self._is_ours(Path("/proc", str(self.pid)))

    def send(self, number: signal.Signals) -> None:
        """Send it a signal, if it runs."""
        if self.pid is not None and self.runs():
            os.kill(self.pid, number)

    def collect(self) -> int:
        """Return the code of a program that has ended."""
        world = self._place.world
        channel = world.client if self.side == "client" else world.server
        return int(world.ask(channel, {"do": "collect", "pid": self._inner})["code"])
