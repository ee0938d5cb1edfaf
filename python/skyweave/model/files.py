"""Files of our own, read and written so that neither a crash nor damage passes for a result."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

MIB = 2**20
MOST_BYTES = 1024 * MIB
"""The largest file that is read, as it is or unpacked."""


def read_regular(file: Path, most_bytes: int = MOST_BYTES, head: int | None = None) -> bytes:
    """Return the bytes of a regular file, or the first ``head`` of them.

    Raises :class:`OSError`, whose ``strerror`` says why, for a device, a pipe, a folder, a circle
    of links, and a file of more than ``most_bytes``: none of these is waited for or read.
    """
    descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
    with os.fdopen(descriptor, "rb") as opened:
        status = os.fstat(descriptor)
        if stat.S_ISDIR(status.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(file))
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "it is a device, a pipe or a socket", str(file))
        if status.st_size > most_bytes:
            why = f"it has {status.st_size:,} bytes, and {most_bytes:,} are read at most"
            raise OSError(errno.EFBIG, why, str(file))
        return opened.read(status.st_size if head is None else min(head, status.st_size))


def write_durable(file: Path, content: bytes | memoryview) -> None:
    """Write a file and wait until it is on the disk; its name is there after `sync_folder`."""
    with file.open("wb") as opened:
        opened.write(content)
        opened.flush()
        os.fsync(opened.fileno())


def sync_folder(folder: Path) -> None:
    """Wait until the names in a folder are on the disk."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_whole(file: Path, text: str) -> None:
    """Write a text file, whole or not at all, even if the machine loses its power."""
    draft = file.with_name(f".{file.name}.draft-{os.getpid()}")
    write_durable(draft, text.encode())
    draft.replace(file)
    sync_folder(file.parent)
