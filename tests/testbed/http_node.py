"""A node for tests over real sockets and in real time; it measures nothing, and keeps count."""

from __future__ import annotations

import contextlib
import hashlib
import heapq
import itertools
import json
import math
import threading
import time
from collections.abc import Callable
from typing import Any

import httpx2

from skyweave.testbed.wire import (
    Event,
    Events,
    Invitation,
    Join,
    Joined,
    Orders,
    PrivateKey,
    Request,
    sign,
    trusting,
    unseal,
)

CONTENT = b"measured\n"
ARTEFACT = {
    "name": "out.txt", "bytes": len(CONTENT), "sha256": hashlib.sha256(CONTENT).hexdigest(),
}  # fmt: skip
TELLS_S = 60.0
"""How long a node that was ended tries to tell what it did to who does not answer."""


class Unheard(Exception):
    """The node was ended, and nobody answers."""


class HttpNode(threading.Thread):
    """Follows docs/testbed.md, and tries again for ever; :meth:`end` lets it finish its work.

    Then, as soon as the orchestrator is gone as well, its threads end and connections close.
    """

    def __init__(
        self, name: str, invitation: Invitation, certificate: str, *, beat_s: float = 30.0,
        kind: str = "node",
    ) -> None:  # fmt: skip
        super().__init__(name=name, daemon=True)
        self.key, self.kind, self.beat_s = PrivateKey.make(), kind, beat_s
        self._client = httpx2.Client(
            base_url=invitation.url, verify=trusting(certificate), timeout=70.0, trust_env=False
        )
        self.begun: list[str] = []
        self.heard: dict[str, float] = {}
        """When the order to start a run came, by its id."""
        self.told: list[Event] = []
        self.files: list[str] = []
        self.doing: list[tuple[float, int, dict[str, Any]]] = []
        self._ids, self._numbers = itertools.count(), itertools.count(1)
        self._after = 0
        self._ended_at = math.inf
        self._lock, self._ended, self._work = threading.Lock(), threading.Event(), threading.Event()
        self._orchestrator = self._join(invitation)

    def _join(self, invitation: Invitation) -> str:
        said = Join(
            code=invitation.code, name=self.name, kind=self.kind, key=self.key.public, version="0",
            address="127.0.0.1" if self.kind == "server" else None,
        )  # fmt: skip
        body = said.model_dump_json().encode()
        answer = self._ask("POST", "/agent/join", body, key_id="join")
        return Joined.model_validate_json(answer.content).key

    def _ask(
        self, method: str, path: str, body: bytes = b"", query: str = "", key_id=None,
        after_end_s: float = TELLS_S,
    ):  # fmt: skip
        """Ask until there is an answer that is no failure of the other side.

        Raises :class:`Unheard` where there is none this long after the end.
        """
        while True:
            signed = Request(method, path, query, body)
            headers = sign(signed, self.key, key_id or self.name, time.time())
            with contextlib.suppress(httpx2.HTTPError):
                where = f"{path}?{query}" if query else path
                answer = self._client.request(method, where, content=body, headers=headers)
                if answer.status_code < 500:
                    assert answer.status_code == 200, (path, answer.text)
                    return answer
            if time.monotonic() > self._ended_at + after_end_s:
                raise Unheard
            time.sleep(0.05)

    def run(self) -> None:
        """Hear, work and tell, in threads of their own."""

        def until_unheard(what: Callable[[], None]) -> None:
            with contextlib.suppress(Unheard):
                what()

        threads = [
            threading.Thread(target=until_unheard, args=[one], daemon=True)
            for one in (self._hear, self._tell, self._beat)
        ]
        for one in threads:
            one.start()
        self._do()
        for one in threads:
            one.join()
        self._client.close()

    def end(self) -> None:
        """Stop hearing orders."""
        self._ended_at = time.monotonic()
        self._ended.set()
        self._work.set()

    def is_idle(self) -> bool:
        """Tell whether nothing is to be done or told."""
        with self._lock:
            return not (self.doing or self.told or self.files)

    def _later(self, when: float, what: dict[str, Any]) -> None:
        with self._lock:
            heapq.heappush(self.doing, (when, next(self._ids), what))
        self._work.set()

    def _say(self, **body: Any) -> None:
        with self._lock:
            event = {"sequence": next(self._numbers), "time_unix_s": time.time(), "body": body}
            self.told.append(Event.model_validate_json(json.dumps(event)))
        self._work.set()

    def _hear(self) -> None:
        while not self._ended.is_set():
            answer = self._ask("GET", "/agent/next", query=f"after={self._after}", after_end_s=0.0)
            for one in Orders.model_validate_json(answer.content).orders:
                numbered = unseal(one, self._orchestrator, self.name)
                if numbered.sequence > self._after:
                    self._after = numbered.sequence
                    self._obey(numbered.order)

    def _obey(self, order: Any) -> None:
        said = {"run": getattr(order, "run", ""), "fence": getattr(order, "fence", 0)}
        if order.kind == "start":
            what = order.specification
            said = {"run": what.run, "fence": what.fence}
            self.heard[what.run] = time.time()
            self._say(kind="accepted", **said)
            moment = {"said": said, "seconds": what.seconds, "latest": what.latest_start_unix_s}
            self._later(what.start_unix_s, moment | {"do": "begin"})
        elif order.kind == "serve":
            ports = dict.fromkeys(order.services, 5201)
            self._say(kind="ready", address="127.0.0.1", ports=ports, **said)

    def _do(self) -> None:
        """Begin and end runs at their times."""
        while not (self._ended.is_set() and not self.doing):
            with self._lock:
                due = self.doing[0][0] if self.doing else time.time() + 1
                what = heapq.heappop(self.doing)[2] if due <= time.time() else None
            if what is None:
                self._work.clear()
                self._work.wait(min(1.0, max(0.0, due - time.time())))
                continue
            said = what["said"]
            if what["do"] == "end":
                self._say(kind="finished", outcome="done", artefacts=[ARTEFACT], **said)
                with self._lock:  # after the event, without which no file is expected
                    self.files.append(said["run"])
            elif time.time() > what["latest"]:
                self._say(kind="refused", reason="late", why="too late", **said)
            else:
                self.begun.append(said["run"])
                self._say(kind="started", **said)
                self._later(time.time() + what["seconds"], what | {"do": "end"})

    def _tell(self) -> None:
        while True:
            with self._lock:
                told, files = self.told[:200], list(self.files)
            if not told and not files:
                if self._ended.is_set() and self.is_idle():
                    return
                time.sleep(0.01)
                continue
            if told:
                body = Events(outbox="0" * 16, events=tuple(told)).model_dump_json().encode()
                self._ask("POST", "/agent/events", body)
                with self._lock:
                    self.told = [one for one in self.told if one.sequence > told[-1].sequence]
                continue
            for run in files:
                self._upload(run)
                with self._lock:
                    self.files.remove(run)

    def _upload(self, run: str) -> None:
        body = json.dumps({"artefact": ARTEFACT}).encode()
        held = self._ask("POST", f"/agent/runs/{run}/artefacts", body).json()
        if not held["done"]:
            rest = CONTENT[held["held"] :]
            path = f"/agent/uploads/{held['upload']}"
            self._ask("PUT", path, rest, f"offset={held['held']}")

    def _beat(self) -> None:
        while not self._ended.wait(self.beat_s):
            said = {"clock": {"offset_s": 0.0, "error_s": 0.001}, "version": "0"}
            self._ask("POST", "/agent/heartbeat", json.dumps(said).encode(), after_end_s=0.0)
