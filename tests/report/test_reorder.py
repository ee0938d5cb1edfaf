"""What waits at the receiver for earlier bytes: quantities, and their figure."""

from __future__ import annotations

import pytest

import skyweave as sw
from skyweave.model.record import Record
from skyweave.report.figures.reorder import reorder_figure
from skyweave.report.numbers.reorder import blocking, in_order_waits, reorder_quantities


def _record(*rtts_ms: float, size: int | None = None) -> Record:
    def path(name: str, rtt_ms: float) -> sw.Path:
        link = sw.Link(capacity=sw.ConstantRate(mbps=5), delay=sw.ConstantDelay(ms=rtt_ms / 2))
        return sw.Path(name=name, down=link, up=link)

    paths = [path(f"p{number}", rtt_ms) for number, rtt_ms in enumerate(rtts_ms)]
    workload = sw.Bulk(duration_s=5) if size is None else sw.Bulk(bytes=size)
    return sw.simulate(paths=paths, connections=[sw.Connection(workload=workload)])


def test_more_waits_the_more_the_paths_differ() -> None:
    alone, apart = reorder_quantities(_record(20)), reorder_quantities(_record(20, 400))
    assert alone["reorder_mean_mb"][0] < apart["reorder_mean_mb"][0]
    assert 0 < apart["reorder_mean_mb"][0] < apart["reorder_max_mb"][0]


def test_a_panel_is_drawn_to_the_largest_of_all() -> None:
    figure = reorder_figure([("alone", _record(20)), ("apart", _record(20, 400))])
    most = reorder_quantities(_record(20, 400))["reorder_max_mb"][0]
    assert all(axes.get_ylim()[1] >= most for axes in figure.axes)


def test_waits_are_largest_of_connections_and_means_over_all_bytes() -> None:
    def connection(p99_ms: float | None, own: float, others: float) -> dict[str, object]:
        path = {"blocked_own_byte_s": own, "blocked_others_byte_s": others}
        quiet = {"blocked_own_byte_s": 0.0, "blocked_others_byte_s": 0.0}
        return {
            "in_order_wait_p99_ms": p99_ms,
            "delivered_bytes": 1000,
            "paths": {"SL": path, "LTE": quiet},
        }

    both = [connection(30.0, 20.0, 60.0), connection(None, 0.0, 0.0)]
    found = in_order_waits(both)
    assert found["in_order_wait_p99_ms"].tolist() == [30.0]
    assert found["loss_wait_ms"].tolist() == [10.0]
    assert not len(found["frozen_s"])
    assert blocking(both, "SL") == {"blocking_ms": 30.0, "blocking_share": 0.75}
    assert blocking(both, "LTE") == {"blocking_ms": 0.0, "blocking_share": 0.0}


def test_an_engine_that_does_not_tell_has_no_waits() -> None:
    path = {"blocked_own_byte_s": None, "blocked_others_byte_s": None}
    silent = [{"in_order_wait_p99_ms": None, "delivered_bytes": 1000, "paths": {"SL": path}}, {}]
    assert not any(len(values) for values in in_order_waits(silent).values())
    assert blocking(silent, "SL") == {}


def test_the_causes_of_all_waits_add_up_to_the_mean() -> None:
    connections = _record(20, 400, size=3_000_000).totals["connections"]
    waits = in_order_waits(connections)
    far, near = blocking(connections, "p1"), blocking(connections, "p0")
    assert far["blocking_ms"] > 0
    parts_ms = far["blocking_ms"] + near["blocking_ms"] + waits["loss_wait_ms"][0]
    assert parts_ms == pytest.approx(waits["in_order_wait_mean_ms"][0], rel=0.001)
    p50, p99, longest = (waits[f"in_order_wait_{name}_ms"][0] for name in ("p50", "p99", "longest"))
    assert p50 <= p99 <= longest
