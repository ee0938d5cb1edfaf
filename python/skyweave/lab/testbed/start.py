"""The lab from its start to its end: machines, accounts, nodes, experiments, and what happens."""

from __future__ import annotations

import contextlib
import secrets
import shlex
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skyweave.data.writers import write_text
from skyweave.lab.testbed import aware
from skyweave.lab.testbed import people as persons
from skyweave.lab.testbed.people import Desk, People
from skyweave.lab.testbed.places import (
    ADMIN,
    DISH,
    FAR,
    PREDICTOR,
    RESEARCHER,
    SERVER,
    WORLD,
    Place,
    places,
)
from skyweave.lab.testbed.telling import Teller
from skyweave.lab.testbed.town import Town
from skyweave.testbed.client import Testbed
from skyweave.testbed.errors import TestbedError
from skyweave.testbed.wire.joining import CODE_S

JOIN_S = 90.0
LOOK_S = 1.0
Say = Callable[[str], object]
Row = dict[str, Any]


@dataclass
class Lab:
    """A lab that is up."""

    town: Town
    desk: Desk
    people: People
    teller: Teller
    triggered: str
    """The experiment that waits for a trigger."""
    first: str
    began_s: float
    """Monotonic time at which the lab was asked for."""

    def go_on(self, until_s: float, is_over: Callable[[list[Row]], bool]) -> None:
        """Say what happens until a monotonic time, or until it is over.

        ``is_over`` is asked with all runs, the newest first. Raises :class:`LiveError` if a part of
        the lab ends by itself.
        """
        next_code = time.monotonic() + CODE_S
        while time.monotonic() < until_s:
            time.sleep(LOOK_S)
            self.town.look()
            if is_over(self.teller.look()):
                return
            if time.monotonic() > next_code:
                next_code += CODE_S
                self.teller.line(f"a new one-time code: {self.desk.sign_in_code(ADMIN)}")


@contextlib.contextmanager
def lab(folder: Path, port: int, duration_s: float, seed: int, say: Say) -> Iterator[Lab]:
    """Start all of it; take all of it away afterwards, but for ``folder``.

    Raises :class:`skyweave.ConfigError` where there can be none, and what its parts raise.
    """
    began_s = time.monotonic()
    waits = secrets.token_hex(12)
    there = places(waits)
    desk = Desk(folder / "orchestrator", port)
    with Town(there, folder, port, duration_s, seed) as town:
        code = desk.prepare()
        town.spawn(
            "orchestrator", WORLD,
            [sys.executable, "-m", "skyweave.lab.testbed.orchestrator", str(desk.folder), desk.url],
            listens=port,
        )  # fmt: skip
        for place in there:
            _dish(town, place)
        desk.await_answer(town.look)
        people = People(desk, code, persons.owners_of(there))
        say(f"The dashboard: {desk.url}  (its certificate is its own: the browser warns once)")
        say(f"Sign in there with the one-time code {desk.sign_in_code(ADMIN)}")
        _join(town, people, there)
        with people.as_(ADMIN) as admin, people.as_(RESEARCHER) as researcher:
            teller = Teller(admin, say, {})
            _await_nodes(town, admin, teller, len(there) + 1)
            aware.begin(town, there[0])
            titles, first = _submit(researcher, waits)
            teller.titles |= titles
            yield Lab(town, desk, people, teller, waits, first, began_s)


def _dish(town: Town, place: Place) -> None:
    if place.terminal is not None:
        town.spawn(
            f"{place.name}-dish", place.name,
            _skyweave("dish", "fake", "--listen", f"{DISH}:9200", "--terminal", place.terminal,
                      "--gap", "0.2", "--extra-rtt", "20"),
        )  # fmt: skip


def _join(town: Town, people: People, there: tuple[Place, ...]) -> None:
    """Let all machines join at once; each goes on as a node, by its owner's policy."""
    home = town.folder / FAR
    invited = people.invite(ADMIN, "server")
    join = ["measure", "join", invited, "--address", SERVER, "--name", FAR, "--home", str(home)]
    town.spawn(FAR, WORLD, _then(join, ["measure", "serve", "--home", str(home)]))
    for place in there:
        home = town.folder / place.name
        write_text(home / "policy.toml", place.policy())
        if (triggers := place.triggers()) is not None:
            write_text(home / "triggers.toml", triggers)
            aware.learn(place, home / PREDICTOR, time.time(), town.seed)
        invited = people.invite(place.owner, "node")
        join = ["node", "join", invited, "--owner", place.owner, "--name", place.name]
        join += ["--home", str(home)]
        town.spawn(place.name, place.name, _then(join, ["node", "run", "--home", str(home)]))


def _await_nodes(town: Town, admin: Testbed, teller: Teller, count: int) -> None:
    """Return when all have told how they are."""
    end, told = time.monotonic() + JOIN_S, set[str]()
    while len(told) < count:
        town.look()
        for one in admin.nodes():
            if one["heartbeat"] and one["name"] not in told:
                told.add(one["name"])
                teller.line(f"{one['name']}: joined, a {one['kind']} of {one['owner']}")
        if time.monotonic() > end:
            raise TestbedError(f"not all nodes were there after {JOIN_S:g} s; see the logs")
        time.sleep(0.1)


def _submit(researcher: Testbed, waits: str) -> tuple[dict[str, str], str]:
    """Submit the experiments; return their titles by their ids, and the one that begins at once."""
    first = researcher.submit(persons.first_plan("house"), persons.FIRST)["id"]
    used = researcher.upload(persons.SPIKE)
    plan = persons.triggered_plan("boat") | {"input": used}
    researcher.ask("POST", "/experiments", plan, id=waits)
    light = persons.light_plan("farm", int(time.time())) | {"input": used}
    researcher.submit(light)
    titles = {one["id"]: one["plan"]["title"] for one in researcher.ask("GET", "/experiments")}
    return titles, first


def _then(one: list[str], other: list[str]) -> list[str]:
    """Return the command that does one thing and, if that went well, goes on as another."""
    return ["sh", "-c", f"{shlex.join(_skyweave(*one))} && exec {shlex.join(_skyweave(*other))}"]


def _skyweave(*words: str) -> list[str]:
    return [sys.executable, "-m", "skyweave.cli", *words]
