"""Workloads as ``crates/application`` describes them: checks, and their tables in the record."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from skyweave import _skyweave
from skyweave.algorithms.catalogue import Choice
from skyweave.algorithms.own import is_own
from skyweave.errors import ConfigError
from skyweave.model.config import Bulk, Workload

_DTYPES: dict[str, pl.DataType] = {
    "count": pl.Int64(),
    "number": pl.Float64(),
    "word": pl.String(),
    "flag": pl.Boolean(),
}

PROGRAMS = {"video": ("vlc", "mpv"), "adaptive": ("dashjs",)}
"""Players that are programs of their own, by the kind of workload that they play."""
_OF_PROGRAMS = {
    "video": {"kind", "direction", "duration_s", "player", "film"},
    "adaptive": {
        "kind", "direction", "duration_s", "player", "top_mbps", "film_s", "fast_switch",
    },
}  # fmt: skip
"""What a workload may say of what a program plays; the rest the program decides."""
NO_ABR = "fixed"
"""What an adaptive film names where Python code chooses."""
PROBE = "probe"
"""Probes over each path, and no data: on real networks alone."""
LEAST_PROBE_S, MOST_PROBE_S = 0.05, 60.0
_SAID_OF_PROBES = {"kind", "direction", "duration_s", "every_s"}


@dataclass(frozen=True)
class Column:
    """A column of a workload's table."""

    name: str
    kind: str
    meaning: str

    @property
    def dtype(self) -> pl.DataType:
        """Its type in the record."""
        return _DTYPES[self.kind]


_OF_PROBES = (
    Column("time_s", "number", "when it was sent"),
    Column("path", "word", "over which path"),
    Column("rtt_ms", "number", "its round trip; null: lost, or not sent"),
    Column("refused", "word", "why it was not sent; null: it was"),
)


@functools.cache
def tables() -> dict[str, tuple[Column, ...]]:
    """Return the columns of each kind of workload, without ``connection``, which comes first."""
    said = json.loads(_skyweave.workload_tables())
    found = {kind: tuple(Column(**one) for one in columns) for kind, columns in said.items()}
    return found | {PROBE: _OF_PROBES}


def probe_interval_s(workload: Bulk | Workload) -> float:
    """Return how far apart the probes of a workload are sent; :class:`ConfigError` for no span."""
    every_s = getattr(workload, "every_s", 0.1)
    if isinstance(every_s, bool) or not isinstance(every_s, int | float):
        raise ConfigError(f"every_s is {every_s!r}, and must be a number")
    if not LEAST_PROBE_S <= every_s <= MOST_PROBE_S:
        raise ConfigError(
            f"every_s is {every_s:g}, and must be {LEAST_PROBE_S:g} to {MOST_PROBE_S:g} seconds"
        )
    return float(every_s)


def program_of(workload: Bulk | Workload) -> str | None:
    """Return the player of a workload if it is a program, which only real time can run."""
    name = getattr(workload, "player", None)
    return name if name in PROGRAMS.get(workload.kind, ()) else None


def own_abr(workload: Bulk | Workload) -> Choice | None:
    """Return the ABR algorithm of an adaptive film if it is Python code."""
    choice: Choice | None = getattr(workload, "abr", None)
    return choice if isinstance(choice, str | dict) and is_own(choice) else None


def named(workload: Bulk | Workload) -> Bulk | Workload:
    """Return the workload as the engine reads it: Python code decides in place of a named ABR."""
    return workload if own_abr(workload) is None else workload.model_copy(update={"abr": NO_ABR})


def check_simulated(workload: Bulk | Workload) -> None:
    """Refuse a workload that the simulator has no code for: :class:`ConfigError`."""
    if workload.kind == PROBE:
        raise ConfigError('probes are of real networks: set engine = "field"')
    name = program_of(workload)
    if name is not None:
        raise ConfigError(
            f"player '{name}' is a program, which plays in real time: set engine = \"live\", or "
            'take a player of the simulator (of films in one file "discard" or "wait")'
        )


def check(workload: Bulk | Workload) -> None:
    """Refuse a workload that does not exist or cannot be: :class:`ConfigError`."""
    _check_player(workload)
    if program_of(workload) is not None:
        return
    if workload.kind == PROBE:
        for key in sorted({*workload.model_dump(exclude_unset=True)} - _SAID_OF_PROBES):
            raise ConfigError(f"{key} is nothing that probes can be told; leave it out")
        probe_interval_s(workload)
        return
    try:
        _skyweave.check_workload(named(workload).model_dump_json())
    except ValueError as error:
        raise ConfigError(str(error)) from None


def _check_player(workload: Bulk | Workload) -> None:
    name = getattr(workload, "player", None)
    kinds = [kind for kind, names in PROGRAMS.items() if name in names]
    if not kinds:
        return
    if workload.kind not in kinds:
        raise ConfigError(
            f"'{name}' plays the workload '{kinds[0]}', not '{workload.kind}'; "
            f"for that take {' or '.join(PROGRAMS.get(workload.kind, ('none',)))}"
        )
    for key in sorted({*workload.model_dump(exclude_unset=True)} - _OF_PROGRAMS[workload.kind]):
        raise ConfigError(f"{key} is nothing that player '{name}' can be told; leave it out")
    if workload.main_direction != "down":
        raise ConfigError("a film comes down: leave direction out")


def frame(
    kind: str, connections: Sequence[int], columns: Mapping[str, Iterable[Any]]
) -> pl.DataFrame:
    """Return the table of a kind: the connection of each row, and the columns."""
    place = pl.Series("connection", connections, pl.Int32())
    values = [pl.Series(one.name, columns[one.name], one.dtype) for one in tables()[kind]]
    return pl.DataFrame([place, *values])
