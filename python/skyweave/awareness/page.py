"""Hints in shared memory: a page a path, a file that any program may map.

The layout is that of ``skyweave_awareness.h`` beside this file: little-endian, fixed, with a
version. A sequence lock keeps readers from half-written hints: its number is odd while the writer
writes. A checksum tells a hint from whatever else a file may hold.
"""

from __future__ import annotations

import math
import mmap
import os
import struct
import threading
from dataclasses import astuple
from pathlib import Path
from types import TracebackType
from typing import Self

from skyweave.awareness.hint import Hint, Kind
from skyweave.errors import ConfigError

MAGIC = b"SKYAWARE"
VERSION = 1
PAGE_BYTES = 4096
HEAD = struct.Struct("<8sIIQ")
"""Magic, version, length of the hint with its checksum, sequence."""
_SEQUENCE_AT = HEAD.size - 8
BODY = struct.Struct("<qqqqdIIqqd9d")
_SUM = struct.Struct("<Q")
LENGTH = BODY.size + _SUM.size
MODE = 0o640
MOST_TRIES = 64
LONGEST_S = 3600.0
"""No hint holds for longer: one that claims to is garbage."""


def encode(hint: Hint) -> bytes:
    """Return a hint and its checksum as they stand in a page after the head."""
    values = astuple(hint)
    body = BODY.pack(*values[:6], 0, *values[6:9], *hint.rtt_ms, *hint.down_mbps, *hint.up_mbps)
    return body + _SUM.pack(checksum(body))


def decode(data: bytes) -> Hint | None:
    """Return the hint of such bytes; None for what is none."""
    if len(data) < LENGTH:
        return None
    body = data[: BODY.size]
    if _SUM.unpack_from(data, BODY.size)[0] != checksum(body):
        return None
    issued, until, edge, unsure, likely, kind, _, begin, end, gone, *rest = BODY.unpack(body)
    if kind not in set(Kind):
        return None
    rtt, down, up = (tuple(rest[place : place + 3]) for place in (0, 3, 6))
    return Hint(issued, until, edge, unsure, likely, Kind(kind), begin, end, gone, rtt, down, up)


def checksum(data: bytes) -> int:
    """Return the 64-bit FNV-1a hash of some bytes."""
    found = 0xCBF29CE484222325
    for one in data:
        found = (found ^ one) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return found


def valid(hint: Hint, now_ns: int) -> bool:
    """Tell whether a hint may be heeded now: issued before, not over, numbers that can be."""
    return (
        0 < hint.issued_ns <= now_ns < hint.valid_until_ns
        and hint.valid_until_ns - hint.issued_ns <= LONGEST_S * 1e9
        and 0.0 <= hint.boundary_probability <= 1.0
        and 0.0 <= hint.outage_probability <= 1.0
        and hint.boundary_uncertainty_ns >= 0
        and hint.outage_start_ns <= hint.outage_end_ns
        and all(_rises(three) for three in (hint.rtt_ms, hint.down_mbps, hint.up_mbps))
    )


def _rises(three: tuple[float, float, float]) -> bool:
    low, middle, high = three
    return all(map(math.isnan, three)) or 0 <= low <= middle <= high < math.inf


class PageWriter:
    """The one writer of a page; a context manager that leaves no hint behind."""

    def __init__(self, file: Path) -> None:
        """Raises :class:`ConfigError` where the file cannot be."""
        draft = file.with_name(f".{file.name}.draft-{os.getpid()}")
        try:
            descriptor = os.open(draft, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, MODE)
            try:
                os.ftruncate(descriptor, PAGE_BYTES)
                self._map = mmap.mmap(descriptor, PAGE_BYTES)
            finally:
                os.close(descriptor)
            HEAD.pack_into(self._map, 0, MAGIC, VERSION, LENGTH, 0)
            self._sequence = 0
            self._lock = threading.Lock()
            self._store(bytes(LENGTH))
            draft.replace(file)
        except OSError as error:
            why = error.strerror or str(error)
            raise ConfigError(f"{file}: no page can be there ({why}); choose another") from None
        self.file = file

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        self.write(None)
        self._map.close()
        self.file.unlink(missing_ok=True)

    def write(self, hint: Hint | None) -> None:
        """Replace the hint; None: there is none."""
        self._store(bytes(LENGTH) if hint is None else encode(hint))

    def _store(self, content: bytes) -> None:
        self._stamp(self._sequence + 1)
        self._fence()
        self._map[HEAD.size : HEAD.size + LENGTH] = content
        self._fence()
        self._stamp(self._sequence + 1)
        self._fence()

    def _stamp(self, sequence: int) -> None:
        self._sequence = sequence
        self._map[_SEQUENCE_AT : HEAD.size] = sequence.to_bytes(8, "little")  # one store, aligned

    def _fence(self) -> None:
        """Let no store pass: what is before a release comes before what follows its acquisition."""
        for _ in range(2):
            with self._lock:
                pass


class PageReader:
    """A page, seen by a consumer."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def read(self, now_ns: int) -> Hint | None:
        """Return the hint that holds now; None if there is none, whatever the reason."""
        try:
            with self.file.open("rb", buffering=0) as opened:
                for _ in range(MOST_TRIES):
                    hint = self._once(opened.fileno())
                    if hint is not None:
                        return hint if valid(hint, now_ns) else None
        except OSError:
            return None
        return None

    def _once(self, descriptor: int) -> Hint | None:
        """Return the hint if it was not written meanwhile."""
        before = os.pread(descriptor, HEAD.size, 0)
        if len(before) < HEAD.size:
            return None
        magic, version, length, sequence = HEAD.unpack(before)
        if (magic, version, length) != (MAGIC, VERSION, LENGTH) or sequence % 2:
            return None
        data = os.pread(descriptor, LENGTH, HEAD.size)
        if os.pread(descriptor, HEAD.size, 0) != before:
            return None
        return decode(data)
