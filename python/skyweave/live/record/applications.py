"""What the applications of a live run measured, as tables of the record."""

from __future__ import annotations

from typing import Any

import polars as pl

from skyweave.engine import workloads
from skyweave.model import config

Seen = dict[str, Any]


def applications(run: config.Run, ends: tuple[list[Seen], list[Seen]]) -> dict[str, pl.DataFrame]:
    """Return the table of each kind of workload that has one.

    ``ends``: what the clients and the servers saw, in the order of the connections.
    """
    rows: dict[str, list[tuple[int, list[Any]]]] = {}
    for number, (connection, *both) in enumerate(zip(run.connections, *ends, strict=True)):
        kind = connection.workload.kind
        if workloads.tables()[kind]:
            told = [row for end in both for row in end.get("application", ())]
            rows.setdefault(kind, []).extend((number, row) for row in told)
    return {kind: _frame(kind, of_kind) for kind, of_kind in rows.items()}


def _frame(kind: str, rows: list[tuple[int, list[Any]]]) -> pl.DataFrame:
    columns = {
        column.name: [row[place] for _, row in rows]
        for place, column in enumerate(workloads.tables()[kind])
    }
    return workloads.frame(kind, [number for number, _ in rows], columns)
