"""Workloads as ``crates/application`` describes them: checks, and their tables in the record."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from skyweave import _skyweave
from skyweave.errors import ConfigError
from skyweave.model.config import Bulk, Workload

_DTYPES: dict[str, pl.DataType] = {
    "count": pl.Int64(),
    "number": pl.Float64(),
    "word": pl.String(),
    "flag": pl.Boolean(),
}


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


@functools.cache
def tables() -> dict[str, tuple[Column, ...]]:
    """Return the columns of each kind of workload, without ``connection``, which comes first."""
    said = json.loads(_skyweave.workload_tables())
    return {kind: tuple(Column(**one) for one in columns) for kind, columns in said.items()}


def check(workload: Bulk | Workload) -> None:
    """Refuse a workload that does not exist or cannot be: :class:`ConfigError`."""
    try:
        _skyweave.check_workload(workload.model_dump_json())
    except ValueError as error:
        raise ConfigError(str(error)) from None


def frame(
    kind: str, connections: Sequence[int], columns: Mapping[str, Iterable[Any]]
) -> pl.DataFrame:
    """Return the table of a kind: the connection of each row, and the columns."""
    place = pl.Series("connection", connections, pl.Int32())
    values = [pl.Series(one.name, columns[one.name], one.dtype) for one in tables()[kind]]
    return pl.DataFrame([place, *values])
