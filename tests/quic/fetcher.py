"""Fetches a file while an interface goes and comes back; run in the client's namespace.

Arguments: target, fingerprint, file to write, interface to take away (``NAME=ADDRESS``: it
comes back with that address), interfaces of the paths.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from skyweave.quic.fetch import Progress, Verification, fetch
from skyweave.quic.url import parse_target


def link(name: str, state: str) -> None:
    """Take an interface down, or bring it up with the route that went with it."""
    subprocess.run(["ip", "link", "set", name, state], check=True)
    if state == "up":
        number = name[-1]
        way = ["via", f"10.77.{number}.2", "dev", name, "metric", number]
        subprocess.run(["ip", "route", "replace", "10.77.0.1", *way], check=True)


class Script:
    """Takes the interface away when all paths carry, gives it back when that was noticed."""

    def __init__(self, victim: str, paths: list[str]) -> None:
        self.victim, _, self.address = victim.partition("=")
        self.paths = paths
        self.seen: list[str] = []

    def watch(self, progress: Progress) -> None:
        """Do what is next."""
        for notice in progress.notices:
            self.seen.append(f"{notice.kind} {notice.path}")
            print(self.seen[-1], flush=True)
        carrying = [path for path in progress.paths if path.unique_bytes > 0]
        if len(carrying) == len(self.paths) == len(self.seen):
            link(self.victim, "down")
        elif self.seen[-1:] == [f"down {self.victim}"]:
            if self.address:
                subprocess.run(["ip", "addr", "flush", "dev", self.victim], check=True)
                add = ["ip", "addr", "add", self.address, "dev", self.victim]
                subprocess.run(add, check=True)
            link(self.victim, "up")
        if len(self.seen) < len(self.paths) + 2:
            time.sleep(0.1)  # leaves time for all that, however fast the machine


def main() -> None:
    """Fetch, and say what each path carried."""
    target, pin, out, victim, *paths = sys.argv[1:]
    script = Script(victim, paths)
    found = fetch(parse_target(target), Path(out), paths, Verification(pin), watch=script.watch)
    for path in found.paths:
        print("carried", path.name, path.unique_bytes)


if __name__ == "__main__":
    main()
