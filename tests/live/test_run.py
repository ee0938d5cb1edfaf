"""Whole runs of the live engine: bytes, paths, what comes and goes, and iperf3 in its place."""

from __future__ import annotations

import shutil

import pytest
from made_paths import path

from skyweave.errors import ConfigError
from skyweave.live.engine import run_live
from skyweave.live.traffic import iperf
from skyweave.model import config
from skyweave.model.record import Record

LINUX = {"mode": "upstream", "scheduler": "upstream"}
pytestmark = pytest.mark.usefixtures("prompt")
A, B = path("a", 20.0, 5.0), path("b", 30.0, 10.0)
SIZE = 200_000
LONG_S = 5.0
"""Several times as long as a subflow takes that joins late: 50 ms of it are enough for SIZE."""

needs_iperf3 = pytest.mark.skipif(
    not (shutil.which("iperf3") and shutil.which("mptcpize")), reason="no iperf3, or no mptcpize"
)


def run(*paths: config.Path, stop_s: float = 60.0, **connection: object) -> config.Run:
    one = config.Connection.model_validate({**LINUX, **connection})
    return config.Run(paths=paths, connections=(one,), stop_after_s=stop_s)


def bulk(**workload: object) -> dict[str, object]:
    return {"workload": workload}


def last(record: Record, name: str, key: str) -> float:
    found = record.samples.filter(record.samples["path"] == name)[key].to_list()
    return float(found[-1])


def seen_events(record: Record, name: str) -> list[str]:
    rows = record.events.filter(record.events["path"] == name)
    return [event for event in rows["event"].to_list() if event in ("established", "closed")]


@pytest.mark.parametrize("direction", ["down", "up"])
def test_a_transfer_completes_with_exactly_its_bytes(direction: str) -> None:
    workload = bulk(bytes=SIZE, direction=direction)
    record = run_live(run(A, transport="tcp", **workload))
    totals = record.totals["connections"][0]
    assert totals["delivered_bytes"] == SIZE
    assert 0 < totals["completion_s"] < 60
    assert last(record, "", "delivered_bytes") == SIZE
    only = totals["paths"]["a"]
    assert only["unique_bytes"] == SIZE
    assert only["sent_bytes"] >= SIZE
    # Half a round trip each way is in every acknowledgement.
    assert only["min_rtt_ms"] >= 10.0
    assert record.totals["links"][f"a.{direction}"]["delivered_bytes"] > SIZE
    assert record.provenance["engine"] == "live"
    assert record.provenance["source"] == "own"


def test_both_paths_of_multipath_tcp_carry() -> None:
    record = run_live(run(A, B, **bulk(duration_s=LONG_S)))
    for name in ("a", "b"):
        assert seen_events(record, name)[0] == "established"
        assert last(record, name, "delivered_bytes") > SIZE
        assert record.totals["connections"][0]["paths"][name]["unique_bytes"] > SIZE
    assert record.totals["connections"][0]["fallback"] is False


def test_a_path_that_comes_gets_a_subflow_and_one_that_goes_loses_it() -> None:
    window = [{"start_s": 1.0, "end_s": 1.0 + LONG_S}]
    both = run(A, path("b", 30.0, 10.0, present=window), **bulk(duration_s=2.0 + LONG_S))
    record = run_live(both)
    assert seen_events(record, "b") == ["established", "closed"]
    assert seen_events(record, "a") == ["established"]
    came, went = record.events.filter(record.events["path"] == "b")["time_s"].to_list()[:2]
    assert came > 1.0
    assert went > 1.0 + LONG_S
    assert last(record, "b", "delivered_bytes") > 0
    assert last(record, "b", "cwnd_packets") == 0


@needs_iperf3
def test_iperf3_completes_with_exactly_its_bytes() -> None:
    record = run_live(run(A, transport="tcp", **bulk(bytes=SIZE)), "iperf3")
    totals = record.totals["connections"][0]
    assert totals["delivered_bytes"] == SIZE
    assert totals["completion_s"] is not None
    assert record.provenance["source"] == "iperf3"
    # Not ours is said not at all, and the links are: headers and iperf3's own talk included.
    assert totals["paths"]["a"]["sent_bytes"] is None
    assert record.samples["cwnd_packets"].null_count() == len(record.samples)
    assert record.totals["links"]["a.down"]["delivered_bytes"] > SIZE


@needs_iperf3
def test_iperf3_speaks_multipath_tcp_up() -> None:
    record = run_live(run(A, B, **bulk(duration_s=LONG_S, direction="up")), "iperf3")
    assert record.totals["connections"][0]["delivered_bytes"] > 2 * SIZE
    for name in ("a", "b"):
        assert last(record, name, "delivered_bytes") > SIZE


@needs_iperf3
def test_a_transfer_that_never_opens_says_why() -> None:
    away = path("a", 20.0, 5.0, present=[{"start_s": 1000.0}])
    record = run_live(run(away, stop_s=1.0, transport="tcp", **bulk(duration_s=1.0)))
    only = record.totals["connections"][0]
    assert only["delivered_bytes"] == 0
    assert only["error"].startswith("no connection: ")


def test_iperf3_that_never_connects_delivers_nothing() -> None:
    away = path("a", 20.0, 5.0, present=[{"start_s": 1000.0}])
    record = run_live(run(away, stop_s=1.0, transport="tcp", **bulk(duration_s=1.0)), "iperf3")
    assert record.totals["connections"][0]["delivered_bytes"] == 0


def test_what_iperf3_cannot_express_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    one = run(A, **bulk(duration_s=1.0))
    assert iperf.refusal(one) is None
    two = one.model_copy(update={"connections": one.connections * 2})
    assert "one connection, and the run has 2" in (iperf.refusal(two) or "")
    fine = one.model_copy(update={"sample_interval_ms": 10})
    assert "every 100 ms at most" in (iperf.refusal(fine) or "")
    odd = run(A, **bulk(bytes=1_000_003))
    assert "multiple of 1000" in (iperf.refusal(odd) or "")
    monkeypatch.setattr(shutil, "which", lambda name: None if name == "mptcpize" else "/bin/x")
    assert "'mptcpize' is missing; install the package mptcpd" in (iperf.refusal(one) or "")
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(ConfigError, match="'iperf3' is missing; install the package iperf3"):
        run_live(one, "iperf3")
