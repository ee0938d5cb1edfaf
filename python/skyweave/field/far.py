"""The far end of a run, as a person or a testbed's node names it."""

from __future__ import annotations

import json
import os
import re
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from skyweave.errors import ConfigError

DEFAULT_PORT = 5200
MOST_CONTEXT = 100_000
_TOKEN = re.compile(r"[A-Za-z0-9_-]{32,64}")


@dataclass(frozen=True)
class FarEnd:
    """A measurement server that is ready for one run."""

    address: str
    """IPv4."""
    port: int
    """Of the service ``field``."""
    token: str
    gate: int | None = None
    """A port to knock at first, from each uplink; ``None``: the service itself asks for the token.
    """

    @classmethod
    def found(cls, server: str | None, environment: Mapping[str, str] = os.environ) -> FarEnd:
        """Return the server that an option names, else that of the testbed's run.

        ``server``: ``HOST`` or ``HOST:PORT``; the token is in ``SKYWEAVE_TOKEN``, because
        everybody can read arguments. Raises :class:`ConfigError` for what is missing.
        """
        token = environment.get("SKYWEAVE_TOKEN", "")
        if server is None:
            return cls._of_run(token, environment)
        host, colon, port = server.partition(":")
        if colon and not (port.isascii() and port.isdigit() and 0 < int(port) < 65_536):
            raise ConfigError(f"--server {server[:80]}: give HOST or HOST:PORT, as 192.0.2.7:5200")
        if not _TOKEN.fullmatch(token):
            raise ConfigError(
                f"--server {server[:80]}: its token is not in SKYWEAVE_TOKEN; "
                "'skyweave measure field' on the server printed it"
            )
        return cls(_ipv4(host), int(port) if colon else DEFAULT_PORT, token)

    @classmethod
    def _of_run(cls, token: str, environment: Mapping[str, str]) -> FarEnd:
        address = environment.get("SKYWEAVE_SERVER")
        if not address:
            raise ConfigError(
                "runs of engine 'field' need a measurement server; give --server HOST:PORT, and in "
                "a testbed name a server and its service 'field' in the experiment"
            )
        try:
            pairs = (one.split("=") for one in environment.get("SKYWEAVE_PORTS", "").split(","))
            ports = {name: int(port) for name, port in pairs}
        except ValueError:
            ports = {}
        if "field" not in ports or not _TOKEN.fullmatch(token):
            raise ConfigError(
                f"server {address[:60]} has no service 'field' for this run; "
                "name it in the experiment: --service field"
            )
        return cls(_ipv4(address), ports["field"], token, min(ports.values()) - 1)


def facts_of(environment: Mapping[str, str] = os.environ) -> dict[str, Any] | None:
    """Return the testbed's run that this is, and what its trigger saw; ``None``: it is none."""
    run = environment.get("SKYWEAVE_RUN")
    if run is None:
        return None
    try:
        context = json.loads(environment.get("SKYWEAVE_CONTEXT", "{}")[:MOST_CONTEXT])
    except (ValueError, RecursionError):
        context = None
    return {"run": run[:64], "context": context}


def _ipv4(host: str) -> str:
    try:
        return str(socket.getaddrinfo(host, None, socket.AF_INET, socket.SOCK_STREAM)[0][4][0])
    except (OSError, UnicodeError, IndexError):
        raise ConfigError(
            f"'{host[:80]}' is no IPv4 address and no name of one; check --server"
        ) from None
