"""The file tree of an experiment, unpacked from what a stranger sent; and what it would run.

Only files and folders with plain names come out; no link, device, absolute name or name with
``..``, no more files and bytes than allowed. A study in it is read, and nothing of it is imported.
"""

from __future__ import annotations

import hashlib
import io
import re
import tarfile
from pathlib import Path
from typing import Any

from skyweave.algorithms.own import PREFIX
from skyweave.errors import ConfigError
from skyweave.model.parsing import read_toml
from skyweave.testbed.errors import TestbedError
from skyweave.testbed.wire.names import MOST_INPUT_BYTES

MOST_FILES = 2000
MOST_UNPACKED = 4 * MOST_INPUT_BYTES
_NAME = re.compile(
    r"[A-Za-z0-9_.][A-Za-z0-9_.=+@-]{0,99}(?:/[A-Za-z0-9_.][A-Za-z0-9_.=+@-]{0,99}){0,9}"
)


def unpack(packed: bytes, sha256: str, folder: Path) -> None:
    """Unpack a tar archive (plain, gzip, xz) into a new folder.

    Raises :class:`TestbedError` if it is not what was ordered, or holds what may not be.
    """
    if hashlib.sha256(packed).hexdigest() != sha256:
        raise TestbedError("the experiment's files are not those that were ordered")
    folder.mkdir(parents=True)
    left = MOST_UNPACKED
    try:
        with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
            for number, member in enumerate(archive):
                if number >= MOST_FILES:
                    raise TestbedError(f"the experiment has more than {MOST_FILES:,} files")
                left -= max(member.size, 0)
                if left < 0:
                    raise TestbedError(f"the experiment unpacks to over {MOST_UNPACKED:,} bytes")
                _one(archive, member, folder)
    except (tarfile.TarError, EOFError, OSError, ValueError, RecursionError) as error:
        raise TestbedError(
            f"the experiment's files are no whole tar archive ({str(error)[:100]})"
        ) from None


def brings_python(tree: Path, study: str) -> bool:
    """Tell whether a study names Python code; one that cannot be read might."""
    try:
        _, content = read_toml(tree / study)
    except ConfigError:
        return True
    return _names_python(content)


def _names_python(value: Any) -> bool:
    if isinstance(value, dict):
        return "python" in value or any(_names_python(one) for one in value.values())
    if isinstance(value, list):
        return any(_names_python(one) for one in value)
    return isinstance(value, str) and value.startswith(PREFIX)


def _one(archive: tarfile.TarFile, member: tarfile.TarInfo, folder: Path) -> None:
    name = member.name.removeprefix("./").rstrip("/")
    if name in ("", ".") and member.isdir():
        return
    if not _NAME.fullmatch(name) or ".." in name.split("/") or "." in name.split("/"):
        raise TestbedError(f"the experiment has a file of the name {member.name[:80]!r}; rename it")
    place = folder / name
    if member.isdir():
        place.mkdir(parents=True, exist_ok=True)
    elif member.isfile():
        content = archive.extractfile(member)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content.read() if content is not None else b"")
        place.chmod(0o755 if member.mode & 0o100 else 0o644)
    else:
        raise TestbedError(f"{name} in the experiment is neither file nor folder; leave it out")
