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

MOST_MBPS = 100_000
"""Largest limit of a fetch."""


@dataclass(frozen=True)
class PathState:
    """One path; ``received_bytes`` are those of UDP payload, ``unique_bytes`` those of the file and
    of what HTTP says beside it."""

    name: str
    open: bool
    received_bytes: int
    unique_bytes: int
    srtt_ms: float | None


@dataclass(frozen=True)
class Notice:
    """What happened to a path: ``up``, ``down`` (and why), ``one`` (the server knows no more); or
    ``again``: the connection ended, why, and another one is tried."""

    kind: str
    path: str
    why: str


@dataclass(frozen=True)
class Progress:
    """How far a fetch is; ``total``: bytes of the file, once the server has said so."""

    bytes: int
    total: int | None
    paths: tuple[PathState, ...]
    notices: tuple[Notice, ...]


@dataclass(frozen=True)
class Fetched:
    """What a fetch came to.

    ``verified``: the SHA-256 of the file is what the server says (RFC 9530). ``connections``: how
    many it took; ``paths`` are those of the last one.
    """

    bytes: int
    seconds: float
    multipath: bool
    verified: bool
    connections: int
    paths: tuple[PathState, ...]


@dataclass(frozen=True)
class Order:
    """What else is asked for.

    ``resume``: what an earlier fetch kept in ``OUT.part`` is not fetched again. ``token``: what the
    server wants to see. ``limit_mbps``: Mbit/s of the file, at most. ``retry_for_s``: how long
    another connection is tried when one has ended before its time; 0: none is.
    """

    resume: bool = False
    token: str | None = None
    limit_mbps: float | None = None
    retry_for_s: float = 60.0

    def request(self) -> dict[str, Any]:
        """Return it as the seam takes it. Raises :class:`ConfigError`."""
        limit = self.limit_mbps
        if limit is not None and not 0.1 <= limit <= MOST_MBPS:
            raise ConfigError(f"a limit is 0.1 to {MOST_MBPS} Mbit/s, not {limit}")
        return {
            "resume": self.resume,
            "token": self.token,
            "most_bytes_per_second": None if limit is None else int(limit * 1e6 / 8),
            "retry_for_s": self.retry_for_s,
        }


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
    order: Order = Order(),
) -> Fetched:
    """Fetch a file over HTTP/3 on multipath QUIC into ``out``; ``OUT.part`` until it is complete.

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
        "hq": target.hq,
        **order.request(),
        "options": options or {},
    }

    def look(said: str) -> None:
        state = json.loads(said)
        notices = tuple(Notice(*notice) for notice in state["notices"])
        watch(Progress(state["bytes"], state["total"], _paths(state), notices))

    try:
        done = json.loads(_skyweave.quic_fetch(json.dumps(request), look, hints))
    except ValueError as error:
        raise ConfigError(str(error)) from None
    except OSError as error:
        raise QuicError(str(error)) from None
    return Fetched(**{**done, "paths": _paths(done)})


def _paths(state: dict[str, Any]) -> tuple[PathState, ...]:
    return tuple(PathState(**path) for path in state["paths"])
