"""Files over multipath QUIC through emulated drives for a long time, with every kind of fault.

``make soak MINUTES=60``. Every file's bytes are compared; memory, descriptors and processor time of
both ends are written down. Ends with code 1 if a byte was wrong, a file never came, or a program
ended with a traceback. The full disk needs root (a tmpfs is mounted); without it there is none.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fleet import Client, Server
from meters import Meters
from place import Place
from weather import Weather

from skyweave.cli.profiles import parse_path
from skyweave.live.world.world import World, obstacle

PATHS = ["starlink=alaska/starlink", "verizon=alaska/verizon", "att=alaska/att"]
CLIENTS = 2
STEP_S, READ_EVERY_S = 1.0, 5.0
DISK = "48m"
GRACE_S = 600.0
"""How long what is under way may take when the faults are over."""


@contextlib.contextmanager
def small_disk(folder: Path) -> Iterator[None]:
    """Mount a small file system, where one may; elsewhere it is a folder."""
    disk = folder / "disk"
    disk.mkdir()
    if os.geteuid() != 0:
        yield
        return
    mount = ["mount", "-t", "tmpfs", "-o", f"size={DISK}", "tmpfs", str(disk)]
    subprocess.run(mount, check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(disk)], check=True)


class Soak:
    """One soak in a world that is there."""

    def __init__(self, world: World, names: list[str], given: argparse.Namespace, folder: Path):
        self._given = given
        self._out: Path = given.out
        disk = folder / "disk"
        place = Place(world, names, folder)
        self._server = Server(place, folder, given.seed)
        self._clients = [
            Client(place, self._server, number, disk, given.seed) for number in range(CLIENTS)
        ]
        small = disk if disk.is_mount() else None
        self._weather = Weather(place, self._server, self._clients, small, given.seed)
        self._meters = Meters(self._out / "samples.csv")
        self._began = time.monotonic()

    def _now(self) -> float:
        return time.monotonic() - self._began

    def live(self) -> None:
        """Let faults happen for as long as was asked."""
        now, read_at = 0.0, 0.0
        while now < self._given.minutes * 60:
            time.sleep(STEP_S)
            before, now = now, self._now()
            self._weather.pass_by(now, now - before)
            for client in self._clients:
                client.look(go_on=True)
            if now >= read_at:
                read_at = now + READ_EVERY_S
                for program in (self._server.program, *(one.program for one in self._clients)):
                    self._meters.read(now, program)
                self.write(finished=None)

    def finish(self) -> bool:
        """Let what is under way come to its end without further faults; whether it did."""
        self._weather.clear(float("inf"))
        give_up = self._now() + GRACE_S
        while self._now() < give_up:
            for client in self._clients:
                if not client.is_idle:
                    client.look(go_on=False)
            if all(client.is_idle for client in self._clients):
                self._server.program.send(signal.SIGTERM)
                return True
            time.sleep(STEP_S)
        return False

    def write(self, finished: bool | None) -> dict[str, Any]:
        """Write down what happened so far; ``finished`` is null as long as it goes on."""
        logs = sorted(self._server.program.log.parent.glob("*.log"))
        own = [row for row in self._meters.rows if row.program.startswith("server")]
        codes: Counter[int] = sum((client.codes for client in self._clients), Counter())
        found = {
            "minutes": round(self._now() / 60, 2),
            "seed": self._given.seed,
            "faults": dict(self._weather.counts),
            "files": sum(client.fetched for client in self._clients),
            "bytes": sum(client.bytes for client in self._clients),
            "wrong": [what for client in self._clients for what in client.wrong],
            "finished": finished,
            "tracebacks": [
                log.name for log in logs if "Traceback" in log.read_text(errors="replace")
            ],
            "client_codes": {str(code): count for code, count in sorted(codes.items())},
            "server_starts": self._server.starts,
            "server_rss_mib_most": round(max((row.rss_kib for row in own), default=0) / 1024, 1),
            "server_descriptors_most": max((row.descriptors for row in own), default=0),
        }
        (self._out / "summary.json").write_text(json.dumps(found, indent=1) + "\n")
        return found


def soak(given: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Run one; return what happened."""
    paths = [parse_path(text, given.seed) for text in PATHS]
    names = [path.name for path in paths]
    with small_disk(folder), World(paths, seed=given.seed, joined=(), apart=True) as world:
        world.start(1000)
        run = Soak(world, names, given, folder)
        run.live()
        return run.write(run.finish())


def main() -> int:
    """Read the command line, run, and say what happened."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("results/soak"))
    given = parser.parse_args()
    reason = obstacle()
    if reason is not None:
        print(f"no emulated network here: {reason}", file=sys.stderr)
        return 2
    given.out.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="skyweave-soak-"))
    try:
        found = soak(given, folder)
        shutil.copytree(folder, given.out / "logs", dirs_exist_ok=True, ignore=_all_but_logs)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(json.dumps(found, indent=1))
    return 0 if found["finished"] and not found["wrong"] and not found["tracebacks"] else 1


def _all_but_logs(folder: str, names: list[str]) -> list[str]:
    return [name for name in names if not name.endswith(".log")]


if __name__ == "__main__":
    sys.exit(main())
