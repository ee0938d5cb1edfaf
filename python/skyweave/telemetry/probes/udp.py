"""Probes to ``skyweave probe serve``; the datagrams are described in ``echo``."""

from __future__ import annotations

from skyweave.telemetry.probes.echo import (
    COOKIE_BYTES,
    HELLO_BYTES,
    MAGIC,
    PROBE_BYTES,
)
from skyweave.telemetry.probes.probe import OneSocket, udp_socket

RENEW = 600
"""Probes after which a new cookie is asked for: one minute at ten a second."""
_AT = len(MAGIC) + 3


class UdpProbe(OneSocket):
    """Echoes; until the first cookie is there, a probe is the question for it."""

    most_timeout_s = 60.0

    def __init__(self, host: str, port: int, device: str | None = None) -> None:
        self.name = f"udp:{host}:{port}"
        super().__init__(udp_socket(host, port, device))
        self._cookie: bytes | None = None
        self._renewed = 0

    def send(self, number: int) -> None:
        """Send a probe, and ask for a cookie when it is time.

        A probe before the first cookie cannot be answered: it is refused, not lost.
        """
        if self._cookie is None or number - self._renewed >= RENEW:
            self._renewed = number
            self._socket.send((MAGIC + b"H").ljust(HELLO_BYTES, b"\0"))
        if self._cookie is None:
            raise OSError(0, "no cookie of the server yet")
        probe = MAGIC + b"P\0\0" + self._cookie + number.to_bytes(8, "big")
        self._socket.send(probe.ljust(PROBE_BYTES, b"\0"))

    def _number(self, said: bytes) -> int | None:
        """Return the number of an echo; take a new cookie."""
        kind, cookie = said[: len(MAGIC) + 1], said[_AT : _AT + COOKIE_BYTES]
        if kind == MAGIC + b"C" and len(cookie) == COOKIE_BYTES:
            self._cookie = cookie
        elif kind == MAGIC + b"E" and len(said) >= PROBE_BYTES:
            return int.from_bytes(said[_AT + COOKIE_BYTES : _AT + COOKIE_BYTES + 8], "big")
        return None
