"""Questions to a name server (RFC 1035): the way there, and its answer from the cache."""

from __future__ import annotations

import secrets
import struct

from skyweave.telemetry.probes.probe import OneSocket, ProbeError, udp_socket

PORT = 53
_HEAD = struct.Struct("!HHHHHH")
MOST_ASKED = 2048
_RECURSE = 0x0100
_TYPE_A_CLASS_IN = struct.pack("!HH", 1, 1)


class DnsProbe(OneSocket):
    """Questions for the address of one name, each with a random identity."""

    most_timeout_s = 60.0

    def __init__(self, host: str, name: str, port: int = PORT) -> None:
        self.name = f"dns:{host}:{name}"
        self._question = encode_name(name) + _TYPE_A_CLASS_IN
        super().__init__(udp_socket(host, port))
        self._asked: dict[int, int] = {}

    def send(self, number: int) -> None:
        """Ask."""
        identity = secrets.randbelow(1 << 16)
        while identity in self._asked:
            identity = secrets.randbelow(1 << 16)
        self._socket.send(_HEAD.pack(identity, _RECURSE, 1, 0, 0, 0) + self._question)
        self._asked[identity] = number
        if len(self._asked) > MOST_ASKED:
            del self._asked[next(iter(self._asked))]

    def _number(self, said: bytes) -> int | None:
        """Return which question was answered, whatever the answer is."""
        if len(said) < _HEAD.size:
            return None
        identity, flags, questions, *_ = _HEAD.unpack_from(said)
        same = said[_HEAD.size : _HEAD.size + len(self._question)].lower()
        if flags & 0x8000 and questions == 1 and same == self._question.lower():
            return self._asked.get(identity)
        return None

    def forget(self, number: int) -> None:
        """Forget the identity of a question."""
        for identity, its in list(self._asked.items()):
            if its == number:
                del self._asked[identity]


def encode_name(name: str) -> bytes:
    """Return a name as labels (RFC 1035 §3.1); :class:`ProbeError` for one that cannot be asked."""
    try:
        labels = [part.encode("ascii") for part in name.rstrip(".").split(".")]
    except UnicodeEncodeError:
        labels = []
    encoded = b"".join(bytes([len(one)]) + one for one in labels if 0 < len(one) < 64)
    if not labels or not all(0 < len(one) < 64 for one in labels) or len(encoded) > 254:
        raise ProbeError(f"'{name[:80]}' is no name to ask for; give one such as example.org")
    return encoded + b"\0"
