#!/usr/bin/env python3
"""A dense calendar in real time, with everything killed at random: nothing lost, doubled or left.

    tests/testbed/dense.py [--minutes 60] [--kills 100] [--seed 1]      (root)

Three owners' machines in namespaces, a node on each, one of them with a measurement server in the
world beyond, and an orchestrator that all three reach. Runs of 2 to 5 s follow each other on every
node; orchestrator, nodes and server are each killed (-9) so many times at random moments.
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

from owner import SERVER, Owner, owners
from sqlalchemy import select

from skyweave.testbed.api import Office
from skyweave.testbed.api.serve import own_certificate, serve
from skyweave.testbed.node.tools import within
from skyweave.testbed.runs.machine import FINAL
from skyweave.testbed.store import Database
from skyweave.testbed.store.tables import events, reservations, runs, transitions

PORT = 8440
NAMES = ("alice", "bob", "carol")
POLICY = 'owner = "ada"\nbytes_a_day = 1_000_000_000_000\nyield_to = "nobody"\n'
END_S = 300.0


def be_orchestrator(folder: Path, networks: list[Path]) -> None:
    """Serve in several network namespaces at once."""
    sockets = [within(one, lambda: socket.create_server((SERVER, PORT))) for one in networks]
    certificate = own_certificate(folder, SERVER)
    office = Office(folder, url=f"https://{SERVER}:{PORT}", pin=certificate.pin)
    serve(office, SERVER, PORT, certificate, sockets)


class Process:
    """A process that can be killed and started again."""

    def __init__(self, argv: list[str], log: Path) -> None:
        self.argv, self.log, self.kills = argv, log, 0
        self.start()

    def start(self) -> None:
        with self.log.open("ab") as out:
            self.process = subprocess.Popen(self.argv, stdout=out, stderr=out)

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.kills += 1
        self.start()

    def end(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(120)


class Town:
    """All of it."""

    def __init__(self, folder: Path, there: list[Owner]) -> None:
        self.folder, self.owners = folder, there
        (folder / "office").mkdir(mode=0o700)
        worlds = [str(one.world) for one in there]
        me = [sys.executable, __file__, "--be-orchestrator", str(folder / "office"), *worlds]
        self.orchestrator = Process(me, folder / "log")
        self.login()
        self.nodes = [self.join(*one) for one in zip(NAMES, there, strict=True)]
        invited = self.cli("testbed", "invite", "--server").split("'")[1]
        far = str(folder / "far")
        self.cli("measure", "join", invited, "--address", SERVER, "--name", "far", "--home", far)
        self.far = Process(
            [*self.argv(there[0].world), "measure", "serve", "--home", far], folder / "log"
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

    def login(self) -> None:
        from skyweave.testbed.access import first_admin_code

        database = self.folder / "office" / "testbed.db"
        certificate = self.folder / "office" / "certificate.pem"
        while not (certificate.exists() and database.exists()):
            time.sleep(0.1)
        time.sleep(3)
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
            [*self.argv(owner.network), "node", "run", "--home", str(home)], self.folder / "log"
        )

    def submit(self, minutes: float) -> None:
        """Fill the calendar: each node every 8 s, the first one with the server."""
        now = int(time.time())
        for place, name in enumerate(NAMES):
            plan = {
                "title": "dense", "node": name, "kind": "command", "tolerance_s": 2,
                "when": {
                    "kind": "every", "start": now + 20 + place, "period": 8,
                    "seconds": 5, "until": now + 20 + int(60 * minutes),
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


def toml(plan: dict) -> str:
    """Return a plan as TOML: JSON's strings, numbers and lists are TOML's."""
    lines = [f"{key} = {json.dumps(one)}" for key, one in plan.items() if not isinstance(one, dict)]
    for key, table in plan.items():
        if isinstance(table, dict):
            lines += [f"[{key}]", *(f"{name} = {json.dumps(one)}" for name, one in table.items())]
    return "\n".join(lines) + "\n"


def is_over(url: str) -> bool:
    database = Database(url)
    with database.read() as connection:
        waiting = connection.execute(select(runs.c.id).where(runs.c.state.not_in(FINAL))).first()
    database.close()
    return waiting is None


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


def main() -> None:
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--minutes", type=float, default=60)
    options.add_argument("--kills", type=int, default=100)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--be-orchestrator", nargs="+", type=Path)
    wanted = options.parse_args()
    if wanted.be_orchestrator:
        be_orchestrator(wanted.be_orchestrator[0], wanted.be_orchestrator[1:])
        return
    dice = random.Random(wanted.seed)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        town = Town(folder, [stack.enter_context(owners()) for _ in NAMES])
        url = f"sqlite:///{folder}/office/testbed.db"
        town.submit(wanted.minutes)
        span = 60 * wanted.minutes
        began = time.monotonic()
        kinds = ([town.orchestrator], town.nodes, [town.far])
        plan = sorted(
            (dice.uniform(10, span), kind) for kind in range(3) for _ in range(wanted.kills)
        )
        for moment, kind in plan:
            time.sleep(max(0.0, began + moment - time.monotonic()))
            dice.choice(kinds[kind]).kill()
        time.sleep(max(0.0, began + span + 30 - time.monotonic()))
        end = time.monotonic() + END_S
        while not is_over(url) and time.monotonic() < end:
            time.sleep(2)
        for one in reversed(town.all):
            one.end()
        wrong, states = faults(url)
        for name, owner in zip(NAMES, town.owners, strict=True):
            wrong += [f"{name}: {one}" for one in owner.left() if "skyweave_node" not in one]
            wrong += [f"{one} is left" for one in (folder / name / "settings").glob("*.json")]
        late = (time.monotonic() - began) / 60
        kills = [sum(one.kills for one in some) for some in kinds]
        print(
            f"{late:.0f} min; killed: orchestrator {kills[0]}, nodes {kills[1]}, server {kills[2]}"
        )
        print(f"{sum(states.values())} runs: {dict(states)}")
        for sentence in wrong[:20]:
            print(sentence)
        if wrong:
            kept = Path(tempfile.mkdtemp(prefix="skyweave-dense-"))
            (folder / "log").rename(kept / "log")
            print(f"{len(wrong)} faults; what was said is in {kept}")
        else:
            print("each run ended once, none was lost, none doubled, nothing is left")
    raise SystemExit(bool(wrong))


if __name__ == "__main__":
    main()
