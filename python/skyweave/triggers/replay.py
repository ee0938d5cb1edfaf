"""Logs of samples, and what fires on them."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from skyweave.errors import DataError, suggest
from skyweave.model.textfile import read_text
from skyweave.triggers.language import Kind
from skyweave.triggers.machine import Event, Machine
from skyweave.triggers.samples import Samples, Value
from skyweave.triggers.spec import TriggerFile

TIME = "time_unix_s"
LONGEST_LINE = 100_000
Row = tuple[float, dict[str, Value]]


def replay(
    triggers: TriggerFile, rows: Iterable[Row], whole: Callable[[Event], object] = lambda _: None
) -> Iterator[Event]:
    """Yield every change of every trigger, in event time; the same rows give the same changes.

    ``whole`` gets each firing once more when its 30 s after are there, or the rows are over.
    """
    samples = Samples()
    machines = [Machine(one, triggers.known) for one in triggers.trigger]
    for time_s, row in rows:
        samples.add(time_s, row)
        for machine in machines:
            yield from machine.step(samples)
            for event in machine.contexts(samples):
                whole(event)
    for machine in machines:
        for event in machine.contexts(samples, all_over=True):
            whole(event)


def read_log(file: Path, series: Mapping[str, Kind]) -> Iterator[Row]:
    """Read a log: lines of JSON (``.jsonl``, as ``watch --log`` writes it), else a CSV.

    A CSV has ``time_unix_s`` and columns of the series; an empty cell is a lost sample. Raises
    :class:`DataError` with file and line.
    """
    text = read_text(file)
    if file.suffix == ".jsonl":
        yield from read_lines(text.body.splitlines(), series)
        return
    rows = text.rows()
    _, names = next(rows, (1, []))
    for wanted in (TIME, *series):
        if wanted not in names:
            raise text.bad(1, f"no column '{wanted}'", suggest(wanted, names))
    last = -math.inf
    for line, cells in rows:
        row = dict(zip(names, cells, strict=False))
        try:
            time_s = float(row[TIME])
            values = {name: _value(row.get(name, ""), kind) for name, kind in series.items()}
        except (KeyError, ValueError):
            raise text.bad(line, "a value is no number", "correct it") from None
        if not last <= time_s < math.inf:
            raise text.bad(line, "its time is before the one of the line above", "sort the rows")
        last = time_s
        yield time_s, values


def read_lines(lines: Iterable[str], series: Mapping[str, Kind]) -> Iterator[Row]:
    """Read rows that come while they are measured, a JSON object a line; bad ones are errors."""
    last = -math.inf
    for number, line in enumerate(lines, 1):
        try:
            found = json.loads(line[:LONGEST_LINE])
            time_s = float(found[TIME])
            values = {
                name: _value(found[name], kind) for name, kind in series.items() if name in found
            }
        except (ValueError, TypeError, KeyError, RecursionError):
            raise DataError(
                f'line {number}: write {{"{TIME}": 1777593612.0, …}}, a JSON object a line'
            ) from None
        if not math.isfinite(time_s) or time_s < last:
            raise DataError(f"line {number}: its time is before the one of the line above")
        last = time_s
        yield time_s, values


def as_facts(row: Row) -> dict[str, Value]:
    """Return a row as one table; numbers that JSON does not know are null."""
    time_s, values = row
    plain = {
        name: None if isinstance(value, float) and not math.isfinite(value) else value
        for name, value in values.items()
    }
    return {TIME: time_s, **plain}


def as_line(row: Row) -> str:
    """Return a row as :func:`read_lines` reads it."""
    return json.dumps(as_facts(row), allow_nan=False)


def _value(value: object, kind: Kind) -> Value:
    if value is None or value == "":
        return None
    if kind == "text":
        return str(value)
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError
    return float(value)
