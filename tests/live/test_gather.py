"""Columns of a record from made-up rows of both ends: sums, events, nulls."""

from __future__ import annotations

from typing import Any

import pytest
from made_paths import path

from skyweave.live.record.gather import gather
from skyweave.live.traffic.iperf import view_of
from skyweave.model import config
from skyweave.model.record import Record

EPOCH_NS = 5_000_000_000
TICK_NS = 100_000_000
PATHS = (path("a"), path("b"))


def subflow(place: int, port: int = 1000, **changed: Any) -> dict[str, Any]:
    """A subflow as the server, which sends, sees it."""
    usual = {
        "local": ["10.90.0.1", 5201], "remote": [f"10.90.{place + 1}.1", port],
        "cwnd_packets": 10, "srtt_ms": 20.0, "min_rtt_ms": 19.0, "in_flight_packets": 3,
        "pacing_mbps": 5.0, "acked_bytes": 0, "received_bytes": 0, "sent_bytes": 0,
        "sent_packets": 0, "retransmitted_packets": 0, "timeouts": 0,
    }  # fmt: skip
    return usual | changed


def seen(*rows: dict[str, Any], completed_ns: int | None = None) -> dict[str, Any]:
    numbered = [
        {"tick": tick, "at_ns": EPOCH_NS + tick * TICK_NS, "bytes": 0} | row
        for tick, row in enumerate(rows, 1)
    ]
    return {"rows": numbered, "completed_ns": completed_ns}


def record(
    sender: dict[str, Any], receiver: dict[str, Any], view: Any = None, **workload: Any
) -> Record:
    """The record of a Multipath TCP download over both paths."""
    bulk = {"duration_s": 0.1 * max(len(sender["rows"]), len(receiver["rows"])), **workload}
    run = config.Run(
        paths=PATHS,
        connections=(config.Connection(mode="upstream", workload=config.Bulk(**bulk)),),
        stop_after_s=10.0,
    )
    names = [f"{name}.{way}" for name in "ab" for way in ("down", "up")]
    samples = {
        "time_s": [0.1] * 4 + [0.2] * 4, "link": names * 2,
        "queue_bytes": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0],
        "delivered_bytes": [10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0],
    }  # fmt: skip
    counted = {name: {"delivered_packets": 7} for name in names}
    links = {"samples": samples, "statistics": {"links": counted}}
    return Record(*gather(run, EPOCH_NS, ([receiver], [sender]), links, view), provenance={})


def column(found: Record, name: str, key: str) -> list[Any]:
    rows = found.samples.filter(found.samples["path"] == name)
    return rows[key].to_list()


def events(found: Record) -> list[tuple[float, str, str, float]]:
    keys = ("time_s", "path", "event", "value")
    return [tuple(row[key] for key in keys) for row in found.events.to_dicts()]  # type: ignore[misc]


def test_a_subflow_that_vanishes_keeps_its_sums_and_is_closed() -> None:
    sender = seen(
        {"subflows": [subflow(0, acked_bytes=100), subflow(1, acked_bytes=50)]},
        {"subflows": [subflow(0, acked_bytes=300)]},
    )
    found = record(sender, seen({"bytes": 100}, {"bytes": 300}))
    assert column(found, "a", "delivered_bytes") == [100.0, 300.0]
    assert column(found, "b", "delivered_bytes") == [50.0, 50.0]
    assert column(found, "b", "cwnd_packets") == [10.0, 0.0]
    assert (0.2, "b", "closed", 0.0) in events(found)


def test_a_second_subflow_of_a_path_adds_to_the_first() -> None:
    sender = seen(
        {"subflows": [subflow(1, port=1, sent_packets=5)]},
        {"subflows": [subflow(1, port=2, sent_packets=7)]},
    )
    totals = record(sender, seen({}, {})).totals["connections"][0]
    assert totals["paths"]["b"]["sent_packets"] == 12
    assert totals["paths"]["a"]["sent_packets"] == 0


def test_timeouts_and_fallback_are_events() -> None:
    sender = seen(
        {"subflows": [subflow(0)]},
        {"subflows": [subflow(0, timeouts=2)], "fallback": True},
        {"subflows": [subflow(0, timeouts=2)], "fallback": True},
    )
    found = record(sender, seen({}, {}, {}))
    assert events(found) == [
        (0.1, "a", "established", 0.0),
        (0.2, "a", "timeout", 2.0),
        (0.2, "", "fallback", 0.0),
    ]
    assert found.totals["connections"][0]["fallback"] is True
    assert found.totals["connections"][0]["paths"]["a"]["timeouts"] == 2


def test_what_the_kernel_does_not_tell_is_null() -> None:
    found = record(seen({"subflows": [subflow(0, pacing_mbps=None)]}), seen({"bytes": 9}))
    assert column(found, "a", "pacing_mbps") == [None]
    assert column(found, "a", "lost_packets") == [None]
    assert column(found, "", "reorder_buffer_bytes") == [None]
    assert column(found, "a", "goodput_mbps") == [None]
    totals = found.totals["connections"][0]
    assert totals["duplicate_bytes"] is None
    assert totals["in_order_wait_p99_ms"] is None
    assert totals["frozen_s"] is None
    assert totals["paths"]["a"]["lost_packets"] is None


def test_goodput_is_what_arrived_in_each_interval() -> None:
    found = record(seen({}, {}), seen({"bytes": 12_500}, {"bytes": 37_500}))
    assert column(found, "", "delivered_bytes") == [12_500.0, 37_500.0]
    assert column(found, "", "goodput_mbps") == pytest.approx([1.0, 2.0])


def test_a_transfer_that_ends_between_samples_has_all_its_bytes() -> None:
    done = EPOCH_NS + 150_000_000
    receiver = seen({"bytes": 50_000}, {"bytes": 80_000}, completed_ns=done)
    found = record(seen({}, {}), receiver, bytes=80_000)
    totals = found.totals["connections"][0]
    assert (totals["delivered_bytes"], totals["completion_s"]) == (80_000, 0.15)
    assert column(found, "", "delivered_bytes")[-1] == 80_000.0


def test_a_connection_that_never_opened_is_zeros() -> None:
    found = record({"rows": [], "completed_ns": None}, {"rows": [], "completed_ns": None},
                   duration_s=0.2)  # fmt: skip
    assert column(found, "", "goodput_mbps") == [0.0, 0.0]
    assert column(found, "a", "cwnd_packets") == [0.0, 0.0]
    assert not events(found)


def test_without_the_kernel_a_path_is_what_the_relay_counted() -> None:
    found = record(seen(), seen({"bytes": 100}, {"bytes": 200}), view=view_of)
    assert column(found, "a", "delivered_bytes") == [10.0, 50.0]
    assert column(found, "b", "delivered_bytes") == [30.0, 70.0]
    assert column(found, "b", "queue_bytes") == [3.0, 7.0]
    for key in ("cwnd_packets", "srtt_ms", "in_flight_packets", "retransmitted_packets"):
        assert column(found, "a", key) == [None, None]
    totals = found.totals["connections"][0]
    assert totals["delivered_bytes"] == 200
    assert totals["fallback"] is None
    assert set(totals["paths"]["a"].values()) == {None}
