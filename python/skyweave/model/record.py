"""The record of one run: identical columns whichever engine filled it (docs/architecture.md).

``samples``: one row per sample time, connection and path (``path`` = "" for the connection's own
row). ``events``: one row per event. ``application``: one wide table for each kind of workload that
has one. ``totals``: the sums of the run (``totals.py``). ``provenance``: a plain JSON object.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from skyweave.model.config import Run
from skyweave.model.totals import RunTotals

SAMPLE_SCHEMA: dict[str, pl.DataType] = {
    "time_s": pl.Float64(),
    "connection": pl.Int32(),
    "path": pl.String(),
    "cwnd_packets": pl.Float64(),
    "srtt_ms": pl.Float64(),
    "in_flight_packets": pl.Float64(),
    "pacing_mbps": pl.Float64(),
    "delivered_bytes": pl.Float64(),
    "lost_packets": pl.Float64(),
    "retransmitted_packets": pl.Float64(),
    "queue_bytes": pl.Float64(),
    "goodput_mbps": pl.Float64(),
    "reorder_buffer_bytes": pl.Float64(),
    "send_window_bytes": pl.Float64(),
}
"""Path rows leave the last three columns null; the connection's row leaves the path columns null.

``delivered_bytes``, ``lost_packets`` and ``retransmitted_packets`` are totals since the start;
``goodput_mbps`` is what the application received in the interval that ends at ``time_s``.
"""

EVENT_SCHEMA: dict[str, pl.DataType] = {
    "time_s": pl.Float64(),
    "connection": pl.Int32(),
    "path": pl.String(),
    "event": pl.String(),
    "value": pl.Float64(),
}


@dataclass(frozen=True)
class Record:
    """What one run left behind."""

    samples: pl.DataFrame
    events: pl.DataFrame
    totals: RunTotals
    provenance: dict[str, Any]
    application: dict[str, pl.DataFrame] = field(default_factory=dict)
    """What applications measured, by kind of workload; ``connection`` is the first column."""

    def goodput_mbps(self, connection: int = 0) -> pl.DataFrame:
        """The application's goodput over time: columns ``time_s`` and ``goodput_mbps``."""
        own = (pl.col("connection") == connection) & (pl.col("path") == "")
        return self.samples.filter(own).select("time_s", "goodput_mbps")

    def write(self, folder: Path) -> None:
        """Write the record as a folder, whole or not at all; :class:`OSError` if it cannot be."""
        draft = folder.with_name(f".{folder.name}.draft-{os.getpid()}")
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(parents=True)
        facts: dict[str, Any] = {"totals": self.totals, "provenance": self.provenance}
        try:
            if self.application:
                facts["application"] = _write_application(self.application, draft)
            _write_parquet(self.samples, draft / "samples.parquet")
            _write_parquet(self.events, draft / "events.parquet")
            (draft / "record.json").write_text(json.dumps(facts, indent=1, sort_keys=True) + "\n")
            draft.rename(folder)
        except OSError:
            shutil.rmtree(draft, ignore_errors=True)
            raise

    @classmethod
    def read(cls, folder: Path) -> Record:
        """Read a record that :meth:`write` wrote."""
        facts = json.loads((folder / "record.json").read_text())
        return cls(
            samples=pl.read_parquet(folder / "samples.parquet"),
            events=pl.read_parquet(folder / "events.parquet"),
            totals=facts["totals"],
            provenance=facts["provenance"],
            application={
                kind: pl.read_parquet(folder / table["file"])
                for kind, table in facts.get("application", {}).items()
            },
        )


def _write_application(tables: dict[str, pl.DataFrame], folder: Path) -> dict[str, Any]:
    """Write the tables of applications; return the name, the schema and the digest of each."""
    (folder / "application").mkdir()
    named = {}
    for kind, table in sorted(tables.items()):
        file = f"application/{kind}.parquet"
        digest = _write_parquet(table, folder / file)
        schema = {name: str(dtype) for name, dtype in table.schema.items()}
        named[kind] = {"file": file, "schema": schema, "sha256": digest}
    return named


def _write_parquet(frame: pl.DataFrame, file: Path) -> str:
    """Write a table and return its digest.

    A full disk is an :class:`OSError`, which it is not when Polars meets it.
    """
    buffer = io.BytesIO()
    frame.write_parquet(buffer)
    file.write_bytes(buffer.getbuffer())
    return hashlib.sha256(buffer.getbuffer()).hexdigest()


Engine = Callable[[Run], Record]
"""What computes a run: the simulator, or Linux itself."""
