"""A small orchestrator for tests of the node: HTTP, signatures, orders, events, files."""

from __future__ import annotations

import hashlib
import json
import socket
import ssl
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

from skyweave.testbed.errors import RefusedError
from skyweave.testbed.wire import (
    Command,
    Event,
    Events,
    Heartbeat,
    HeartbeatAnswer,
    Held,
    Input,
    Join,
    Joined,
    Limits,
    Nonces,
    Numbered,
    Orders,
    Origin,
    PrivateKey,
    Problem,
    Request,
    RunSpecification,
    Signed,
    Start,
    Stop,
    Stored,
    Study,
    WrongClockError,
    claim_of,
    seal,
)

CODE = "ABCD-EFGH-JKLM-NPQR"
NODE = "garden"


class FarOrchestrator:
    """Listens on a socket of the test's; what nodes say is in ``events``, by their numbers."""

    def __init__(self, listening: socket.socket, context: ssl.SSLContext | None = None) -> None:
        self.key = PrivateKey.make()
        self.node_key = ""
        self.changed = threading.Condition()
        self.events: dict[tuple[str, int], Event] = {}
        self.orders: list[Signed] = []
        self.inputs: dict[str, bytes] = {}
        self.files: dict[tuple[str, str], bytes] = {}
        self.declared: dict[str, tuple[str, Any]] = {}
        self.heartbeats: list[Heartbeat] = []
        self.ahead_s = 0.0
        self.busy = False
        self.codes = {CODE}
        self._nonces = Nonces()
        self._stop = False
        server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self), bind_and_activate=False)
        server.socket.close()
        server.socket = (
            listening if context is None else context.wrap_socket(listening, server_side=True)
        )
        server.server_address = listening.getsockname() if context is None else (
            server.socket.getsockname()
        )  # fmt: skip
        server.daemon_threads = True
        server.handle_error = lambda *_: None  # type: ignore[method-assign]  # nodes are killed
        self.port = server.server_address[1]
        self._server = server
        threading.Thread(target=server.serve_forever, daemon=True).start()

    def close(self) -> None:
        with self.changed:
            self._stop = True
            self.changed.notify_all()
        self._server.shutdown()
        self._server.server_close()

    def now(self) -> float:
        return time.time() + self.ahead_s

    def order(self, order: Start | Stop) -> None:
        with self.changed:
            numbered = Numbered(
                node=NODE, sequence=len(self.orders) + 1, issued_unix_s=self.now(), order=order
            )
            self.orders.append(seal(self.key, numbered))
            self.changed.notify_all()

    def until(self, holds: Callable[[], bool], seconds: float = 240.0) -> None:
        """Wait for something that the node says; the time is a limit for what went wrong."""
        with self.changed:
            assert self.changed.wait_for(holds, seconds), self.told()

    def told(self, run: str | None = None) -> list[Any]:
        """Return what was told of a run, in order."""
        bodies = [self.events[one].body for one in sorted(self.events)]
        return [one for one in bodies if run is None or getattr(one, "run", None) == run]

    def kinds(self, run: str) -> list[str]:
        return [one.kind for one in self.told(run)]

    def is_over(self, run: str) -> bool:
        return bool({"finished", "refused"} & set(self.kinds(run)))

    def answer(self, request: Request, headers: dict[str, str]) -> tuple[int, bytes]:
        """Answer a request as docs/testbed.md says."""
        if self.busy:
            return 503, b""
        try:
            claim = claim_of(headers)
            join = request.path == "/agent/join"
            key = json.loads(request.body)["key"] if join else self.node_key
            self._nonces.check(claim, request, headers, lambda _: key, self.now())
        except WrongClockError as error:
            said = Problem(error=str(error), code="clock", now_unix_s=self.now())
            return 401, said.model_dump_json().encode()
        except RefusedError as error:
            return 401, Problem(error=str(error), code="unauthorised").model_dump_json().encode()
        found = self._route(request)
        if isinstance(found, bytes):
            return 200, found
        if found is None:
            return 404, Problem(error="not here", code="missing").model_dump_json().encode()
        return 200, found.model_dump_json().encode()

    def _route(self, request: Request) -> Any:
        parts = request.path.strip("/").split("/")[1:]
        with self.changed:
            try:
                return self._do(request, parts)
            finally:
                self.changed.notify_all()

    def _do(self, request: Request, parts: list[str]) -> Any:
        if parts == ["join"]:
            asked = Join.model_validate_json(request.body)
            if asked.code not in self.codes:
                return None
            self.codes.remove(asked.code)
            self.node_key = asked.key
            return Joined(name=asked.name, key=self.key.public, now_unix_s=self.now())
        if parts == ["next"]:
            after = int(request.query.removeprefix("after="))
            self.changed.wait_for(lambda: len(self.orders) > after or self._stop, 50)
            return Orders(now_unix_s=self.now(), orders=tuple(self.orders[after : after + 50]))
        if parts == ["events"]:
            events = Events.model_validate_json(request.body)
            for one in events.events:
                self.events.setdefault((events.outbox, one.sequence), one)
            return Stored(upto=events.events[-1].sequence)
        if parts == ["heartbeat"]:
            self.heartbeats.append(Heartbeat.model_validate_json(request.body))
            return HeartbeatAnswer(now_unix_s=self.now(), newest_order=len(self.orders))
        if parts[0] == "inputs":
            return self.inputs.get(parts[1])
        if parts[0] == "runs":
            return self._declare(parts[1], json.loads(request.body)["artefact"])
        return self._part(parts[1], int(request.query.removeprefix("offset=")), request.body)

    def _declare(self, run: str, artefact: Any) -> Held:
        upload = hashlib.sha256(f"{run} {artefact['name']}".encode()).hexdigest()[:24]
        self.declared[upload] = (run, artefact)
        had = self.files.setdefault((run, artefact["name"]), b"")
        return Held(upload=upload, held=len(had), done=len(had) == artefact["bytes"])

    def _part(self, upload: str, offset: int, part: bytes) -> Held:
        run, artefact = self.declared[upload]
        place = (run, artefact["name"])
        assert offset == len(self.files[place])
        self.files[place] += part
        done = len(self.files[place]) == artefact["bytes"]
        if done:
            assert hashlib.sha256(self.files[place]).hexdigest() == artefact["sha256"]
        return Held(upload=upload, held=len(self.files[place]), done=done)


