"""A server of files: ``FileServer``."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from skyweave import _skyweave
from skyweave.errors import ConfigError
from skyweave.printing import visible
from skyweave.quic.errors import QuicError
from skyweave.quic.listen import Listen
from skyweave.steady import steady


@dataclass(frozen=True)
class Serve:
    """What is served, and where."""

    root: Path
    at: Listen
    hidden: bool = False
    """Files and folders whose names begin with a dot are served, too."""
    token: str | None = None
    """Only who bears it gets anything (RFC 6750)."""
    hq: bool = False
    """Over HTTP/0.9, too, for interoperability tests; with a token that gives nothing."""


@dataclass(frozen=True)
class Served:
    """What happened: ``opened``; a further ``path``, from what address; ``asked`` for what (None
    bytes: no such file); ``refused``, what and by which status (``bytes``); ``failed``, what and
    why; ``closed``; ``missed``, how many were dropped."""

    kind: str
    client: str
    what: str
    bytes: int | None

    def words(self) -> str:
        """Return a sentence about it, on one line whatever the client sent."""
        what = visible(self.what)
        if self.kind == "opened":
            return f"{self.client}: connected"
        if self.kind == "path":
            return f"{self.client}: a further path, from {what}"
        if self.kind == "missed":
            return f"{self.bytes:,} more events are not shown"
        if self.kind == "failed":
            return f"{self.client}: GET {what}; the client was told that the server is busy"
        if self.kind == "refused":
            return f"{self.client}: {what}: refused with status {self.bytes}"
        if self.kind == "closed":
            return f"{self.client}: over, {what}"
        answer = "no such file" if self.bytes is None else f"{self.bytes:,} bytes"
        return f"{self.client}: GET {what}: {answer}"


class FileServer:
    """Listens from the beginning. Raises :class:`ConfigError` and :class:`QuicError`."""

    def __init__(self, serve: Serve) -> None:
        if not serve.root.is_dir():
            raise ConfigError(f"{serve.root} is no folder; give one whose files are to be served")
        place = serve.at.request()
        self.address: str = place["listen"]
        request = {
            "root": str(serve.root),
            "hidden": serve.hidden,
            "token": serve.token,
            "hq": serve.hq,
            "server": place,
        }
        try:
            self._server = _skyweave.QuicFileServer(json.dumps(request))
        except ValueError as error:
            raise ConfigError(str(error)) from None
        except OSError as error:
            raise QuicError(str(error)) from None

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
        watch: Callable[[int, tuple[Served, ...]], None],
        hints: _skyweave.QuicHints | None = None,
    ) -> None:
        """Serve until Ctrl-C; ``watch`` gets the number of connections and what happened.

        ``hints``: a board of forecasts (:func:`skyweave.quic.hints.hearing`).

        What ``watch`` raises is logged once and ends nothing. Raises :class:`QuicError`.
        """

        def look(said: str) -> None:
            connections, news = json.loads(said)
            unfailing(connections, tuple(Served(*one) for one in news))

        unfailing = steady(watch, "the server's watcher")

        try:
            self._server.run(look, hints)
        except OSError as error:
            raise QuicError(str(error)) from None
