"""TCP connections of any program over multipath QUIC: ``GatewayServer`` and ``Connector``.

``crates/sockets/src/gateway`` says how they pass.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from skyweave import _skyweave
from skyweave.errors import ConfigError
from skyweave.printing import visible
from skyweave.quic.errors import QuicError
from skyweave.quic.fetch import Notice, PathState, Verification
from skyweave.quic.listen import Listen, host_and_port, joined
from skyweave.steady import steady

Side = TypeVar("Side")


@dataclass(frozen=True)
class Origin:
    """A server behind a gateway, and what clients call it."""

    name: str
    host: str
    port: int


@dataclass(frozen=True)
class Door:
    """Where programs connect to, ``ADDRESS:PORT`` of this machine, and the origin that they reach.

    No name: the gateway's first origin.
    """

    origin: str
    listen: str


@dataclass(frozen=True)
class Passed:
    """What happened at a gateway or a client of it.

    ``opened``, ``closed``: the connection between both; a further ``path``; ``begun``, ``refused``,
    ``ended``: a TCP connection of ``who`` with ``origin``, and the bytes towards it (``up``) and
    from it; ``missed``: the number of events that were dropped.
    """

    kind: str
    who: str
    origin: str
    why: str | None
    up_bytes: int
    down_bytes: int

    def words(self) -> str:
        """Return a sentence about it, on one line whatever the client sent."""
        origin = f"'{visible(self.origin)}'" if self.origin else "the first origin"
        why = "" if self.why is None else visible(self.why)
        if self.kind == "missed":
            return f"{why} more events are not shown"
        sentence = {
            "opened": "connected",
            "path": f"a further path, from {why}",
            "begun": f"passes to {origin}",
            "refused": f"cannot pass to {origin}: {why}",
            "closed": f"over, {why}",
        }.get(self.kind)
        if sentence is None:
            volume = f"{self.up_bytes:,} bytes to it, {self.down_bytes:,} from it"
            sentence = f"ended with {origin}, {volume}" + (f"; {why}" if why else "")
        return f"{self.who}: {sentence}"


@dataclass(frozen=True)
class Passing:
    """How a client of a gateway is: its TCP connections, its paths, and what happened."""

    connections: int
    paths: tuple[PathState, ...]
    notices: tuple[Notice, ...]
    news: tuple[Passed, ...]


@dataclass(frozen=True)
class Reach:
    """A gateway, and how a client reaches it.

    ``paths``: interfaces or addresses of this machine, none: the default route.
    """

    host: str
    port: int
    verification: Verification
    paths: Sequence[str] = ()
    timeout_s: float = 10.0
    options: dict[str, Any] = field(default_factory=dict)


def parse_origin(text: str) -> Origin:
    """Return what ``[NAME=]HOST:PORT`` means. Raises :class:`ConfigError`.

    >>> parse_origin("film=localhost:8080"), parse_origin("[::1]:80")
    (Origin(name='film', host='localhost', port=8080), Origin(name='[::1]:80', host='::1', port=80))
    """
    name, equals, place = text.rpartition("=")
    host, port = host_and_port(place, "film=127.0.0.1:8080")
    if port == 0 or (equals and not name):
        raise ConfigError(f"'{text}' is no origin; give e.g. film=127.0.0.1:8080")
    return Origin(name or place, host, port)


def parse_door(text: str) -> Door:
    """Return what ``[NAME=]ADDRESS:PORT`` means. Raises :class:`ConfigError`.

    >>> parse_door("film=127.0.0.1:8080"), parse_door("[::1]:0")
    (Door(origin='film', listen='127.0.0.1:8080'), Door(origin='', listen='[::1]:0'))
    """
    name, _, place = text.rpartition("=")
    host, port = host_and_port(place, "127.0.0.1:8080")
    return Door(name, _addresses(host, port)[0])


def _addresses(host: str, port: int) -> list[str]:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise ConfigError(f"'{host}' has no address: {error.strerror}") from None
    return list(dict.fromkeys(joined(str(one[4][0]), port) for one in found))


class GatewayServer:
    """The server's side; listens from the beginning, and looks its origins' names up once.

    Raises :class:`ConfigError` and :class:`QuicError`.
    """

    def __init__(self, origins: Sequence[Origin], at: Listen) -> None:
        place = at.request()
        self.address: str = place["listen"]
        known = [{"name": one.name, "addresses": _addresses(one.host, one.port)} for one in origins]
        request = {"origins": known, "server": place}
        self._server = _made(_skyweave.QuicGateway, request)

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the certificate."""
        return self._server.fingerprint

    @property
    def port(self) -> int:
        """The UDP port."""
        return self._server.port

    def run(
        self,
        watch: Callable[[int, tuple[Passed, ...]], None],
        hints: _skyweave.QuicHints | None = None,
    ) -> None:
        """Serve until Ctrl-C; ``watch`` gets the number of clients and what happened.

        ``hints``: a board of forecasts (:func:`skyweave.quic.hints.hearing`).

        What ``watch`` raises is logged once and ends nothing. Raises :class:`ConfigError` and
        :class:`QuicError`.
        """
        unfailing = steady(watch, "the gateway's watcher")

        def look(said: str) -> None:
            clients, news = json.loads(said)
            unfailing(clients, tuple(Passed(**one) for one in news))

        _run(self._server, look, hints)


class Connector:
    """The client's side; listens on its doors from the beginning.

    Raises :class:`ConfigError` and :class:`QuicError`.
    """

    def __init__(self, gateway: Reach, doors: Sequence[Door]) -> None:
        known = gateway.verification
        request = {
            "host": gateway.host,
            "port": gateway.port,
            "doors": [{"listen": door.listen, "origin": door.origin} for door in doors],
            "paths": list(gateway.paths),
            "pin": known.pin,
            "ca": None if known.ca is None else str(known.ca),
            "timeout_s": gateway.timeout_s,
            "options": gateway.options,
        }
        self._doors = _made(_skyweave.QuicDoors, request)

    @property
    def addresses(self) -> list[str]:
        """Where it listens, in the order of its doors."""
        return self._doors.addresses

    def run(
        self, watch: Callable[[Passing], None], hints: _skyweave.QuicHints | None = None
    ) -> None:
        """Pass connections until Ctrl-C; ``watch`` is called ten times a second.

        ``hints``: a board of forecasts (:func:`skyweave.quic.hints.hearing`).

        What ``watch`` raises is logged once and ends nothing. Raises :class:`ConfigError` and
        :class:`QuicError` where the gateway is not reached at first.
        """
        unfailing = steady(watch, "the client's watcher")

        def look(said: str) -> None:
            state = json.loads(said)
            paths = tuple(PathState(**path) for path in state["paths"])
            notices = tuple(Notice(*notice) for notice in state["notices"])
            news = tuple(Passed(**one) for one in state["news"])
            unfailing(Passing(state["connections"], paths, notices, news))

        _run(self._doors, look, hints)


def _made(side: Callable[[str], Side], request: dict[str, Any]) -> Side:
    try:
        return side(json.dumps(request))
    except ValueError as error:
        raise ConfigError(str(error)) from None
    except OSError as error:
        raise QuicError(str(error)) from None


def _run(
    side: _skyweave.QuicGateway | _skyweave.QuicDoors,
    look: Callable[[str], None],
    hints: _skyweave.QuicHints | None,
) -> None:
    try:
        side.run(look, hints)
    except ValueError as error:
        raise ConfigError(str(error)) from None
    except OSError as error:
        raise QuicError(str(error)) from None
