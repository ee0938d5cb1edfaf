"""What a probe is: something that sends numbered questions and recognises their answers."""

from __future__ import annotations

import socket
from typing import Protocol

from skyweave.errors import ConfigError, SkyweaveError

MOST_BYTES = 4096
"""The longest answer that is read."""


class ProbeError(SkyweaveError):
    """A probe that cannot be made: no such name, no permission."""


class Probe(Protocol):
    """One kind of probe of one target. Nothing here blocks."""

    name: str
    """Kind and target, as it stands in the files."""
    most_timeout_s: float
    """Beyond it an answer may belong to another question."""

    def send(self, number: int) -> None:
        """Send question ``number``; :class:`OSError` if the network refuses it now."""

    def sockets(self) -> list[socket.socket]:
        """Return what to wait for."""

    def receive(self, ready: socket.socket) -> list[int]:
        """Return the numbers that a socket has answers to; of strangers' answers none."""

    def forget(self, number: int) -> None:
        """Forget a question that nobody waits for any more."""

    def close(self) -> None:
        """Let go of all sockets."""


class OneSocket:
    """What probes with a single datagram socket have in common."""

    def __init__(self, made: socket.socket) -> None:
        self._socket = made

    def sockets(self) -> list[socket.socket]:
        """Return the one socket."""
        return [self._socket]

    def receive(self, ready: socket.socket) -> list[int]:
        """Return the numbers of all answers that are there."""
        found: list[int] = []
        while True:
            try:
                said = ready.recv(MOST_BYTES)
            except OSError:  # nothing more, or an error of the network
                return found
            number = self._number(said)
            if number is not None:
                found.append(number)

    def _number(self, said: bytes) -> int | None:
        """Return which question a datagram answers; None for what is no answer to one of ours."""
        raise NotImplementedError

    def forget(self, number: int) -> None:
        """Do nothing: numbers are in the datagrams, unless a probe says otherwise."""

    def close(self) -> None:
        """Let go of the socket."""
        self._socket.close()


def resolve(host: str, port: int, kind: int = socket.SOCK_DGRAM) -> tuple[int, tuple[str, int]]:
    """Return family and address of a target; :class:`ProbeError` if the name is not known."""
    try:
        found = socket.getaddrinfo(host, port, type=kind)[0]
    except (OSError, UnicodeError) as error:
        raise ProbeError(f"{host}: the name is not known ({error}); check the target") from None
    return int(found[0]), (str(found[4][0]), int(found[4][1]))


def udp_socket(host: str, port: int, device: str | None = None) -> socket.socket:
    """Return a connected socket: the kernel lets only answers of this target through.

    ``device``: the network device that it uses; ``None``: as the routes say.
    """
    family, place = resolve(host, port)
    made = socket.socket(family, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
    try:
        if device is not None:  # first, so that the source address is one of the device's
            made.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, device.encode())
        made.connect(place)
    except OSError as error:
        made.close()
        raise ProbeError(f"{host}: cannot be reached ({error.strerror}); check it") from None
    return made


def port_of(text: str, least: int = 1) -> int:
    """Read a port; :class:`ConfigError <skyweave.errors.ConfigError>` for what is none."""
    if not (text.isascii() and text.isdigit() and least <= int(text) < 65_536):
        raise ConfigError(f"'{text[:40]}' is no port; give 1 to 65535")
    return int(text)
