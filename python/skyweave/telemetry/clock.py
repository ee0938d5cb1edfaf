"""The offset of another clock, by one question in NTP's format (RFC 5905 §8, client mode).

Dishes answer NTP on their address. A clock that is two minutes off puts every satellite in the
wrong place, so the offset stands beside each row.
"""

from __future__ import annotations

import secrets
import socket
import struct
import time
from collections.abc import Callable

PORT = 123
FROM_1900_S = 2_208_988_800
"""Seconds from NTP's epoch to Unix's."""
SIZE = 48
_CLIENT = (4 << 3) | 3  # version 4, mode 3
_SERVER = 4


def clock_offset_s(
    address: tuple[str, int], timeout_s: float = 1.0, now: Callable[[], float] = time.time
) -> float | None:
    """Return how far the clock there is ahead of ours in seconds; None if it does not say.

    A random number in place of our time says that the answer is one to this question.
    """
    nonce = secrets.token_bytes(8)
    question = bytes([_CLIENT]) + bytes(SIZE - 9) + nonce
    try:
        with _udp(address) as asked:
            asked.settimeout(timeout_s)
            sent = now()
            asked.send(question)
            answer = asked.recv(512)
            heard = now()
    except OSError:
        return None
    return offset_s(answer, nonce, sent, heard)


def offset_s(answer: bytes, nonce: bytes, sent_s: float, heard_s: float) -> float | None:
    """Return the offset that an answer says (RFC 5905 §8); None if it is none to this question."""
    if len(answer) < SIZE or answer[24:32] != nonce or answer[0] & 7 != _SERVER:
        return None
    if answer[0] >> 6 == 3 or not 0 < answer[1] < 16:  # not synchronised
        return None
    received, transmitted = (_unix_s(answer[at : at + 8]) for at in (32, 40))
    found = ((received - sent_s) + (transmitted - heard_s)) / 2
    return found if abs(found) < 1e9 else None


def reply(question: bytes, unix_s: float) -> bytes | None:
    """Return what a server whose clock shows ``unix_s`` answers; None to what is no question."""
    if len(question) < SIZE or question[0] & 7 != 3:
        return None
    stamp = _stamp(unix_s)
    head = bytes([(4 << 3) | _SERVER, 1, 0, 0xEC]) + bytes(8) + b"FAKE"
    return head + stamp + question[40:48] + stamp + stamp


def _udp(address: tuple[str, int]) -> socket.socket:
    family, kind, protocol, _, place = socket.getaddrinfo(*address, type=socket.SOCK_DGRAM)[0]
    made = socket.socket(family, kind, protocol)
    try:
        made.connect(place)
    except OSError:
        made.close()
        raise
    return made


def _stamp(unix_s: float) -> bytes:
    whole, part = divmod(unix_s + FROM_1900_S, 1)
    return struct.pack("!II", int(whole) % 2**32, int(part * 2**32) % 2**32)


def _unix_s(stamp: bytes) -> float:
    """Return Unix seconds; NTP's era ends in 2036, so small numbers are those of the next one."""
    whole, part = struct.unpack("!II", stamp)
    era = 2**32 if whole < 2**31 else 0
    return float(whole + era - FROM_1900_S + part / 2**32)
