"""Tables of text so that every complaint names the file and the line.

Importers get their columns and numbers from here and raise :class:`DataError` through :func:`bad`,
so that all of them refuse the same things in the same words.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from skyweave.data.importers.cells import Cells, plain_cells
from skyweave.errors import DataError, suggest
from skyweave.model.drive import Values
from skyweave.model.textfile import (
    Text,
    as_text,
    bad,
    read_bytes,
    read_head,
    read_packed,
    read_text,
    unpack,
)

__all__ = [
    "Text",
    "as_text",
    "bad",
    "read_bytes",
    "read_head",
    "read_packed",
    "read_text",
    "unpack",
]


@dataclass(frozen=True)
class Table:
    """A CSV with a header: the cells of each column and the line that each row stood on."""

    name: str
    columns: dict[str, Sequence[str]]
    lines: Sequence[int]

    def __len__(self) -> int:
        return len(self.lines)

    def bad(self, row: int, what: str, remedy: str) -> DataError:
        """A :class:`DataError` about a row (counting from 0)."""
        return bad(self.name, self.lines[row], what, remedy)

    def column(self, name: str) -> Sequence[str]:
        """The cells of a column; :class:`DataError` with the nearest name if there is none."""
        if name not in self.columns:
            hint = suggest(name, self.columns)
            raise bad(self.name, 1, f"there is no column '{name}'", hint)
        return self.columns[name]

    def numbers(
        self,
        column: str,
        *,
        empty_ok: bool = False,
        minimum: float = -math.inf,
        maximum: float = math.inf,
    ) -> Values:
        """A column as floats, NaN for empty cells if ``empty_ok``; refuses all that is not finite
        and within [minimum, maximum]."""
        cells = self.column(column)
        if isinstance(cells, Cells):
            found = cells.numbers(minimum, maximum)
            if found is not None and (empty_ok or not np.isnan(found).any()):
                return found
        values = np.empty(len(cells))
        for row, cell in enumerate(cells):
            try:
                values[row] = parse_number(cell, empty_ok, minimum, maximum)
            except ValueError as error:
                raise self.bad(row, f"{column}: {error}", "correct or remove the row") from None
        return values

    def times(self, column: str) -> list[datetime]:
        """A column of ISO dates and times ("2024-01-11 10:06:39", zone optional)."""
        stamps = []
        for row, cell in enumerate(self.column(column)):
            try:
                stamps.append(datetime.fromisoformat(cell.strip()))
            except ValueError:
                what = (
                    f"{column}: the time is missing"
                    if not cell.strip()
                    else (f"{column}: '{cell}' is not a date and time")
                )
                raise self.bad(row, what, "write YYYY-MM-DD HH:MM:SS") from None
        return stamps


def parse_number(cell: str, empty_ok: bool, minimum: float, maximum: float) -> float:
    """One cell as a finite float in [minimum, maximum]; ``ValueError`` says what is wrong."""
    text = cell.strip()
    if not text:
        if empty_ok:
            return math.nan
        raise ValueError("the value is missing")
    try:
        value = float(text)
    except ValueError:
        raise ValueError(f"'{text}' is not a number") from None
    if not math.isfinite(value):
        raise ValueError(f"'{text}' is not finite (an empty cell means: not logged)")
    if value < minimum:
        raise ValueError(f"{text} is below {minimum:g}")
    if value > maximum:
        raise ValueError(f"{text} is above {maximum:g}")
    return value


def parse_table(text: Text, required: Iterable[str] = (), delimiter: str = ",") -> Table:
    """Split a CSV text with a header row; lines that start with ``#`` are comments.

    Raises :class:`DataError` for ragged rows, doubled or missing columns and tables without rows.
    """
    table = _plain(text, delimiter)
    if table is None:
        table = _any(text, delimiter)
    for name in required:
        table.column(name)
    return table


def _plain(text: Text, delimiter: str) -> Table | None:
    """The table of a file in which each line is a row, which most are."""
    found = plain_cells(text, delimiter)
    if found is None:
        return None
    line, names, cells = found
    columns: dict[str, Sequence[str]] = {name.strip(): cells[at] for at, name in enumerate(names)}
    if len(columns) != len(names):
        return None
    return Table(text.name, columns, range(line + 1, line + 1 + len(cells[0])))


def _any(text: Text, delimiter: str) -> Table:
    """The table of any CSV, line by line, and what is wrong with it."""
    rows = text.rows(delimiter)
    first, names = next(rows, (1, None))
    if names is None:
        raise text.bad(1, "there is no header row", "copy or download the file again")
    header = [cell.strip() for cell in names]
    if len(set(header)) != len(header):
        twice = Counter(header).most_common(1)[0][0]
        raise text.bad(first, f"column '{twice}' stands there twice", "rename one of them")
    cells: dict[str, list[str]] = {name: [] for name in header}
    lines = []
    for line, row in rows:
        if len(row) != len(header):
            what = f"{len(row)} fields where the header has {len(header)}"
            raise text.bad(line, what, "the file may be cut short: copy it again")
        lines.append(line)
        for column, cell in zip(cells.values(), row, strict=True):
            column.append(cell)
    if not lines:
        raise text.bad(first, "there is a header but no data", "copy the file again")
    return Table(text.name, dict(cells), lines)


def require_increasing(table: Table, column: str, times_s: Values) -> None:
    """:class:`DataError` at the first row whose time is not later than the one before."""
    steps = np.diff(times_s)
    if len(steps) and steps.min() <= 0:
        row = int(np.argmax(steps <= 0)) + 1
        what = f"{column}: this time is not later than the one before"
        raise table.bad(row, what, "sort the rows and remove doubled times")


def seconds_since(first: datetime, stamps: list[datetime]) -> Values:
    """Seconds from ``first`` to each stamp."""
    return np.array([(stamp - first).total_seconds() for stamp in stamps])
