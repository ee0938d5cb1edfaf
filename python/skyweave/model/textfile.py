"""Text files, plain or gzipped, so that every complaint names the file and the line."""

from __future__ import annotations

import csv
import io
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from skyweave.errors import DataError
from skyweave.model.files import MOST_BYTES, read_regular

MOST_LINES = 10_000_000
MOST_CELLS = 10_000_000
"""The most cells of a table: a week of a value each second has 600,000."""
GZIP_MAGIC = b"\x1f\x8b"
GZIP = zlib.MAX_WBITS | 16
"""What zlib calls the gzip format."""
PACKED_HEAD = 64 * 1024
"""How much of a file is read to look at its beginning."""
LFS_HEAD = "version https://git-lfs.github.com"


def bad(source: str, line: int, what: str, remedy: str) -> DataError:
    """The one sentence of a data error: ``FILE:LINE: what; what to do``."""
    return DataError(f"{source}:{line}: {what}; {remedy}")


@dataclass(frozen=True)
class Text:
    """The text of one file, with the name that error messages give it."""

    name: str
    body: str

    def lines(self) -> Iterator[tuple[int, str]]:
        """Yield each line, without its end, and its number (from 1).

        Raises :class:`DataError` at the first line beyond :data:`MOST_LINES`.
        """
        for number, line in enumerate(io.StringIO(self.body, newline=None), start=1):
            if number > MOST_LINES:
                raise self.bad(number, f"the file has more than {MOST_LINES:,} lines", "cut it up")
            yield number, line.rstrip("\n")

    def rows(self, delimiter: str = ",") -> Iterator[tuple[int, list[str]]]:
        """Yield the cells of each line of a CSV and the number of the line that they end on.

        Lines that are empty or start with ``#`` are left out. Raises :class:`DataError` for what
        the CSV reader refuses, and beyond :data:`MOST_CELLS`.
        """
        number, cells = 1, 0

        def kept() -> Iterator[str]:
            nonlocal number, cells
            for number, line in self.lines():
                if line.strip() and not line.startswith("#"):
                    cells += line.count(delimiter) + 1
                    if cells > MOST_CELLS:  # before the reader makes a list of them
                        what = f"the table has more than {MOST_CELLS:,} cells"
                        raise self.bad(number, what, "cut it up")
                    yield line + "\n"

        try:
            for row in csv.reader(kept(), delimiter=delimiter):
                yield number, row
        except csv.Error as error:
            raise self.bad(number, f"this is no CSV: {error}", "correct that line") from None

    def bad(self, line: int, what: str, remedy: str) -> DataError:
        """A :class:`DataError` about one line of this file (lines count from 1)."""
        return bad(self.name, line, what, remedy)


def read_bytes(path: Path) -> bytes:
    """The bytes of a file, decompressed if it is gzip.

    Raises :class:`DataError` if the file is missing, unreadable, empty, no regular file, a damaged
    gzip, or has more than :data:`MOST_BYTES`, packed or unpacked.
    """
    return unpack(str(path), read_packed(path))


def read_packed(path: Path, head: int | None = None) -> bytes:
    """The bytes of a file as they are, or the first ``head`` of them.

    Raises :class:`DataError` as :func:`read_bytes` does.
    """
    try:
        return read_regular(path, head=head)
    except FileNotFoundError:
        raise DataError(f"{path}: no such file; check the path") from None
    except IsADirectoryError:
        raise DataError(f"{path}: is a folder where a file was expected; name a file") from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror}); check what it is") from None
    except ValueError as error:  # a name with a null character
        raise DataError(f"{str(path)!r}: is no name of a file ({error}); correct it") from None


def read_head(path: Path, length: int) -> bytes:
    """The first ``length`` bytes of a file, decompressed if it is gzip; fewer if it has no more.

    Raises :class:`DataError` as :func:`read_bytes` does, as far as it reads.
    """
    raw = read_packed(path, PACKED_HEAD)
    if not raw.startswith(GZIP_MAGIC):
        return raw[:length]
    member = zlib.decompressobj(GZIP)
    try:
        start = member.decompress(raw, length)
    except zlib.error:
        raise _damaged(str(path)) from None
    if len(raw) < PACKED_HEAD and len(start) < length and not member.eof:
        raise _damaged(str(path))
    return start


def unpack(name: str, raw: bytes, most_bytes: int = MOST_BYTES) -> bytes:
    """``raw`` decompressed if it is gzip.

    Raises :class:`DataError` if it is empty, damaged, or unpacks to more than ``most_bytes``: no
    more than that is ever in memory.
    """
    if raw.startswith(GZIP_MAGIC):
        raw = b"".join(_members(name, raw, most_bytes))
    if not raw.strip():
        raise bad(name, 1, "the file is empty", "copy or download it again")
    return raw


def _members(name: str, raw: bytes, most_bytes: int) -> Iterator[bytes]:
    """Yield what each member of a gzip file unpacks to (RFC 1952 §2.2).

    Zeros may follow, as of a tape.
    """
    left = most_bytes
    while raw.startswith(GZIP_MAGIC):
        member = zlib.decompressobj(GZIP)
        try:
            content = member.decompress(raw, left + 1)
        except zlib.error:
            raise _damaged(name) from None
        if len(content) > left:
            raise bad(name, 1, f"it unpacks to more than {most_bytes:,} bytes", "cut it up")
        if not member.eof:
            raise _damaged(name)
        left -= len(content)
        raw = member.unused_data
        yield content
    if raw.strip(b"\0"):
        raise _damaged(name)


def _damaged(name: str) -> DataError:
    return bad(name, 1, "the gzip data end early or are damaged", "copy it again")


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
