"""All that the interface stands on: database, files, keeper, key; and what wakes whom."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from pathlib import Path

from sqlalchemy import select

from skyweave.printing import complain
from skyweave.testbed.access.oidc import Client, Provider
from skyweave.testbed.api.allowance import Allowance
from skyweave.testbed.api.attempts import Attempts
from skyweave.testbed.api.beats import Beats
from skyweave.testbed.errors import TestbedError
from skyweave.testbed.runs import Keeper, Uploads
from skyweave.testbed.store import Database, Objects, migrate
from skyweave.testbed.store.tables import facts, nodes
from skyweave.testbed.wire import Nonces, PrivateKey

EVENTS_AN_HOUR = 200_000
"""Of a node: enough to report a week without a connection within an hour."""
WISHES_AN_HOUR = 5000
"""Of a person."""
TIDY_S = 3600.0
"""How often is looked for parts of files whose rest never came."""
LONGEST_NAP_S = 1.0
"""How often is looked whether another process has work, or orders, for this one."""


class Bells:
    """Wakes requests for orders: one a node, the newest."""

    def __init__(self) -> None:
        self._waiting: dict[str, tuple[asyncio.AbstractEventLoop, asyncio.Event]] = {}
        self._lock = threading.Lock()

    def wait(self, node: str) -> asyncio.Event:
        """Return what is set when a node has news, and set that of an earlier request."""
        bell = asyncio.Event()
        with self._lock:
            earlier = self._waiting.get(node)
            self._waiting[node] = asyncio.get_running_loop(), bell
        if earlier:
            earlier[1].set()
        return bell

    def is_newest(self, node: str, bell: asyncio.Event) -> bool:
        """Tell whether no later request of the node waits."""
        with self._lock:
            there = self._waiting.get(node)
        return there is not None and there[1] is bell

    def leave(self, node: str, bell: asyncio.Event) -> None:
        """Forget a request that was answered."""
        with self._lock:
            if (there := self._waiting.get(node)) and there[1] is bell:
                del self._waiting[node]

    def ring(self, node: str) -> None:
        """Wake a node's request; from any thread."""
        with self._lock:
            there = self._waiting.get(node)
        if there and not there[0].is_closed():
            there[0].call_soon_threadsafe(there[1].set)


class Office:
    """The parts of an orchestrator, opened; ``now`` is the clock that they all count by."""

    def __init__(
        self, folder: Path, database: str | None = None, artefacts: str | None = None,
        url: str = "https://127.0.0.1:8440", pin: str | None = None,
        now: Callable[[], float] = time.time, behind_proxy: bool = False,
        oidc: Client | None = None,
    ) -> None:  # fmt: skip
        """Open or make everything in ``folder``; raises what its parts raise.

        ``behind_proxy``: whom a request is from stands in ``X-Forwarded-For``. ``oidc``: whose
        word is taken for who somebody is.
        """
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.folder, self.url, self.pin, self.now = folder, url, pin, now
        self.behind_proxy = behind_proxy
        self.oidc = Provider(oidc, now) if oidc else None
        self.database = Database(database or f"sqlite:///{folder}/testbed.db")
        migrate(self.database)
        self.objects = Objects(artefacts or folder / "artefacts")
        self.key = _key(folder / "orchestrator.pem")
        _claim(self.database, self.key)
        self.bells, self.beats, self.nonces = Bells(), Beats(), Nonces()
        self.nonce_lock = threading.Lock()
        self.attempts = Attempts()
        self.events = Allowance("events", EVENTS_AN_HOUR)
        self.wishes = Allowance("experiments, inputs, invitations and tokens", WISHES_AN_HOUR)
        self.keeper = Keeper(self.database, self.key, self.bells.ring)
        self.uploads = Uploads(folder / "uploads", self.objects)

    def close(self) -> None:
        """Close the database."""
        self.database.close()


class Ticker(threading.Thread):
    """Does what is due, when it is due, and rings for orders that other processes wrote."""

    def __init__(self, office: Office) -> None:
        super().__init__(name="ticker", daemon=True)
        self._office = office
        self._ended = threading.Event()
        self._newest: dict[str, int] = {}
        self._tidied = 0.0

    def run(self) -> None:
        """Tick until :meth:`end`; an error is said once and tried again."""
        said = ""
        while not self._ended.is_set():
            try:
                nap = self._once()
                said = ""
            except Exception as error:  # whatever it is, later runs are due, too
                nap = LONGEST_NAP_S
                ours = isinstance(error, TestbedError)
                short = str(error) if ours else f"{type(error).__name__}: {str(error)[:300]}"
                if short != said:
                    said = short
                    complain(f"skyweave: {said}")
            self._ended.wait(nap)

    def _once(self) -> float:
        office = self._office
        due = office.keeper.next_due()
        if due is not None and due <= office.now():
            office.keeper.tick(office.now())
            due = office.keeper.next_due()
        if office.now() - self._tidied > TIDY_S:
            self._tidied = office.now()
            office.uploads.forget(self._tidied)
        with office.database.read() as connection:
            rows = connection.execute(select(nodes.c.name, nodes.c.newest_order)).all()
        for row in rows:
            if self._newest.get(row.name) != row.newest_order:
                self._newest[row.name] = row.newest_order
                office.bells.ring(row.name)
        wait = LONGEST_NAP_S if due is None else due - office.now()
        return min(max(wait, 0.01), LONGEST_NAP_S)

    def end(self) -> None:
        """Stop, and return when it has."""
        self._ended.set()
        self.join()


def _key(file: Path) -> PrivateKey:
    if not file.exists():
        PrivateKey.make().save(file)
    return PrivateKey.load(file)


def _claim(database: Database, key: PrivateKey) -> None:
    """Note the key that nodes of this database trust; refuse to go on with another one."""
    with database.write() as connection:
        there = connection.execute(
            select(facts.c.value).where(facts.c.name == "orchestrator")
        ).scalar_one_or_none()
        if there is None:
            connection.execute(facts.insert().values(name="orchestrator", value=key.public))
        elif there != key.public:
            raise TestbedError(
                "the database belongs to an orchestrator with another key, and its nodes would "
                "not obey this one; give the folder that holds its orchestrator.pem"
            )
