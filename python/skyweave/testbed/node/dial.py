"""A node's way to the orchestrator: HTTPS that it dials itself, signed requests, patience."""

from __future__ import annotations

import hashlib
import random
import socket
import ssl
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol, TypeVar
from urllib.parse import urlsplit

import httpx2
from pydantic import ValidationError

from skyweave.testbed.errors import TestbedError
from skyweave.testbed.wire import (
    Artefact,
    Declared,
    Events,
    Heartbeat,
    HeartbeatAnswer,
    Held,
    Message,
    Orders,
    PrivateKey,
    Problem,
    Request,
    Stored,
    sign,
)
from skyweave.testbed.wire.names import MOST_BODY_BYTES, MOST_INPUT_BYTES, PART_BYTES, POLL_S

ANSWER_S = 30.0
FIRST_S, LONGEST_S = 1.0, 60.0
AGAIN = {429, 500, 502, 503, 504}
"""Answers after which the same request makes sense."""
AnyMessage = TypeVar("AnyMessage", bound=Message)


class AwayError(TestbedError):
    """The orchestrator cannot be reached, or is busy: try again later."""


class Link(Protocol):
    """What a node asks of its orchestrator; all raise :class:`AwayError` when it is away."""

    def orders(self, after: int) -> Orders:
        """Return orders after a number, waiting for them for a while."""

    def events(self, events: Events) -> Stored:
        """Tell events."""

    def heartbeat(self, heartbeat: Heartbeat) -> HeartbeatAnswer:
        """Say that the node is well."""

    def input(self, sha256: str) -> bytes:
        """Return the file tree of a run."""

    def send(self, run: str, artefact: Artefact, file: Path) -> None:
        """Send a file of a run, from where an earlier try ended."""


class Backoff:
    """How long to wait after failures: from 1 s, twice as long each time, to 60 s, never giving up.

    Each wait is drawn from half to all of that, so that nodes do not come back all at once.
    """

    def __init__(self, draw: Callable[[], float] = random.random) -> None:
        self._draw, self._failures = draw, 0

    def failed(self) -> float:
        """Return how long to wait now, in seconds."""
        most = min(FIRST_S * 2.0 ** min(self._failures, 10), LONGEST_S)
        self._failures += 1
        return most * (0.5 + 0.5 * self._draw())

    def worked(self) -> None:
        """Begin anew after the next failure."""
        self._failures = 0


