"""Where in a TOML text a key stands: ``tomllib`` does not say, and an error should."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

Location = tuple[str | int, ...]

_HEADER = re.compile(r"^\s*(\[\[?)\s*([^\[\]]+?)\s*\]\]?\s*(#.*)?$")
_KEY = re.compile(r"""^\s*((?:[A-Za-z0-9_\-]+|"[^"]*"|'[^']*')(?:\s*\.\s*[A-Za-z0-9_\-]+)*)\s*=""")
LONGEST_LINE = 1000
"""What a longer line holds is placed at its table: the patterns are slow on long ones."""
_FENCES = ('"""', "'''")


def line_of(text: str, location: Sequence[str | int]) -> int:
    """Return the 1-based line of ``location``, or of its nearest parent that has one.

    ``location`` is a path as pydantic reports it, e.g. ``("compare", 1, "scheduler")``.
    """
    known = dict(_entries(text))
    wanted = tuple(location)
    while wanted and wanted not in known:
        wanted = wanted[:-1]
    return known.get(wanted, 1)


def _entries(text: str) -> Iterator[tuple[Location, int]]:
    """Yield the location and the line of each table header and each key that starts a line."""
    counts: dict[Location, int] = {}
    table: Location = ()
    fence: str | None = None
    for number, line in enumerate(text.splitlines(), start=1):
        if len(line) > LONGEST_LINE:
            continue
        if fence is not None:
            fence = None if fence in line else fence
            continue
        if header := _HEADER.match(line):
            table = _table(header[1], _split(header[2]), counts)
            yield table, number
        elif key := _KEY.match(line):
            yield (*table, *_split(key[1])), number
        fence = next((mark for mark in _FENCES if line.count(mark) % 2 == 1), None)


def _table(bracket: str, parts: Sequence[str], counts: dict[Location, int]) -> Location:
    """Return the location of a table header, counting the tables of an array."""
    found: Location = ()
    for part in parts[:-1]:
        found = (*found, part)
        if found in counts:
            found = (*found, counts[found] - 1)
    found = (*found, parts[-1])
    if bracket == "[[":
        counts[found] = counts.get(found, 0) + 1
        return (*found, counts[found] - 1)
    return found


def _split(dotted: str) -> list[str]:
    """Split a dotted key into its names without their quotes."""
    return [part.strip().strip("\"'") for part in dotted.split(".")]
