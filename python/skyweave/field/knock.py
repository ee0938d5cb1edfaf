"""A measurement server's gate: who shows the token of a run there is let in by its address."""

from __future__ import annotations

import json
import socket
from typing import Any

from skyweave.field.errors import FieldError

HELLO = b"SKYWEAVE-KNOCK "
ANSWER_S = 60.0
"""How long services may take to start."""
MOST_ANSWER = 10_000


def knock(
    server: str, port: int, token: str, device: str | None = None, source: str | None = None
) -> dict[str, Any]:
    """Show the token at a gate, from a network device and an address if they are named.

    Returns what the gate says, an object that is not looked into. Raises :class:`FieldError` if
    nobody answers, or nothing is said to this token.
    """
    try:
        with socket.socket(socket.AF_INET6 if ":" in server else socket.AF_INET) as end:
            end.settimeout(ANSWER_S)
            if device is not None:
                end.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, device.encode())
            if source is not None:
                end.bind((source, 0))
            end.connect((server, port))
            end.sendall(HELLO + token.encode() + b"\n")
            answer = b""
            while b"\n" not in answer and len(answer) < MOST_ANSWER:
                more = end.recv(MOST_ANSWER)
                if not more:
                    break
                answer += more
    except OSError as error:
        why = error.strerror or str(error)
        raise FieldError(f"{server}:{port}: the server's gate does not answer ({why})") from None
    try:
        said = json.loads(answer)
    except (ValueError, RecursionError):
        said = None
    if not isinstance(said, dict):
        raise FieldError(
            f"{server}:{port}: the server's gate did not open; the lease is over, or the token "
            "is another run's"
        )
    if isinstance(said.get("error"), str):
        raise FieldError(f"{server}:{port}: the server cannot serve: {said['error'][:300]}")
    return said
