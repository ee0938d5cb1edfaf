"""The folder of a shell's socket, and the folders that killed shells left behind.

A shell holds a lock on a file in its folder for as long as it lives. The kernel gives the lock back
when the shell dies, and everybody who can see the folder can see the lock, in whatever PID
namespace they are: a process ID would say nothing there.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
from pathlib import Path

PREFIX = "skyweave-shell-"
LOCK = "lock"


class ShellFolder:
    """A folder of a living shell, which nobody clears away."""

    def __init__(self) -> None:
        while True:
            self.path = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-"))
            self._lock = os.open(self.path / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            fcntl.flock(self._lock, fcntl.LOCK_EX)
            if (self.path / LOCK).exists():  # else it was cleared away before it was locked
                return
            os.close(self._lock)

    def remove(self) -> None:
        """Remove the folder and give the lock back."""
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self._lock)


def clear_away() -> None:
    """Remove the folders of shells that were killed: all that they can leave behind."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError):  # held, not ours, or gone by now
            lock = os.open(folder / LOCK, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(lock)
