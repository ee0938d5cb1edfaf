"""Fetching a file over several interfaces: ``fetch``."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skyweave import _skyweave
from skyweave.errors import ConfigError
from skyweave.quic.errors import QuicError
from skyweave.quic.url import Target


@dataclass(frozen=True)
class PathState:
    """One path; ``received_bytes`` are those of UDP payload, ``unique_bytes`` the file's."""

    name: str
    open: bool
    received_bytes: int
    unique_bytes: int
    srtt_ms: float | None


@dataclass(frozen=True)
class Notice:
    """What happened to a path: ``up``, ``down`` (and why), ``one`` (the server knows no more)."""

    kind: str
    path: str
    why: str


@dataclass(frozen=True)
class Progress:
    """How far a fetch is."""

    bytes: int
    paths: tuple[PathState, ...]
    notices: tuple[Notice, ...]


@dataclass(frozen=True)
class Fetched:
    """What a fetch came to."""

    bytes: int
    seconds: float
    multipath: bool
    paths: tuple[PathState, ...]


@dataclass(frozen=True)
class Verification:
    """How the server is known: by a fingerprint, a file of authorities, or this machine's."""

    pin: str | None = None
    ca: Path | None = None


def fetch(
    target: Target,
    out: Path,
    paths: Sequence[str] = (),
    verification: Verification = Verification(),
    options: dict[str, Any] | None = None,
    timeout_s: float = 10.0,
    watch: Callable[[Progress], None] = lambda _: None,
    hints: _skyweave.QuicHints | None = None,
) -> Fetched:
    """Fetch a file over HTTP/0.9 on multipath QUIC into ``out``; ``OUT.part`` until it is complete.

    ``paths``: interfaces or addresses of this machine, none: the default route. ``watch`` is
    called ten times a second, and ends the fetch by raising. ``hints``: a board of forecasts
    (:func:`skyweave.quic.hints.hearing`). Raises :class:`ConfigError` and
    :class:`QuicError`.
    """
    request = {
        "host": target.host,
        "port": target.port,
        "path": target.path,
        "out": str(out),
        "paths": list(paths),
        "pin": verification.pin,
        "ca": None if verification.ca is None else str(verification.ca),
        "timeout_s": timeout_s,
        "options": options or {},
    }

    def look(said: str) -> None:
        state = json.loads(said)
        notices = tuple(Notice(*notice) for notice in state["notices"])
        watch(Progress(state["bytes"], _paths(state), notices))

    try:
        done = json.loads(_skyweave.quic_fetch(json.dumps(request), look, hints))
    except ValueError as error:
        raise ConfigError(str(error)) from None
    except OSError as error:
        raise QuicError(str(error)) from None
    return Fetched(done["bytes"], done["seconds"], done["multipath"], _paths(done))


def _paths(state: dict[str, Any]) -> tuple[PathState, ...]:
    return tuple(PathState(**path) for path in state["paths"])
