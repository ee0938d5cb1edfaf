"""Text files, plain or gzipped, so that every complaint names the file and the line."""

from __future__ import annotations

import gzip
import zlib
from dataclasses import dataclass
from pathlib import Path

from skyweave.errors import DataError

GZIP_MAGIC = b"\x1f\x8b"
LFS_HEAD = "version https://git-lfs.github.com"


def bad(source: str, line: int, what: str, remedy: str) -> DataError:
    """The one sentence of a data error: ``FILE:LINE: what; what to do``."""
    return DataError(f"{source}:{line}: {what}; {remedy}")


@dataclass(frozen=True)
class Text:
    """The text of one file, with the name that error messages give it."""

    name: str
    body: str

    def bad(self, line: int, what: str, remedy: str) -> DataError:
        """A :class:`DataError` about one line of this file (lines count from 1)."""
        return bad(self.name, line, what, remedy)


def read_bytes(path: Path) -> bytes:
    """The bytes of a file, decompressed if it is gzip.

    Raises :class:`DataError` if the file is missing, unreadable, empty or a damaged gzip.
    """
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        raise DataError(f"{path}: no such file; check the path") from None
    except IsADirectoryError:
        raise DataError(f"{path}: is a folder where a file was expected; name a file") from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror}); check its rights") from None
    return unpack(str(path), raw)


def unpack(name: str, raw: bytes) -> bytes:
    """``raw`` decompressed if it is gzip; :class:`DataError` if it is empty or damaged."""
    if raw.startswith(GZIP_MAGIC):
        try:
            raw = gzip.decompress(raw)
        except (EOFError, zlib.error, gzip.BadGzipFile):
            raise bad(name, 1, "the gzip data end early or are damaged", "copy it again") from None
    if not raw.strip():
        raise bad(name, 1, "the file is empty", "copy or download it again")
    return raw


def as_text(name: str, raw: bytes) -> Text:
    """Decode UTF-8; :class:`DataError` for other encodings and for Git LFS pointers."""
    try:
        body = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise bad(
            name, line, "this is not UTF-8 text", "give a text file or a .gz of one"
        ) from None
    if body.startswith(LFS_HEAD):
        raise bad(name, 1, "this is a Git LFS pointer, not the data", "run 'git lfs pull' there")
    return Text(name, body)


def read_text(path: Path) -> Text:
    """The text of a plain or gzip file; raises :class:`DataError` as :func:`read_bytes` does."""
    return as_text(str(path), read_bytes(path))
