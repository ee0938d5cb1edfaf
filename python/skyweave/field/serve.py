"""The far end of runs: who knows the token may send and receive here, one run at a time.

One port has the conversation (TCP) and answers probes (UDP, as ``skyweave probe serve`` does); the
ports after it carry the data of a run, while it lasts. Times are those of this machine's clock.
"""

from __future__ import annotations

import contextlib
import hmac
import platform
import socket
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from skyweave.errors import ConfigError, SkyweaveError
from skyweave.field import films
from skyweave.field.line import Line
from skyweave.field.words import (
    MOST_ORDER_BYTES,
    MOST_ROWS,
    SECOND_NS,
    Clock,
    Collect,
    FarFlow,
    Go,
    Hello,
    Known,
    Listen,
)
from skyweave.live.traffic.ends import Ends
from skyweave.live.traffic.kernel import own_congestion, set_congestion
from skyweave.telemetry.probes import echo
from skyweave.version import code_version

PATIENCE_S = 5.0
"""For the first word."""
IDLE_S = 120.0
MOST_TALKS = 32
MOST_TRIES = 200
"""Wrong tokens; after that only connections that are there go on."""
_AVAILABLE = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
_AHEAD_NS = 60 * SECOND_NS
"""How far in the future a run may begin."""


class FieldServer:
    """Listens from the beginning, until :meth:`close`."""

    def __init__(
        self, address: str, ports: Sequence[int], token: str, films: Path | None = None
    ) -> None:
        """Take ``ports``: the first for words and probes, the others for data.

        ``films``: the folder of those that players may be served. Raises :class:`ConfigError` if
        a port is not available.
        """
        self.films = films
        self._address, self._data, self._token = address, list(ports[1:]), token.encode()
        self._lock, self._turn = threading.Lock(), threading.Lock()
        self._talks, self._tries = 0, 0
        self._done: tuple[str, dict[str, Any]] = ("", {})
        try:
            self._listening = socket.create_server((address, ports[0]))
        except OSError as error:
            raise ConfigError(
                f"{address}:{ports[0]} is not available ({error.strerror}); choose another --listen"
            ) from None
        self.port: int = self._listening.getsockname()[1]
        try:
            self._echo = echo.listen(address, self.port)
        except ConfigError:
            self._listening.close()
            raise
        self._bell, self._rung = socket.socketpair()
        self._threads = [
            threading.Thread(target=self._serve, daemon=True),
            threading.Thread(
                target=echo.EchoServer().serve, args=(self._echo, self._rung), daemon=True
            ),
        ]
        for one in self._threads:
            one.start()

    def close(self) -> None:
        """Listen no more; what is under way ends with the process."""
        with contextlib.suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self._bell.send(b"!")
        for one in self._threads:
            one.join()
        for each in (self._echo, self._bell, self._rung):
            each.close()

    def _serve(self) -> None:
        while True:
            try:
                end, peer = self._listening.accept()
            except OSError:
                return
            with self._lock:
                full = self._talks >= MOST_TALKS or self._tries >= MOST_TRIES
                self._talks += not full
            if full:
                end.close()
                continue
            threading.Thread(target=self._talk, args=(end, str(peer[0])), daemon=True).start()

    def _talk(self, end: socket.socket, peer: str) -> None:
        line = Line(end)
        try:
            if self._is_known(line):
                line.send(_known(peer).model_dump(mode="json"), PATIENCE_S)
                with contextlib.closing(_Talk(self, line)) as talk:
                    talk.go_on()
        except (OSError, SkyweaveError):
            pass  # it is gone, or talks nonsense: the connection ends
        finally:
            line.close()
            with self._lock:
                self._talks -= 1

    def _is_known(self, line: Line) -> bool:
        try:
            hello = Hello.model_validate(line.receive(PATIENCE_S, 1000))
            known = hmac.compare_digest(hello.token.encode(), self._token)
        except (ValidationError, OSError, SkyweaveError):
            known = False
        if not known:
            with self._lock:
                self._tries += 1
        return known

    def places(self) -> list[tuple[str, int]]:
        """Return where data may come in."""
        return [(self._address, port) for port in self._data]

    @contextlib.contextmanager
    def turn(self) -> Any:
        """Be the only run; :class:`ConfigError` if there is one."""
        if not self._turn.acquire(blocking=False):
            raise ConfigError("the server carries another run; wait until that is over")
        try:
            yield
        finally:
            self._turn.release()

    def keep(self, run: str, answer: dict[str, Any]) -> None:
        """Keep the answer of the last run, for whom a broken connection kept from it."""
        self._done = run, answer

    def kept(self, run: str) -> dict[str, Any]:
        """Return it; empty: there is none, or not yet."""
        of, answer = self._done
        return answer if of == run else {}


def _known(peer: str) -> Known:
    return Known(
        you=peer.removeprefix("::ffff:"), kernel=platform.release()[:200],
        skyweave=code_version()[:100], congestion=congestion_controls(),
    )  # fmt: skip


