"""JSON files that begin with the SHA-256 of what follows, so that damage does not pass for facts.

The seal is the first member of the JSON object, on a line of its own. It covers every byte after
that line, and the line has one form only: whatever bit of the file is flipped, the seal is broken.
It guards against damage, not against forgery.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from skyweave.errors import DamagedError
from skyweave.model.files import read_regular

SEAL = "sha256"


def sealed(facts: dict[str, Any], sort_keys: bool = False) -> str:
    """Return the text of a JSON object under a seal; ``facts`` has at least one member."""
    rest = json.dumps(facts, indent=1, sort_keys=sort_keys).removeprefix("{\n") + "\n"
    return _head(rest.encode()) + rest


def read_sealed(file: Path) -> dict[str, Any]:
    """Return the facts of a file that holds :func:`sealed` text.

    Raises :class:`DamagedError` if it cannot be read or is not, byte for byte, what was written.
    """
    return unsealed(read_whole(file), file)


def unsealed(raw: bytes, file: Path) -> dict[str, Any]:
    """Return the facts of the bytes of ``file``; :class:`DamagedError` as for `read_sealed`."""
    length = len(_head(b""))
    if raw[:length] != _head(raw[length:]).encode():
        raise DamagedError(file, "it is not what was written, or from before records had digests")
    try:
        facts: dict[str, Any] = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise DamagedError(file, f"it is not JSON: {error}") from error
    del facts[SEAL]
    return facts


def read_whole(file: Path) -> bytes:
    """Return the bytes of a file of results; :class:`DamagedError` if that is not possible."""
    try:
        return read_regular(file)
    except OSError as error:
        raise DamagedError(file, error.strerror or str(error)) from error


def digest(content: bytes | memoryview) -> str:
    """Return the SHA-256 of the bytes of a file, in hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def _head(rest: bytes) -> str:
    return f'{{\n "{SEAL}": "{digest(rest)}",\n'
