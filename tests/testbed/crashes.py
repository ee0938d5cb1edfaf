#!/usr/bin/env python3
"""Kill the orchestrator at random moments while three nodes run a dense calendar; count the runs.

    tests/testbed/crashes.py [--kills 100] [--every 1.5] [--seed 1] [--database URL]

Three nodes and a server, over TLS and real sockets, work off periodic runs of 2 s and single ones.
Each run must end in exactly one final state; none may be lost, or begin twice.
"""

from __future__ import annotations

import argparse
import random
import sqlite3
import tempfile
import time
from collections import Counter
from pathlib import Path

from http_node import HttpNode
from orchestrator import Orchestrator, patiently

from skyweave.testbed.runs.machine import FINAL
from skyweave.testbed.store import Database
from skyweave.testbed.store.tables import reservations, runs, transitions

NAMES = ("alice", "bob", "carol")


def plan(node: str, when: dict, server: bool) -> dict:
    far = {"server": "far", "services": ["iperf3"], "priority": "normal"} if server else {}
    return {
        "title": "dense", "node": node, "kind": "command", "when": when, "tolerance_s": 1,
        "work": {"kind": "command", "argv": ["true"]}, **far,
    }  # fmt: skip


def kill_at_random(folder: Path, kills: int, every_s: float, seed: int, database: str | None):
    """Run the calendar with ``kills`` kills; return what happened."""
    dice = random.Random(seed)
    there = Orchestrator(folder, database)
    far = HttpNode("far", there.invite("server"), there.certificate, kind="server")
    nodes = [HttpNode(name, there.invite(), there.certificate) for name in NAMES]
    for one in (far, *nodes):
        one.start()
    with there.testbed() as testbed:
        began = time.time()
        span = kills * (every_s + 2) + 20
        for place, node in enumerate(NAMES):
            when = {
                "kind": "every", "start": int(began) + 3 + place, "period": 5, "seconds": 2,
                "until": int(began + span),
            }  # fmt: skip
            testbed.submit(plan(node, when, server=place == 2))
        for _ in range(kills):
            time.sleep(dice.uniform(0, 2 * every_s))
            there.kill()
            there.start()
            single = plan(dice.choice(NAMES[:2]), {"kind": "soon", "seconds": 1}, server=False)
            patiently(testbed.submit, single)
        for one in patiently(testbed.ask, "GET", "/experiments"):
            patiently(testbed.ask, "DELETE", f"/experiments/{one['id']}")
        settle(testbed, nodes)
    there.stop()
    for one in nodes:
        one.join()  # nothing goes on trying
    return nodes, counted(database or f"sqlite:///{folder}/testbed.db")


def settle(testbed, nodes) -> None:
    """Wait until all runs are over; they are bounded by their own latest starts."""
    end = time.monotonic() + 120
    while time.monotonic() < end:
        waiting = [
            one for one in testbed.runs(limit=500) if one["state"] not in FINAL
        ]  # runs are listed by their start: those that wait are the newest
        if not waiting and all(one.is_idle() for one in nodes):
            break
        time.sleep(0.5)
    for one in nodes:
        one.end()


def counted(url: str) -> dict:
    """Return what the database says of all runs."""
    database = Database(url)
    with database.read() as connection:
        rows = connection.execute(runs.select()).all()
        finals = Counter(
            one.run for one in connection.execute(transitions.select()) if one.state in FINAL
        )
        left = len(connection.execute(reservations.select()).all())
    database.close()
    return {
        "runs": len(rows), "states": Counter(one.state for one in rows),
        "ended once": sum(finals[one.id] == 1 for one in rows), "reservations left": left,
        "done": {one.id for one in rows if one.state == "done"},
        "started": {one.id for one in rows if one.started is not None},
    }  # fmt: skip


def faults(nodes, found: dict) -> list[str]:
    """Return what is wrong, in words."""
    begun = [run for one in nodes for run in one.begun]
    wrong = []
    if len(begun) != len(set(begun)):
        wrong.append(f"{len(begun) - len(set(begun))} runs began twice")
    if lost := set(begun) - found["started"]:
        wrong.append(f"{len(lost)} runs began and are not known to have")
    if invented := found["done"] - set(begun):
        wrong.append(f"{len(invented)} runs are done and never began")
    if found["ended once"] != found["runs"]:
        wrong.append(f"{found['runs'] - found['ended once']} runs have not ended once")
    if found["reservations left"]:
        wrong.append(f"{found['reservations left']} reservations are left")
    return wrong


def main() -> None:
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--kills", type=int, default=100)
    options.add_argument("--every", type=float, default=1.5)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--database")
    wanted = options.parse_args()
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        nodes, found = kill_at_random(
            Path(folder) / "office", wanted.kills, wanted.every, wanted.seed, wanted.database
        )
    wrong = faults(nodes, found)
    minutes = (time.monotonic() - began) / 60
    print(f"{wanted.kills} kills in {minutes:.1f} min, SQLite {sqlite3.sqlite_version}")
    print(f"{found['runs']} runs: {dict(found['states'])}")
    print("; ".join(wrong) or "each run ended once, none was lost, none began twice")
    raise SystemExit(bool(wrong))


if __name__ == "__main__":
    main()
