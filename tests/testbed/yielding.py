"""What an owner loses to a background run, and how fast it gives way: `python yielding.py`, root.

A link of 20 Mbit/s; the run downloads all the time, and the owner for a minute. With `--pairs N`,
N minutes without the run and N with it, in turn; prints one JSON object.
"""

from __future__ import annotations

import argparse
import json
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
from skyweave.testbed.node.tools import tool, within
from skyweave.testbed.node.yielding import WatchedDevices
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


def download(owner: Owner, seconds: float) -> float:
    """Return the goodput of the owner's download, in Mbit/s."""
    end = within(owner.network, lambda: socket.create_connection((FAR, 7777)))
    with end:
        begin, size = time.monotonic(), 0
        while time.monotonic() < begin + seconds:
            size += len(end.recv(1 << 16))
        return size * 8e-6 / (time.monotonic() - begin)


class Background:
    """A background run, watched as the node does it; notes when it stood still."""

    def __init__(self, owner: Owner, folder: Path) -> None:
        self.sandbox = Sandbox(owner.ground(folder), run_id(1), Limits(network_bytes=10**12))
        self.frozen_at, self.killed, self.ended = 0.0, False, threading.Event()
        self._owner = owner
        self._thread = threading.Thread(target=lambda: owner.do(self._run))
        self._thread.start()

    def _run(self) -> None:
        self.sandbox.prepare()
        self.sandbox.start([sys.executable, "-c", PROGRAM], {})
        watched, frozen = WatchedDevices(["up0"]), False
        while not self.ended.is_set() and self.sandbox.wait(0.2) is None:
            wish = watched.look(self.sandbox.traffic())
            if wish == "kill":
                self.killed = True
                break
            if (wish == "freeze") != frozen:
                frozen = not frozen
                self.sandbox.freeze(frozen)
                self.frozen_at = time.monotonic()
        self.sandbox.close()

    def end(self) -> None:
        self.ended.set()
        self._thread.join()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=60.0)
    chosen = parser.parse_args()
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
                while owner.do(run.sandbox.traffic)[1] < 5_000_000:
                    time.sleep(0.05)
                begin = time.monotonic()
                beside.append(download(owner, chosen.seconds))
                yielded.append(run.frozen_at - begin)
                run.end()
    print(json.dumps({
        "alone_mbps": alone, "beside_mbps": beside,
        "lost_percent": 100 * (1 - statistics.fmean(beside) / statistics.fmean(alone)),
        "frozen_after_s": yielded,
    }, indent=1))  # fmt: skip


if __name__ == "__main__":
    main()
