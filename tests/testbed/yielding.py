"""What an owner loses to a background run, and how fast it gives way: `python yielding.py`, root.

A link of 20 Mbit/s; the run downloads all the time, and the owner for a minute. With `--pairs N`,
N minutes without the run and N with it, in turn; then `--tries N`, downloads that end as soon as
the run stands still. Prints one JSON object.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import socket
import statistics
import sys
import tempfile
import threading
import time
from pathlib import Path

from far import run_id
from owner import Owner, owners

from skyweave.testbed.node.sandbox import Sandbox
from skyweave.testbed.node.sandbox.sandbox import OUTPUT
from skyweave.testbed.node.tools import tool, within
from skyweave.testbed.node.yielding import Giving, WatchedDevices
from skyweave.testbed.wire import Limits

MBPS = 20
FAR = "12.0.0.1"
PROGRAM = """
import socket
end = socket.create_connection(("12.0.0.1", 7777))
while end.recv(1 << 16):
    pass
"""


def pour(server: socket.socket) -> None:
    """Send zeros to whoever comes."""

    def one(end: socket.socket) -> None:
        with end:
            try:
                while True:
                    end.sendall(bytes(1 << 16))
            except OSError:
                return

    while True:
        try:
            end, _ = server.accept()
        except OSError:
            return
        threading.Thread(target=one, args=(end,), daemon=True).start()


def download(owner: Owner, seconds: float, enough: threading.Event | None = None) -> float:
    """Return the goodput of the owner's download, in Mbit/s; it ends early if there is enough."""
    end = within(owner.network, lambda: socket.create_connection((FAR, 7777)))
    with end:
        begin, size = time.monotonic(), 0
        while time.monotonic() < begin + seconds and not (enough and enough.is_set()):
            size += len(end.recv(1 << 16))
        return size * 8e-6 / (time.monotonic() - begin)


class Background:
    """A background run, watched as the node does it; notes when it stood still."""

    def __init__(self, owner: Owner, folder: Path) -> None:
        ground, limits = owner.ground(folder), Limits(network_bytes=10**12)
        self.sandbox = Sandbox(ground, run_id(1), limits, yields=True)
        self.frozen_at, self.frozen, self.thawed = 0.0, threading.Event(), threading.Event()
        self._owner, self._ended = owner, threading.Event()
        # bubblewrap ends with the thread that began it
        self._thread = threading.Thread(target=lambda: owner.do(self._run))
        self._begun = threading.Event()
        self._thread.start()
        self._begun.wait()

    def _run(self) -> None:
        try:
            self.sandbox.prepare()
            self.sandbox.start([sys.executable, "-c", PROGRAM], {})
            giving = Giving(self.sandbox, WatchedDevices(["up0"]), self._note, self._over)
        finally:
            self._begun.set()
        self._ended.wait()
        giving.close()
        self.sandbox.close()

    def _over(self, fault: str | None) -> None:
        assert fault is None, fault
        self._ended.set()  # the owner went on for 30 s

    def _note(self, frozen: bool) -> None:
        if frozen:
            self.frozen_at = time.monotonic()
            self.frozen.set()
        else:
            self.thawed.set()

    def carries(self) -> None:
        """Wait until it has the link."""
        first = self._owner.do(self.sandbox.traffic)[1]
        while self._owner.do(self.sandbox.traffic)[1] < first + 5_000_000:
            over = self.sandbox.wait(0.05)
            assert over is None, (over, (self.sandbox.folder / OUTPUT).read_text())

    def end(self) -> None:
        self._ended.set()
        self._thread.join()


def delays(owner: Owner, folder: Path, tries: int) -> list[float]:
    """Return how long after the owner's download began the run stood still, many times."""
    run, found = Background(owner, folder), []
    for _ in range(tries):
        run.frozen.clear()
        run.carries()
        run.thawed.clear()
        begin = time.monotonic()
        download(owner, 60.0, run.frozen)
        found.append(run.frozen_at - begin)
        run.thawed.wait()
    run.end()
    return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--tries", type=int, default=0)
    chosen = parser.parse_args()
    load = [os.getloadavg()[0]]
    alone, beside, yielded = [], [], []
    with owners() as owner, tempfile.TemporaryDirectory() as place:
        Path(place).chmod(0o755)
        tool("tc", "-n", owner.world.name, "qdisc", "add", "dev", "eth0", "root", "handle", "1:",
             "htb", "default", "1")  # fmt: skip
        tool("tc", "-n", owner.world.name, "class", "add", "dev", "eth0", "parent", "1:",
             "classid", "1:1", "htb", "rate", f"{MBPS}mbit")  # fmt: skip
        tool("tc", "-n", owner.world.name, "qdisc", "add", "dev", "eth0", "parent", "1:1",
             "pfifo", "limit", "100")  # fmt: skip
        with within(owner.world, lambda: socket.create_server(("0.0.0.0", 7777))) as server:
            threading.Thread(target=pour, args=(server,), daemon=True).start()
            for number in range(chosen.pairs):
                alone.append(download(owner, chosen.seconds))
                run = Background(owner, Path(place, str(number)))
                run.carries()
                begin = time.monotonic()
                beside.append(download(owner, chosen.seconds))
                yielded.append(run.frozen_at - begin)
                run.end()
            tried = delays(owner, Path(place, "tries"), chosen.tries)
    print(json.dumps({
        "alone_mbps": alone, "beside_mbps": beside,
        "lost_percent": 100 * (1 - statistics.fmean(beside) / statistics.fmean(alone)),
        "frozen_after_s": yielded, "tried_frozen_after_s": sorted(tried),
        "load": [*load, os.getloadavg()[0]], "kernel": platform.release(),
    }, indent=1))  # fmt: skip


if __name__ == "__main__":
    main()
