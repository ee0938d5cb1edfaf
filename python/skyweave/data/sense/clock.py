"""Columns of times: Unix time in any unit, dates, times of day, seconds since a log began."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

import numpy as np

from skyweave.data.importers.base import Table
from skyweave.data.sense.words import words_of
from skyweave.model.drive import Values

NAMES = {"time", "timestamp", "timestamps", "epoch", "date", "datetime", "utc", "ts", "t", "unix",
         "clock", "seconds", "sec", "elapsed", "when", "start"}  # fmt: skip
"""Words that begin the name of a column of times."""
UNIX_UNITS: Final = ((1e17, 1e-9, "ns"), (1e14, 1e-6, "µs"), (1e11, 1e-3, "ms"), (1e8, 1.0, "s"))
"""From which number on a time is Unix time in which unit: 1e8 s is March 1973."""
YEARS: Final = range(1970, 2262)
"""Those that 64 bits of nanoseconds hold."""
LAST_UNIX_S: Final = 9.2e9
MOST_TIME: Final = 1e19
LEAST_UNIX_S: Final = UNIX_UNITS[-1][0]
PLAIN_UNITS = {"ms": 1e-3, "millis": 1e-3, "milliseconds": 1e-3, "us": 1e-6, "ns": 1e-9,
               "min": 60.0, "minutes": 60.0, "hours": 3600.0}  # fmt: skip
TIME_OF_DAY = re.compile(r"(\d{1,2}):(\d\d):(\d\d(?:\.\d+)?)$")
ZONE = re.compile(r"\s*(?:UTC|GMT|Z)$")
DAY_S = 86_400.0
HOUR_S = 3600.0


@dataclass(frozen=True)
class Clock:
    """The times of the rows of a table.

    ``times_s`` has shape (rows,), the first one 0; ``start`` is the UTC of the first row, ``None``
    where the file does not say it; ``words`` says what the column was taken for; ``has_zone``
    whether the file names its zone, or could not need one.
    """

    times_s: Values
    start: datetime | None
    words: str
    has_zone: bool = True


def clock_columns(names: Sequence[str]) -> tuple[str, ...]:
    """The columns of a header that hold the time: one, a date and a time of day, or none."""
    found = [name for name in names if (words := words_of(name)) and words[0] in NAMES]
    kinds = {words_of(name)[0]: name for name in reversed(found)}
    if {"date", "time"} <= set(kinds) and kinds["date"] != kinds["time"]:
        return kinds["date"], kinds["time"]
    return tuple(found[:1])


def read_clock(table: Table, columns: Sequence[str]) -> Clock:
    """The times in one column, or in one of dates and one of times of day.

    Raises :class:`DataError` for cells that are no time, and where a clock goes back.
    """
    name = " and ".join(f"'{column}'" for column in columns)
    first = " ".join(table.column(column)[0] for column in columns)
    if _is_number(first) and not TIME_OF_DAY.match(first.strip()):
        clock = _numbers(table, columns[0], name)
    else:
        parts = zip(*(table.column(column) for column in columns), strict=True)
        cells = [" ".join(one) for one in parts]
        read = _of_day if TIME_OF_DAY.match(first.strip()) else _dates
        clock = read(table, name, cells)
    _never_back(table, name, clock.times_s)
    return clock


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return not cell.strip()
    return True


def _numbers(table: Table, column: str, name: str) -> Clock:
    values = table.numbers(column, minimum=-MOST_TIME, maximum=MOST_TIME)
    size = float(np.median(np.abs(values)))
    for least, factor, unit in UNIX_UNITS:
        if size >= least:
            first_s = float(values[0]) * factor
            if not abs(first_s) < LAST_UNIX_S:
                what = f"{column}: {values[0]:g} is no Unix time in {unit}"
                raise table.bad(0, what, "give UTC dates or seconds since 1970")
            start = datetime.fromtimestamp(first_s, UTC)
            return Clock((values - values[0]) * factor, start, f"{name} is Unix time in {unit}")
    unit = next((word for word in words_of(column) if word in PLAIN_UNITS), "s")
    factor = PLAIN_UNITS.get(unit, 1.0)
    return Clock((values - values[0]) * factor, None, f"{name} counts {unit}, without a date")


def _dates(table: Table, name: str, cells: Sequence[str]) -> Clock:
    stamps: list[datetime] = []
    for row, cell in enumerate(cells):
        text = cell.strip().replace("/", "-")
        utc = ZONE.search(text)
        try:
            stamp = datetime.fromisoformat(ZONE.sub("", text))
        except ValueError:
            what = f"{name}: '{cell.strip()}' is neither a number nor a date and time"
            raise table.bad(row, what, "write YYYY-MM-DD HH:MM:SS+00:00, or Unix time") from None
        if stamp.year not in YEARS:
            raise table.bad(row, f"{name}: no log is of the year {stamp.year}", "correct the clock")
        stamps.append(stamp.replace(tzinfo=UTC) if utc and stamp.tzinfo is None else stamp)
        if (stamps[-1].tzinfo is None) != (stamps[0].tzinfo is None):
            raise table.bad(row, f"{name}: some times name a zone and some do not", "write UTC")
    has_zone = stamps[0].tzinfo is not None
    first = stamps[0] if has_zone else stamps[0].replace(tzinfo=UTC)
    times_s = np.array([(stamp - stamps[0]).total_seconds() for stamp in stamps])
    said = f"{name} is a date and time" + ("" if has_zone else " without a zone, taken as UTC")
    return Clock(times_s, first.astimezone(UTC), said, has_zone)


def _of_day(table: Table, name: str, cells: Sequence[str]) -> Clock:
    """Times of day without a date: after midnight the next day begins."""
    times_s: list[float] = []
    day_s = 0.0
    for row, cell in enumerate(cells):
        match = TIME_OF_DAY.match(cell.strip())
        if match is None:
            raise table.bad(row, f"{name}: '{cell}' is no time of day", "write HH:MM:SS")
        second = timedelta(
            hours=int(match[1]), minutes=int(match[2]), seconds=float(match[3])
        ).total_seconds()
        if times_s and second + day_s < times_s[-1] - DAY_S / 2:
            day_s += DAY_S
        times_s.append(second + day_s)
    times = np.array(times_s)
    return Clock(times - times[0], None, f"{name} is a time of day without a date")


def _never_back(table: Table, name: str, times_s: Values) -> None:
    """:class:`DataError` at the first row that lies before the one above it."""
    steps = np.diff(times_s)
    if not len(steps) or steps.min() >= 0:
        return
    row = int(np.argmax(steps < 0)) + 1
    back_s = -float(steps[row - 1])
    hint = "sort the rows"
    if abs(back_s - HOUR_S) < 60:
        hint = "if that is the end of daylight-saving time, write UTC"
    raise table.bad(row, f"{name}: goes back by {back_s:g} s here", hint)
