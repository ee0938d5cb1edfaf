"""The lab's people: an admin, owners who invite their machines, a researcher who submits.

All of it goes over the interface that everybody has, from this machine; only the first admin's code
and codes to sign in with come from the orchestrator's folder, as from its own terminal.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from skyweave.lab.testbed.places import ADMIN, FAR, ORCHESTRATOR, RESEARCHER, Place
from skyweave.testbed.access import first_admin_code, make_code
from skyweave.testbed.api import Office
from skyweave.testbed.api.serve import own_certificate
from skyweave.testbed.client import Login, Testbed
from skyweave.testbed.errors import TestbedError
from skyweave.testbed.pages.signing import CODE_KIND
from skyweave.testbed.store import Database
from skyweave.testbed.wire import Invitation

EXPERIMENTS = Path(__file__).with_name("experiments")
FIRST, SPIKE = EXPERIMENTS / "first", EXPERIMENTS / "spike"
"""Their folders: a study over the node's networks, and a program."""
PROGRAM = ("python3", "/experiment/measure.py")
START_S, LOOK_S = 60.0, 0.05


@dataclass(frozen=True)
class Desk:
    """The orchestrator's folder, made ready, and where people reach it."""

    folder: Path
    port: int

    @property
    def url(self) -> str:
        """Return the address for people on this machine."""
        return f"https://127.0.0.1:{self.port}"

    def prepare(self) -> str:
        """Make keys, certificate and database; return the code of the first admin."""
        self.folder.mkdir(mode=0o700)
        pin = own_certificate(self.folder, "127.0.0.1").pin
        office = Office(self.folder, url=self.url, pin=pin)
        try:
            with office.database.write() as connection:
                code = first_admin_code(connection, office.now())
        finally:
            office.close()
        assert code is not None
        return code

    def login(self, token: str) -> Testbed:
        """Return the testbed as the owner of a token has it."""
        certificate = (self.folder / "certificate.pem").read_text()
        return Testbed(Login(self.url, token, certificate))

    def sign_in_code(self, name: str) -> str:
        """Return a code with which somebody signs in to the dashboard, once, in 15 minutes."""
        database = Database(f"sqlite:///{self.folder}/testbed.db")
        try:
            with database.write() as connection:
                return make_code(connection, CODE_KIND, name, time.time())
        finally:
            database.close()

    def await_answer(self, look: Any) -> None:
        """Return when the orchestrator answers; ``look`` raises if it has ended."""
        end = time.monotonic() + START_S
        while True:
            look()
            try:
                with self.login("") as nobody:
                    nobody.ask("GET", "/health")
                    return
            except TestbedError:
                if time.monotonic() > end:
                    raise
                time.sleep(LOOK_S)


class People:
    """Everybody with their tokens."""

    def __init__(self, desk: Desk, code: str, owners: set[str]) -> None:
        """Become the first admin by the code, and let the others in."""
        with desk.login("") as nobody:
            wish = {"code": code, "name": ADMIN}
            self._tokens = {ADMIN: nobody.ask("POST", "/first", wish)["token"]}
        self._desk = desk
        with self.as_(ADMIN) as admin:
            for name, role in [(one, "owner") for one in sorted(owners)] + [
                (RESEARCHER, "researcher")
            ]:
                made = admin.ask("POST", "/people", {"name": name, "role": role})
                self._tokens[name] = made["token"]

    def as_(self, name: str) -> Testbed:
        """Return the testbed as one of them has it."""
        return self._desk.login(self._tokens[name])

    def token(self, name: str) -> str:
        """Return somebody's token."""
        found: str = self._tokens[name]
        return found

    def invite(self, name: str, kind: Literal["node", "server"]) -> str:
        """Return an invitation of theirs, with the address that machines reach."""
        with self.as_(name) as owner:
            said = owner.ask("POST", "/invitations", {"kind": kind})["invitation"]
        there = Invitation.parse(said)
        return str(there.model_copy(update={"url": f"https://{ORCHESTRATOR}:{self._desk.port}"}))


def first_plan(node: str) -> dict[str, Any]:
    """Return the experiment that begins at once: a study over each uplink, and over both."""
    return _plan("wire and LTE, alone and together", node) | {
        "kind": "mpquic", "services": ["field"],
        "work": {"kind": "study", "file": "study.toml"},
        "when": {"kind": "soon", "seconds": 240}, "tolerance_s": 30,
    }  # fmt: skip


def triggered_plan(node: str) -> dict[str, Any]:
    """Return the experiment that waits for a spike of the round trip."""
    return _plan("after a spike of the round trip", node, "5", "10MB") | {
        "when": {"kind": "trigger", "seconds": 60, "policy": "wait", "runs_per_day": 1000},
    }


def light_plan(node: str, now: int) -> dict[str, Any]:
    """Return a light experiment each two minutes, so that the calendar has something to show."""
    when = {"kind": "every", "start": now + 60, "period": 120, "seconds": 30}
    return _plan("probes each two minutes", node, "5") | {"when": when, "tolerance_s": 5}


def _plan(title: str, node: str, *words: str) -> dict[str, Any]:
    """Return a plan whose runs leave room for others at the server."""
    return {
        "title": title, "node": node, "server": FAR, "services": ["quic", "probe"],
        "kind": "command", "work": {"kind": "command", "argv": [*PROGRAM, *words]},
        "priority": "normal",
        "limits": {"cpu_share": 2.0, "memory_bytes": 2**30, "processes": 256},
    }  # fmt: skip


def owners_of(places: tuple[Place, ...]) -> set[str]:
    """Return all owners' names."""
    return {one.owner for one in places}
