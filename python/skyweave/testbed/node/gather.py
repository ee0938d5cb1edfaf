"""What a run left: its files, bounded, with their hashes, ready to be sent."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

from skyweave.testbed.wire import Artefact
from skyweave.testbed.wire.names import MOST_ARTEFACTS

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.=+-]*(/[A-Za-z0-9_][A-Za-z0-9_.=+-]*)*")
MOST_NAME = 200
_PIECE = 1 << 20


def gather(folder: Path, own: dict[str, bytes], most_bytes: int) -> tuple[list[Artefact], str]:
    """Return the files of a run, and a sentence about those that are left out; '' for none.

    ``folder`` has ``results``, which the run wrote, and ``output.txt``. Only regular files with
    plain names count, up to ``most_bytes`` of them; a link is not followed. ``own`` are files of
    the node's, written beside; they count in no limit. All runs' processes are gone by now.
    """
    for name, content in own.items():
        with contextlib.suppress(OSError):  # a full disk loses these, not the run's end
            (folder / name).write_bytes(content)
    found, left, out = [], most_bytes, 0
    for name in ("output.txt", *own):
        with contextlib.suppress(OSError):
            found.append(_artefact(folder, name))
    for name in _names(folder / "results"):
        full = f"results/{name}"
        if len(full) > MOST_NAME or not _NAME.fullmatch(full) or len(found) >= MOST_ARTEFACTS:
            out += 1
            continue
        try:
            one = _artefact(folder, full, left)
        except OSError:
            out += 1
            continue
        left -= one.bytes
        found.append(one)
    why = f"{out} files are left out: no plain names, no plain files, or over the limit"
    return found, why if out else ""


def _names(folder: Path) -> Iterator[str]:
    """Yield names in a fixed order; folders that are links are not entered."""
    for place, inside, names in os.walk(folder):
        inside.sort()
        for name in sorted(names):
            yield str(Path(place, name).relative_to(folder))


def _artefact(folder: Path, name: str, most: int | None = None) -> Artefact:
    descriptor = os.open(folder / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as opened:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or (most is not None and status.st_size > most):
            raise OSError("left out")
        digest = hashlib.sha256()
        while piece := opened.read(_PIECE):
            digest.update(piece)
        return Artefact(name=name, bytes=status.st_size, sha256=digest.hexdigest())
