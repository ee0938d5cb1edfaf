"""Running ffmpeg, and where what it makes is kept."""

from __future__ import annotations

import contextlib
import hashlib
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pooch  # type: ignore[import-untyped]

from skyweave.errors import ConfigError

_LIMIT_S = 900
"""Longer than a slow machine takes."""


def cache_folder() -> Path:
    """Return the folder of this user's cache for films."""
    return Path(pooch.os_cache("skyweave")) / "films"


def digest_of(command: str) -> str:
    """Return what a file is called by: the hash of the command that makes it."""
    return hashlib.sha256(command.encode()).hexdigest()[:16]


@contextlib.contextmanager
def kept_in(folder: Path) -> Iterator[None]:
    """Make a folder for what is made inside; a disk that refuses is one sentence."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield
    except OSError as error:
        raise ConfigError(
            f"{folder}: the film cannot be kept there ({error.strerror}); choose another --cache"
        ) from error


def run(program: str, options: str, file: Path) -> str:
    """Run ffmpeg or ffprobe with options, split at spaces, and a file; return what was printed.

    Raises :class:`ConfigError` if the program is not installed, fails, or takes too long.
    """
    if shutil.which(program) is None:
        raise ConfigError(f"{program} is not installed; on Debian: apt install ffmpeg")
    argv = [program, *options.split(), str(file)]
    try:
        done = subprocess.run(argv, capture_output=True, text=True, timeout=_LIMIT_S, check=False)
    except subprocess.TimeoutExpired as error:
        raise ConfigError(
            f"{program} took longer than {_LIMIT_S} s; give the machine more time, or less to do"
        ) from error
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise ConfigError(f"{program} failed: {last}")
    return done.stdout