def _handler(far: FarOrchestrator) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _any(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            target = urlsplit(self.path)
            headers = {name.lower(): value for name, value in self.headers.items()}
            code, said = far.answer(Request(self.command, target.path, target.query, body), headers)
            try:
                self.send_response(code)
                self.send_header("Content-Length", str(len(said)))
                self.end_headers()
                self.wfile.write(said)
            except OSError:  # the node was killed
                self.close_connection = True

        do_GET = do_POST = do_PUT = _any

        def log_message(self, *_: object) -> None:
            pass

    return Handler


def run_id(number: int) -> str:
    return f"{number:024x}"


def specification(number: int, **more: Any) -> RunSpecification:
    """Return a run that begins now; ``argv`` or ``study`` is what it does."""
    now = time.time()
    plain: dict[str, Any] = {
        "run": run_id(number), "fence": number + 1, "node": NODE, "kind": "command",
        "start_unix_s": now, "latest_start_unix_s": now + 600.0, "seconds": 120.0,
        "work": Command(argv=more.pop("argv", ("true",))), "limits": Limits(network_bytes=10**7),
        "origin": Origin(experiment=run_id(900_000 + number), user=more.pop("user", "anna")),
    }  # fmt: skip
    if "study" in more:
        plain |= {"work": Study(file=more.pop("study")), "kind": "mptcp"}
    if "packed" in more:
        packed = more.pop("packed")
        plain["input"] = Input(sha256=hashlib.sha256(packed).hexdigest(), bytes=len(packed))
    return RunSpecification(**(plain | more))