class HttpLink:
    """The orchestrator over HTTPS; ``correction`` is added to the clock that requests carry."""

    def __init__(self, url: str, pin: str | None, name: str, key: PrivateKey) -> None:
        self._url, self._pin, self._name, self._key = url, pin, name, key
        self._client: httpx2.Client | None = None
        self._lock = threading.Lock()
        self.correction_s = 0.0

    def close(self) -> None:
        """End all connections; requests under way fail."""
        with self._lock:
            if self._client is not None:
                self._client.close()
            self._client = None

    def orders(self, after: int) -> Orders:
        """Return orders; see :class:`Link`."""
        said = self._ask("GET", "/agent/next", query=f"after={after}", wait_s=POLL_S + ANSWER_S)
        return _read(Orders, said)

    def events(self, events: Events) -> Stored:
        """Tell events; see :class:`Link`."""
        return _read(Stored, self._ask("POST", "/agent/events", body=_body(events)))

    def heartbeat(self, heartbeat: Heartbeat) -> HeartbeatAnswer:
        """Say that the node is well; see :class:`Link`."""
        said = self._ask("POST", "/agent/heartbeat", body=_body(heartbeat))
        return _read(HeartbeatAnswer, said)

    def input(self, sha256: str) -> bytes:
        """Return a file tree; see :class:`Link`."""
        return self._ask("GET", f"/agent/inputs/{sha256}", most=MOST_INPUT_BYTES)

    def send(self, run: str, artefact: Artefact, file: Path) -> None:
        """Send a file; see :class:`Link`."""
        declared = _body(Declared(artefact=artefact))
        held = _read(Held, self._ask("POST", f"/agent/runs/{run}/artefacts", body=declared))
        with file.open("rb") as opened:
            while not held.done:
                opened.seek(held.held)
                part = opened.read(PART_BYTES)
                if not part:
                    raise TestbedError(f"{file}: is shorter than was said; it cannot be sent")
                said = self._ask(
                    "PUT", f"/agent/uploads/{held.upload}", query=f"offset={held.held}", body=part
                )
                held = _read(Held, said)

    def join(self, body: bytes) -> bytes:
        """Ask to join; the name of the key is ``join`` then."""
        return self._ask("POST", "/agent/join", body=body)

    def _ask(
        self, method: str, path: str, *, query: str = "", body: bytes = b"",
        wait_s: float = ANSWER_S, most: int = MOST_BODY_BYTES,
    ) -> bytes:  # fmt: skip
        """Ask, a second time if only the clock was wrong."""
        for last in (False, True):
            code, said = self._once(method, path, query, body, wait_s, most)
            if code < 300:
                return said
            problem = _problem(said)
            if code in AGAIN:
                raise AwayError(f"{self._url}: {code}{_because(problem)}")
            if problem is not None and problem.now_unix_s is not None and not last:
                self.correction_s = problem.now_unix_s - time.time()
                continue
            break
        raise TestbedError(f"{self._url} refused {method} {path}: {code}{_because(problem)}")

    def _once(
        self, method: str, path: str, query: str, body: bytes, wait_s: float, most: int
    ) -> tuple[int, bytes]:
        request = Request(method, path, query, body)
        headers = sign(request, self._key, self._name, time.time() + self.correction_s)
        if body:
            binary = path.startswith("/agent/uploads/")
            kind = "application/octet-stream" if binary else "application/json"
            headers["Content-Type"] = kind
        target = f"{self._url}{path}" + (f"?{query}" if query else "")
        try:
            with self._connected().stream(
                method, target, content=body, headers=headers,
                timeout=httpx2.Timeout(ANSWER_S, read=wait_s),
            ) as answer:  # fmt: skip
                came = bytearray()
                for piece in answer.iter_bytes():
                    came += piece
                    if len(came) > most:
                        raise AwayError(f"{self._url}: its answer has more than {most:,} bytes")
                return answer.status_code, bytes(came)
        except (httpx2.HTTPError, OSError, RuntimeError) as error:
            why = str(error)[:200] or type(error).__name__
            raise AwayError(f"{self._url}: cannot be reached ({why})") from None

    def _connected(self) -> httpx2.Client:
        with self._lock:
            if self._client is None:
                verify: Any = True
                if self._pin is not None:
                    verify = _trusting(self._url, self._pin)
                self._client = httpx2.Client(verify=verify, trust_env=False, follow_redirects=False)
            return self._client


def _trusting(url: str, pin: str) -> ssl.SSLContext:
    """Return a context that trusts one certificate alone: the one with this fingerprint.

    Raises :class:`TestbedError` if another one is shown: somebody is in between.
    """
    parts = urlsplit(url)
    host, port = parts.hostname or "", parts.port or 443
    asking = ssl.create_default_context()
    asking.check_hostname, asking.verify_mode = False, ssl.CERT_NONE
    with (
        socket.create_connection((host, port), timeout=ANSWER_S) as plain,
        asking.wrap_socket(plain, server_hostname=host) as wrapped,
    ):
        shown = wrapped.getpeercert(binary_form=True) or b""
    if hashlib.sha256(shown).hexdigest() != pin:
        raise TestbedError(
            f"{url}: shows another certificate than the invitation names; somebody may be in "
            "between, or the orchestrator has a new one: ask for a new invitation"
        )
    context = ssl.create_default_context(cadata=ssl.DER_cert_to_PEM_cert(shown))
    context.check_hostname = False  # this certificate and no other, whatever names it has
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    return context


def _body(message: Message) -> bytes:
    return message.model_dump_json().encode()


def _read(model: type[AnyMessage], said: bytes) -> AnyMessage:
    try:
        return model.model_validate_json(said)
    except ValidationError:
        raise AwayError(
            "the orchestrator's answer makes no sense; is it another version?"
        ) from None


def _problem(said: bytes) -> Problem | None:
    try:
        return Problem.model_validate_json(said)
    except ValidationError:
        return None


def _because(problem: Problem | None) -> str:
    return "" if problem is None else f" ({problem.error})"
