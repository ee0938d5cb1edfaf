#!/usr/bin/env python3
"""A dense calendar in real time, with everything killed at random: nothing lost, doubled or left.

    tests/testbed/dense.py [--minutes 60] [--kills 100] [--seed 1] [--out dense.json]      (root)

Three owners' machines in namespaces, a node on each, one of them with a measurement server in the
world beyond, and an orchestrator that all three reach. Runs of 2 to 5 s follow each other on every
node; orchestrator, nodes and server are each killed (-9) KILLS times at random moments. The JSON
has the cause of each run that is not done, and the causes in groups; logs and rows are kept.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from causes import Kill, causes, grouped
from owner import SERVER, Owner, owners
from sqlalchemy import select

from skyweave.testbed.api import Office
from skyweave.testbed.api.serve import own_certificate, serve
from skyweave.testbed.errors import TestbedError
from skyweave.testbed.node.tools import within
from skyweave.testbed.runs.machine import FINAL
from skyweave.testbed.store import Database
from skyweave.testbed.store.tables import events, reservations, runs, transitions
from skyweave.testbed.wire.pinning import fetch_certificate

PORT = 8440
ENDED = (0, 130, 143, -signal.SIGTERM)
"""How a process ends that is told to."""
NAMES = ("alice", "bob", "carol")
POLICY = 'owner = "ada"\nbytes_a_day = 1_000_000_000_000\nyield_to = "nobody"\n'
STILL_S = 300.0
"""How long nothing may end before what is left is called lost: a busy machine is no fault."""


def be_orchestrator(folder: Path, networks: list[Path]) -> None:
    """Serve in several network namespaces at once."""
    sockets = [within(one, lambda: socket.create_server((SERVER, PORT))) for one in networks]
    certificate = own_certificate(folder, SERVER)
    office = Office(folder, url=f"https://{SERVER}:{PORT}", pin=certificate.pin)
    serve(office, SERVER, PORT, certificate, sockets)


class Process:
    """A process that can be killed and started again."""

    def __init__(self, name: str, argv: list[str], log: Path) -> None:
        self.name, self.argv, self.log = name, argv, log
        self.kills: list[Kill] = []
        self.start()

    def start(self) -> None:
        with self.log.open("ab") as out:
            self.process = subprocess.Popen(self.argv, stdout=out, stderr=out)

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.kills.append(Kill(time.time(), self.name))
        self.start()

    def end(self) -> list[str]:
        """End it; return what is wrong with how it ended."""
        self.process.send_signal(signal.SIGTERM)
        try:
            code = self.process.wait(STILL_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            return [f"{self.name} did not end {STILL_S:g} s after SIGTERM"]
        return [f"{self.name} ended with code {code}"] if code not in ENDED else []


class Town:
    """All of it."""

    def __init__(self, folder: Path, there: list[Owner]) -> None:
        self.folder, self.owners = folder, there
        (folder / "office").mkdir(mode=0o700)
        worlds = [str(one.world) for one in there]
        me = [sys.executable, __file__, "--be-orchestrator", str(folder / "office"), *worlds]
        self.orchestrator = Process("orchestrator", me, folder / "log")
        self.login()
        self.nodes = [self.join(*one) for one in zip(NAMES, there, strict=True)]
        invited = self.cli("testbed", "invite", "--server").split("'")[1]
        far = str(folder / "far")
        self.cli("measure", "join", invited, "--address", SERVER, "--name", "far", "--home", far)
        self.far = Process(
            "far", [*self.argv(there[0].world), "measure", "serve", "--home", far], folder / "log"
        )
        self.all = [self.orchestrator, *self.nodes, self.far]

    def argv(self, network: Path) -> list[str]:
        return ["nsenter", f"--net={network}", "--", sys.executable, "-m", "skyweave.cli"]

    def cli(self, *words: str, network: Path | None = None) -> str:
        """Run a command, again and again while the orchestrator is down."""
        environment = os.environ | {"XDG_CONFIG_HOME": str(self.folder / "config")}
        while True:
            ran = subprocess.run(
                [*self.argv(network or self.owners[0].world), *words], env=environment,
                capture_output=True, text=True, check=False,
            )  # fmt: skip
            if ran.returncode == 0:
                return ran.stdout
            assert "answer" in ran.stderr or "try again" in ran.stderr, ran.stderr
            time.sleep(0.2)

    def answers(self) -> bool:
        """Tell whether the orchestrator speaks TLS: it has made its tables by then."""
        pin = own_certificate(self.folder / "office", SERVER).pin
        try:
            within(self.owners[0].world, lambda: fetch_certificate(f"https://{SERVER}:{PORT}", pin))
        except TestbedError:
            return False
        return True

    def login(self) -> None:
        from skyweave.testbed.access import first_admin_code

        database = self.folder / "office" / "testbed.db"
        certificate = self.folder / "office" / "certificate.pem"
        while not (certificate.exists() and self.answers()):
            assert self.orchestrator.process.poll() is None, (self.folder / "log").read_text()
            time.sleep(0.1)
        there = Database(f"sqlite:///{database}")
        with there.write() as connection:
            code = first_admin_code(connection, time.time())
        there.close()
        pin = own_certificate(self.folder / "office", SERVER).pin
        address = f"https://{SERVER}:{PORT}#{code}.{pin}"
        self.cli("testbed", "login", address, "--name", "ada")

    def join(self, name: str, owner: Owner) -> Process:
        invited = self.cli("testbed", "invite").split("'")[1]
        home = self.folder / name
        self.cli(
            "node", "join", invited, "--owner", "ada", "--name", name, "--home", str(home),
            network=owner.network,
        )  # fmt: skip
        (home / "policy.toml").write_text(POLICY)
        return Process(
            name,
            [*self.argv(owner.network), "node", "run", "--home", str(home)],
            self.folder / "log",
        )

    def submit(self, minutes: float) -> None:
        """Fill the calendar: each node every 8 s, the first one with the server."""
        end = int(time.time() + 20 + 60 * minutes)
        for place, name in enumerate(NAMES):
            now = int(time.time())  # a command takes seconds where processors are busy
            plan = {
                "title": "dense", "node": name, "kind": "command", "tolerance_s": 2,
                "when": {
                    "kind": "every", "start": now + 20 + place, "period": 8,
                    "seconds": 5, "until": end,
                },
                "work": {"kind": "command", "argv": [
                    "python3", "-c", "import time; time.sleep(2); open('x', 'w').write('x')",
                ]},
            }  # fmt: skip
            if place == 0:
                plan |= {"server": "far", "services": ["probe"]}
            file = self.folder / f"{name}.toml"
            file.write_text(toml(plan))
            self.cli("testbed", "submit", "--plan", str(file))

    def live(self, url: str, minutes: float, kills: int, dice: random.Random) -> dict[str, Any]:
        """Work off the calendar while everything is killed; return how that went."""
        self.submit(minutes)
        began, span = time.monotonic(), 60 * minutes
        kinds = {"orchestrator": [self.orchestrator], "nodes": self.nodes, "server": [self.far]}
        plan = sorted((dice.uniform(10, span), kind) for kind in kinds for _ in range(kills))
        behind, load = [0.0], [os.getloadavg()[0]]
        for moment, kind in plan:
            time.sleep(max(0.0, began + moment - time.monotonic()))
            behind.append(time.monotonic() - began - moment)
            load.append(os.getloadavg()[0])
            dice.choice(kinds[kind]).kill()
        time.sleep(max(0.0, began + span + 30 - time.monotonic()))
        settle(url)
        return {
            "minutes": round((time.monotonic() - began) / 60, 1),
            "killed": {kind: sum(len(one.kills) for one in kinds[kind]) for kind in kinds},
            "kills_late_s": round(max(behind), 1),
            "load": [round(min(load), 1), round(max(load), 1)],
        }  # fmt: skip


def toml(plan: dict) -> str:
    """Return a plan as TOML: JSON's strings, numbers and lists are TOML's."""
    lines = [f"{key} = {json.dumps(one)}" for key, one in plan.items() if not isinstance(one, dict)]
    for key, table in plan.items():
        if isinstance(table, dict):
            lines += [f"[{key}]", *(f"{name} = {json.dumps(one)}" for name, one in table.items())]
    return "\n".join(lines) + "\n"


def going(url: str) -> int:
    """Return how many runs are not over."""
    database = Database(url)
    with database.read() as connection:
        waiting = connection.execute(select(runs.c.id).where(runs.c.state.not_in(FINAL))).all()
    database.close()
    return len(waiting)


def settle(url: str) -> None:
    """Wait until all runs are over, as long as there are fewer and fewer that are not."""
    least, seen = going(url), time.monotonic()
    while least and time.monotonic() < seen + STILL_S:
        time.sleep(2)
        if (now := going(url)) < least:
            least, seen = now, time.monotonic()


def faults(url: str) -> tuple[list[str], Counter]:
    """Return what is wrong, in words, and how many runs are in which state."""
    database, wrong = Database(url), []
    with database.read() as connection:
        rows = connection.execute(runs.select()).all()
        finals = Counter(
            one.run for one in connection.execute(transitions.select()) if one.state in FINAL
        )
        told: Counter = Counter()
        for one in connection.execute(events.select()):
            ends = one.kind in ("finished", "refused") and one.node != "far"
            told[one.run, "ends" if ends else one.kind] += one.node != "far"
        left = connection.execute(reservations.select()).all()
    database.close()
    wrong += [f"{one.id} ended {finals[one.id]} times" for one in rows if finals[one.id] != 1]
    wrong += [f"{run} {kind} {count} times" for (run, kind), count in told.items() if count > 1]
    wrong += [f"{len(left)} reservations are left"] if left else []
    return wrong, Counter(
        one.state if one.state == "done" else f"{one.state}: {one.outcome or one.why[:60]}"
        for one in rows
    )


def whole(town: Town, url: str) -> dict[str, Any]:
    """End all; return how the runs ended, why, and what is wrong."""
    ends = [sentence for one in reversed(town.all) for sentence in one.end()]
    wrong, states = faults(url)
    for name, owner in zip(NAMES, town.owners, strict=True):
        wrong += [f"{name}: {one}" for one in owner.left() if "skyweave_node" not in one]
        wrong += [f"{one} is left" for one in (town.folder / name / "settings").glob("*.json")]
    not_done = causes(url, sorted(one for some in town.all for one in some.kills))
    return {
        "runs": sum(states.values()),
        "states": dict(states),
        "causes": grouped(not_done),
        "wrong": [*wrong, *ends],
        "not_done": not_done,
    }


def main() -> None:
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--minutes", type=float, default=60)
    options.add_argument("--kills", type=int, default=100)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--out", type=Path, help="a new file for the numbers")
    options.add_argument("--be-orchestrator", nargs="+", type=Path)
    wanted = options.parse_args()
    if wanted.be_orchestrator:
        be_orchestrator(wanted.be_orchestrator[0], wanted.be_orchestrator[1:])
        return
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        town = Town(folder, [stack.enter_context(owners()) for _ in NAMES])
        url = f"sqlite:///{folder}/office/testbed.db"
        found = town.live(url, wanted.minutes, wanted.kills, random.Random(wanted.seed))
        found |= {"seed": wanted.seed, **whole(town, url)}
        if wanted.out is not None:
            wanted.out.write_text(json.dumps(found, indent=1) + "\n")
        short = {name: one for name, one in found.items() if name != "not_done"}
        print(json.dumps(short, indent=1))
        if found["wrong"] or found["not_done"]:
            kept = Path(tempfile.mkdtemp(prefix="skyweave-dense-"))
            for file in (folder / "log", *(folder / "office").glob("testbed.db*")):
                file.rename(kept / file.name)
            (kept / "dense.json").write_text(json.dumps(found, indent=1) + "\n")
            print(f"what was said, the rows, and each run with its cause are in {kept}")
        if not found["wrong"]:
            print("each run ended once, none was lost, none doubled, nothing is left")
    raise SystemExit(bool(found["wrong"]))


if __name__ == "__main__":
    main()
