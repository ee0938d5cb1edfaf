"""The node's side of a gate: show the token, learn where the services are."""

from __future__ import annotations

import socket
from collections.abc import Mapping

from pydantic import ValidationError

from skyweave.testbed.errors import TestbedError
from skyweave.testbed.measure.gate import HELLO, Said

ANSWER_S = 60.0
"""How long services may take to start."""
MOST_ANSWER = 10_000


def gate_port(ports: Mapping[str, int]) -> int:
    """Return where the gate of a run is: below the lowest of its services' ports.

    >>> gate_port({"iperf3": 5202, "probe": 5201})
    5200
    """
    if not ports:
        raise TestbedError("the run has no service of a server; name one in the experiment")
    return min(ports.values()) - 1


def knock(server: str, port: int, token: str, device: str | None = None) -> Said:
    """Show the token at a gate, from a network device if one is named; return what it says.

    Raises :class:`TestbedError` if nobody answers, or nothing is said to this token.
    """
    try:
        with socket.socket(socket.AF_INET6 if ":" in server else socket.AF_INET) as end:
            end.settimeout(ANSWER_S)
            if device is not None:
                end.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, device.encode())
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
        raise TestbedError(f"{server}:{port}: the server's gate does not answer ({why})") from None
    try:
        return Said.model_validate_json(answer)
    except ValidationError:
        raise TestbedError(
            f"{server}:{port}: the server's gate did not open; the lease is over, or the token "
            "is another run's"
        ) from None
