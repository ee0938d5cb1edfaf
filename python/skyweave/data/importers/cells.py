"""Tables of one line a row, taken apart by polars: the same cells as the CSV reader's, sooner."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import overload

import polars as pl

from skyweave.model.drive import Values
from skyweave.model.textfile import MOST_CELLS, MOST_LINES, Text


class Cells(Sequence[str]):
    """The cells of one column; all become Python's strings when they are gone through."""

    def __init__(self, held: pl.Series) -> None:
        self.held = held

    def __len__(self) -> int:
        return len(self.held)

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        if isinstance(place, slice):
            return self._strings[place]
        one: str = self.held[place]
        return one

    def __iter__(self) -> Iterator[str]:
        return iter(self._strings)

    @cached_property
    def _strings(self) -> list[str]:
        found: list[str] = self.held.to_list()
        return found

    def numbers(self, minimum: float, maximum: float) -> Values | None:
        """The cells as floats, shape (rows,), NaN for empty ones.

        ``None`` where a cell is none, or not within [minimum, maximum]: it is looked for and said
        by who reads them one by one.
        """
        stripped = self.held.str.strip_chars()
        empty = stripped.str.len_bytes() == 0
        found = stripped.cast(pl.Float64, strict=False)
        logged = found.filter(~empty)
        if logged.null_count() or not logged.is_between(minimum, maximum).all():
            return None
        if not logged.is_finite().all():
            return None
        return found.to_numpy(writable=True)  # null becomes NaN


def plain_cells(text: Text, delimiter: str) -> tuple[int, list[str], dict[int, Cells]] | None:
    """The number of the header's line, its cells, and the cells of each column by its place.

    ``None`` for whatever a line is not a row in: quotes, comments and empty lines below the header,
    rows of other lengths, one column, and what is beyond a bound. The CSV reader takes those.
    """
    body, line = text.body.rstrip("\n"), 1
    while body.startswith(("#", "\n")):
        _, _, body = body.partition("\n")
        line += 1
    header, _, rows = body.partition("\n")
    if "\r" in rows:
        rows = rows.replace("\r\n", "\n").rstrip("\r\n")
    names = header.rstrip("\r").split(delimiter)
    count = rows.count("\n") + 1
    parted = count * (len(names) - 1)
    if (
        len(names) < 2
        or not rows
        or any(sign in body for sign in '"\0')
        or any(sign in rows for sign in ("\r", "\n\n", "\n#"))
        or rows.startswith(("\n", "#"))
        or "\r" in header.rstrip("\r")
        or not header.strip()
        or line + count > MOST_LINES
        or parted + count + len(names) > MOST_CELLS
        or rows.count(delimiter) != parted
    ):
        return None
    try:
        frame = pl.read_csv(
            rows.encode(), has_header=False, separator=delimiter, quote_char=None,
            new_columns=[str(place) for place in range(len(names))], infer_schema=False,
            empty_string_is_null=False,
        )  # fmt: skip
    except pl.exceptions.PolarsError:  # a row is longer than the first
        return None
    longest = max(frame.select(pl.all().str.len_chars().max()).row(0))
    if frame.shape != (count, len(names)) or longest > csv.field_size_limit():
        return None
    return line, names, {place: Cells(frame[str(place)]) for place in range(len(names))}
