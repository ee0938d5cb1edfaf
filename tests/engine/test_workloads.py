"""Workloads other than bulk in the simulator, and their tables in the record."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import polars as pl
import pytest

import skyweave as sw
from skyweave.engine import workloads


def _path(mbps: float, rtt_ms: float) -> sw.Path:
    link = sw.Link(capacity=sw.ConstantRate(mbps=mbps), delay=sw.ConstantDelay(ms=rtt_ms / 2))
    return sw.Path(name="only", down=link, up=link)


def _run(*tables: dict[str, object], transport: str = "tcp") -> sw.Record:
    connections = [
        sw.Connection.model_validate({"transport": transport, "workload": table})
        for table in tables
    ]
    return sw.simulate(paths=[_path(20, 50)], connections=connections)


REQUESTS = {"kind": "requests", "object_bytes": [1_000, 50_000], "think_s": 0.1}
CALL = {"kind": "paced", "direction": "both", "rate_mbps": 1, "deadline_ms": 80, "duration_s": 2}


@pytest.mark.parametrize("transport", ["tcp", "mptcp", "mpquic"])
def test_objects_have_a_row_each_in_a_table_of_their_own(transport: str) -> None:
    record = _run(REQUESTS, transport=transport)
    table = record.application["requests"]
    declared = {one.name: one.dtype for one in workloads.tables()["requests"]}
    assert dict(table.schema) == {"connection": pl.Int32(), **declared}
    assert table["object_bytes"].to_list() == [1_000, 50_000]
    assert table["completion_ms"].min() >= 50
    assert record.totals["connections"][0]["completion_s"] > 0.1


def test_a_table_has_the_rows_of_all_connections_of_its_kind() -> None:
    record = _run(REQUESTS, CALL, {"bytes": 100_000}, REQUESTS)
    assert set(record.application) == {"requests", "paced"}
    assert record.application["requests"]["connection"].to_list() == [0, 0, 3, 3]
    assert record.application["paced"]["direction"].unique().sort().to_list() == ["down", "up"]


def test_tables_are_named_in_the_record_with_schema_and_digest(tmp_path: Path) -> None:
    record = _run(REQUESTS, CALL)
    record.write(tmp_path / "run")
    named = json.loads((tmp_path / "run" / "record.json").read_text())["application"]
    assert set(named) == {"requests", "paced"}
    for kind, table in named.items():
        file = tmp_path / "run" / table["file"]
        assert hashlib.sha256(file.read_bytes()).hexdigest() == table["sha256"]
        schema = record.application[kind].schema
        assert table["schema"] == {name: str(dtype) for name, dtype in schema.items()}
    again = sw.Record.read(tmp_path / "run")
    assert all(again.application[kind].equals(record.application[kind]) for kind in named)


def test_a_record_of_bulk_says_nothing_of_applications(tmp_path: Path) -> None:
    record = _run({"kind": "bulk", "bytes": 100_000})
    record.write(tmp_path / "run")
    assert "application" not in json.loads((tmp_path / "run" / "record.json").read_text())
    assert not (tmp_path / "run" / "application").exists()
    assert sw.Record.read(tmp_path / "run").application == {}


def test_the_description_of_bulk_is_what_it_was() -> None:
    connection = sw.Connection.model_validate({"workload": {"kind": "bulk", "bytes": 5}})
    assert connection.workload == sw.Bulk(bytes=5)
    assert "kind" not in json.loads(connection.model_dump_json())["workload"]


@pytest.mark.parametrize(
    ("table", "complaint"),
    [
        ({"kind": "vidoe"}, "'vidoe', which does not exist; there are bulk, requests, paced"),
        ({"kind": "requests", "object_bytes": []}, "no object_bytes"),
        ({"kind": "requests", "object_bytes": [5], "size": 3}, "unknown field `size`"),
        ({**CALL, "piece_bytes": 3}, "piece_bytes = 3"),
        ({"kind": "bulk"}, "neither bytes nor duration_s"),
    ],
)
def test_a_workload_that_cannot_be_is_refused(table: dict[str, object], complaint: str) -> None:
    with pytest.raises(sw.ConfigError, match=complaint):
        _run(table)
    connection = sw.Connection.model_validate({"workload": table})
    with pytest.raises(sw.ConfigError, match=complaint):
        workloads.check(connection.workload)
