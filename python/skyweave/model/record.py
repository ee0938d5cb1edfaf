"""The record of one run: identical columns whichever engine filled it (docs/architecture.md).

``samples``: one row per sample time, connection and path (``path`` = "" for the connection's own
row). ``events``: one row per event. ``application``: one wide table for each kind of workload that
has one. ``totals``: the sums of the run (``totals.py``). ``provenance``: a plain JSON object.
"""

from __future__ import annotations

import io
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from skyweave.errors import DamagedError
from skyweave.model.config import Run
from skyweave.model.files import sync_folder, write_durable
from skyweave.model.sealed import digest, read_sealed, read_whole, sealed
from skyweave.model.totals import RunTotals

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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
``goodput_mbps`` is what the application received in the interval that ends at ``time_s``,
``reorder_buffer_bytes`` what had come then and waits for earlier bytes, in subflows, too.
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

    def plot(self, connection: int = 0) -> Figure:
        """Draw a connection: goodput, what each path delivered in Mbit/s, round trips in ms.

        ``figure.savefig(file)`` writes it. Raises :class:`skyweave.errors.ResultsError` for a
        connection that the record does not have.
        """
        from skyweave.model.pictures import record_figure

        return record_figure(self, connection)

    def _repr_html_(self) -> str:
        """The record as a notebook shows it."""
        from skyweave.model.pages import record_page

        return record_page(self)

    def write(self, folder: Path) -> None:
        """Write the record as a folder, whole or not at all; :class:`OSError` if it cannot be.

        All of it is on the disk before it has its name: no loss of power leaves half a record.
        """
        draft = folder.with_name(f".{folder.name}.draft-{os.getpid()}")
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(parents=True)
        try:
            facts = {
                "totals": self.totals,
                "provenance": self.provenance,
                "tables": {name: _write(getattr(self, name), draft / _file(name)) for name in OWN},
            }
            if self.application:
                facts["application"] = _write_application(self.application, draft)
            write_durable(draft / FACTS, sealed(facts, sort_keys=True).encode())
            sync_folder(draft)
            draft.rename(folder)
            sync_folder(folder.parent)
        except OSError:
            shutil.rmtree(draft, ignore_errors=True)
            raise

    @classmethod
    def read(cls, folder: Path) -> Record:
        """Read a record that :meth:`write` wrote.

        Raises :class:`skyweave.errors.DamagedError` unless every byte is as it was written.
        """
        facts, tables = _whole(folder)
        return cls(
            **{name: _table(*tables[name]) for name in OWN},
            totals=facts["totals"],
            provenance=facts["provenance"],
            application={
                kind: _table(*tables[f"application/{kind}"])
                for kind in facts.get("application", {})
            },
        )


FACTS = "record.json"
OWN = ("samples", "events")
"""The tables of every record; ``record.json`` has their digests."""


def read_facts(folder: Path) -> dict[str, Any]:
    """Return ``totals`` and ``provenance`` of a record without its tables.

    Raises :class:`skyweave.errors.DamagedError` as :meth:`Record.read` does, for ``record.json``.
    """
    return read_sealed(folder / FACTS)


def verify(folder: Path) -> None:
    """Raise :class:`skyweave.errors.DamagedError` unless a record is, byte for byte, as written."""
    _whole(folder)


def _whole(folder: Path) -> tuple[dict[str, Any], dict[str, tuple[Path, bytes]]]:
    """Return the facts of a record, and its tables as bytes that have the digests of the facts."""
    facts = read_facts(folder)
    try:
        digests = {name: facts["tables"][name] for name in OWN}
        applications = {kind: one["sha256"] for kind, one in facts.get("application", {}).items()}
    except (KeyError, TypeError, AttributeError) as error:
        raise DamagedError(folder / FACTS, f"it lacks {error}") from error
    digests |= {f"application/{kind}": found for kind, found in applications.items()}
    tables = {}
    for name, written in digests.items():
        file = folder / _file(name)
        raw = read_whole(file)
        if digest(raw) != written:
            raise DamagedError(file, "its digest is not the one in record.json")
        tables[name] = (file, raw)
    return facts, tables


def _table(file: Path, raw: bytes) -> pl.DataFrame:
    try:
        return pl.read_parquet(raw)
    except pl.exceptions.PolarsError as error:
        raise DamagedError(file, f"Polars cannot read it: {error}") from error


def _file(name: str) -> str:
    return f"{name}.parquet"


def _write_application(tables: dict[str, pl.DataFrame], folder: Path) -> dict[str, Any]:
    """Write the tables of applications; return the name, the schema and the digest of each."""
    (folder / "application").mkdir()
    named = {}
    for kind, table in sorted(tables.items()):
        file = f"application/{_file(kind)}"
        schema = {name: str(dtype) for name, dtype in table.schema.items()}
        named[kind] = {"file": file, "schema": schema, "sha256": _write(table, folder / file)}
    sync_folder(folder / "application")
    return named


def _write(frame: pl.DataFrame, file: Path) -> str:
    """Write a table and return its digest.

    A full disk is an :class:`OSError`, which it is not when Polars meets it.
    """
    buffer = io.BytesIO()
    frame.write_parquet(buffer)
    write_durable(file, buffer.getbuffer())
    return digest(buffer.getbuffer())


Engine = Callable[[Run], Record]
"""What computes a run: the simulator, or Linux itself."""