def congestion_controls() -> tuple[str, ...]:
    """Return the kernel's controls that this process may set: root all, others what is allowed."""
    there = _AVAILABLE.read_text().split() if _AVAILABLE.exists() else []
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as one:
        return tuple(name for name in there if _may_set(one, name))


def _may_set(one: socket.socket, name: str) -> bool:
    try:
        set_congestion(one, name)
    except OSError:
        return False
    return True


class _Talk:
    """A conversation with somebody who knows the token."""

    def __init__(self, server: FieldServer, line: Line) -> None:
        self._server, self._line = server, line
        self._flows: tuple[FarFlow, ...] = ()
        self._ends: Ends | None = None
        self._film: contextlib.ExitStack | None = None

    def go_on(self) -> None:
        """Answer until the other side hangs up; :class:`OSError` then."""
        words: dict[str, tuple[type[BaseModel], Any]] = {
            "clock": (Clock, self._clock), "listen": (Listen, self._listen),
            "go": (Go, self._go), "collect": (Collect, self._collect),
        }  # fmt: skip
        while True:
            said = self._line.receive(IDLE_S, MOST_ORDER_BYTES)
            shape, do = words.get(str(said.get("do")), (Clock, None))
            try:
                answer = {"error": "no such word"} if do is None else do(shape.model_validate(said))
            except ValidationError as error:
                answer = {"error": f"not understood: {error.errors()[0]['msg']}"[:500]}
            except (SkyweaveError, OSError, ValueError) as error:
                answer = {"error": str(error)[:500]}
            self._line.send(answer, IDLE_S)

    def close(self) -> None:
        """Listen no more for what did not begin."""
        if self._ends is not None:
            self._ends.close()
            self._ends = None
        if self._film is not None:
            self._film.close()
            self._film = None

    def _clock(self, _: Clock) -> dict[str, Any]:
        return {"now_ns": time.monotonic_ns()}

    def _listen(self, word: Listen) -> dict[str, Any]:
        places = self._server.places()
        if len(word.flows) > len(places):
            raise ConfigError(f"{len(word.flows)} connections, and the server has {len(places)} "
                              "ports for data")  # fmt: skip
        self.close()
        if any(one.film is not None for one in word.flows):
            return self._offer(word.flows, places[0][1])
        flows = [_flow(one, number, places[number], 0) for number, one in enumerate(word.flows)]
        ends = Ends()
        pins = ends.listen(flows)
        self._ends, self._flows = ends, word.flows
        return {"ports": [port for _, port in places[: len(flows)]], "pins": pins}

    def _offer(self, flows: tuple[FarFlow, ...], port: int) -> dict[str, Any]:
        """Serve a film at the first port of data."""
        if len(flows) > 1 or flows[0].transport == "mpquic":
            raise ConfigError("a film for a player that is a program is one connection of TCP")
        with contextlib.ExitStack() as stack:
            stack.enter_context(films.offered(self._server.films, flows[0], port))
            self._film = stack.pop_all()
        self._flows = flows
        return {"ports": [port], "pins": {}}

    def _go(self, word: Go) -> dict[str, Any]:
        ends, flows = self._ends, self._flows
        if ends is None and self._film is None:
            raise ConfigError("nothing is listened for")
        if not 0 <= word.epoch_ns - time.monotonic_ns() + _AHEAD_NS <= 2 * _AHEAD_NS:
            raise ConfigError("the run does not begin now")
        if max(one.end_ns for one in flows) / word.interval_ns > MOST_ROWS:
            raise ConfigError(f"more than {MOST_ROWS:,} samples; raise sample_interval_ms")
        orders = [
            _flow(one, number, place, word.epoch_ns)
            for number, (one, place) in enumerate(zip(flows, self._server.places(), strict=False))
        ]
        with self._server.turn(), contextlib.closing(self):
            if ends is None:
                port = self._server.places()[0][1]
                seen = [films.watched(flows[0], port, word.epoch_ns, word.interval_ns)]
            else:
                seen = ends.carry(orders, word.epoch_ns, word.interval_ns)
        answer = {"transfers": seen}
        self._server.keep(word.run, answer)
        return answer

    def _collect(self, word: Collect) -> dict[str, Any]:
        return self._server.kept(word.run)


def _flow(one: FarFlow, number: int, place: tuple[str, int], epoch_ns: int) -> dict[str, Any]:
    """Return a connection as :class:`Ends` takes it."""
    common: dict[str, Any] = {
        "place": number, "transport": one.transport, "server": place, "sends": one.sends,
        "start_ns": epoch_ns + one.start_ns, "end_ns": epoch_ns + one.end_ns,
        "workload": one.workload,
    }  # fmt: skip
    if one.transport == "mpquic":
        return {**common, "behaviour": one.behaviour or {}, "forecasts": []}
    control = one.congestion or own_congestion()
    kernel = {"size_bytes": one.size_bytes, "congestion": control, "source": "0.0.0.0"}
    return {**common, **kernel}
