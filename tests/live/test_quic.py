"""Multipath QUIC in live runs: the endpoint of ``crates/mpquic`` on sockets in namespaces."""

from __future__ import annotations

import pytest
from made_paths import path

from skyweave.engine.simulator import simulate
from skyweave.errors import ConfigError
from skyweave.live.check import refusal
from skyweave.live.engine import run_live
from skyweave.live.traffic.iperf import refusal as iperf_refusal
from skyweave.model import config
from skyweave.model.record import SAMPLE_SCHEMA, Record

pytestmark = pytest.mark.usefixtures("prompt")
A, B = path("a", 20.0, 5.0), path("b", 30.0, 10.0)
SIZE = 2_000_000


def run(*paths: config.Path, stop_s: float = 30.0, **connection: object) -> config.Run:
    one = config.Connection.model_validate({"transport": "mpquic", **connection})
    return config.Run(paths=paths, connections=(one,), stop_after_s=stop_s)


def column(record: Record, name: str, key: str) -> list[float]:
    return list(record.samples.filter(record.samples["path"] == name)[key].to_list())


def events(record: Record, name: str) -> list[str]:
    return list(record.events.filter(record.events["path"] == name)["event"].to_list())


@pytest.mark.parametrize("direction", ["down", "up"])
def test_a_transfer_completes_with_exactly_its_bytes(direction: str) -> None:
    record = run_live(run(A, B, workload={"bytes": SIZE, "direction": direction}))
    totals = record.totals["connections"][0]
    assert totals["delivered_bytes"] == SIZE
    assert 0 < totals["completion_s"] < 60
    assert column(record, "", "delivered_bytes")[-1] == SIZE
    assert totals["error"] is None
    assert sum(one["unique_bytes"] for one in totals["paths"].values()) == SIZE
    # The first packets of b are acknowledged on a as long as b is not validated: 10 ms and 5 ms.
    for name, least_rtt_ms in (("a", 10.0), ("b", 15.0)):
        only = totals["paths"][name]
        assert only["unique_bytes"] > 0
        assert only["sent_bytes"] > only["unique_bytes"]
        assert only["min_rtt_ms"] >= least_rtt_ms
        assert events(record, name)[0] == "established"
        assert record.totals["links"][f"{name}.{direction}"]["delivered_bytes"] > 0


def test_every_column_of_a_record_is_filled() -> None:
    # Bytes, not a time: how soon b opens depends on what else the machine does.
    record = run_live(run(A, B, workload={"bytes": 4 * SIZE}))
    for key in SAMPLE_SCHEMA:
        assert any(value is not None for value in record.samples[key].to_list()), key
    most = [max(column(record, name, "cwnd_packets")) for name in ("a", "b")]
    assert all(packets > 0 for packets in most), most  # the last row may be of after the end
    assert column(record, "", "send_window_bytes")[-1] is not None
    totals = record.totals["connections"][0]
    assert None not in {key: totals[key] for key in ("waits", "window_stalls", "duplicate_bytes")}
    assert totals["scheduler"] == "minrtt"
    waits = [totals[f"in_order_wait_{name}_ms"] for name in ("p50", "p99", "longest")]
    assert None not in waits, waits
    assert waits == sorted(waits)
    assert 0 < totals["in_order_wait_mean_ms"] < waits[-1]  # what b brings is 5 ms behind


def test_a_path_that_comes_and_goes_is_used_and_left() -> None:
    """Both get work, also where the machine is too busy to fill the first."""
    b = path("b", 30.0, 10.0, present=[{"start_s": 1.0, "end_s": 2.5}])
    record = run_live(run(A, b, workload={"duration_s": 4.0}, scheduler="roundrobin"))
    assert events(record, "b") == ["established", "closed"]
    came, went = record.events.filter(record.events["path"] == "b")["time_s"].to_list()
    assert 1.0 < came < went
    assert went > 2.5
    assert "closed" not in events(record, "a")
    carried = column(record, "b", "delivered_bytes")
    assert carried[8] == 0
    assert carried[-1] > 10_000  # challenges are fewer
    assert column(record, "b", "cwnd_packets")[-1] == 0


def test_the_only_path_may_go_and_come_back() -> None:
    windows = [{"start_s": 0.0, "end_s": 1.0}, {"start_s": 2.0}]
    workload = {"bytes": 5_000_000}
    record = run_live(run(path("a", 20.0, 5.0, present=windows), workload=workload))
    totals = record.totals["connections"][0]
    assert totals["delivered_bytes"] == 5_000_000
    assert totals["completion_s"] > 2.0


@pytest.mark.parametrize("direction", ["down", "up"])
def test_a_backup_path_carries_data_only_while_the_other_one_is_dark(direction: str) -> None:
    dark = path("a", 20.0, 5.0, outages=[{"start_s": 1.5, "end_s": 3.0}])
    spare = path("b", 30.0, 10.0, backup=True)
    workload = {"duration_s": 5.0, "direction": direction}
    record = run_live(run(dark, spare, workload=workload))
    times = column(record, "b", "time_s")
    rows = [next(n for n, t in enumerate(times) if t >= at) for at in (1.4, 3.0, 4.0)]
    before, dark_end, used_again, end = (
        [column(record, name, "delivered_bytes")[row] for name in ("a", "b")] for row in [*rows, -1]
    )
    # Probes, and what is sent again where the machine stood still longer than a path may be silent.
    assert before[1] < before[0] / 10
    assert dark_end[1] > SIZE / 2
    assert end[1] - used_again[1] < (end[0] - used_again[0]) / 10


def test_an_outage_reads_the_same_in_both_engines() -> None:
    """Longer than any timer that would open a path anew."""
    b = path("b", 30.0, 10.0, outages=[{"start_s": 1.5, "end_s": 8.5}])
    both = run(A, b, workload={"duration_s": 10.0})
    for record in (run_live(both), simulate(both)):
        assert events(record, "b") == ["established", "failed", "revived"]
        failed, revived = (
            record.events.filter((record.events["path"] == "b") & (record.events["event"] == name))[
                "time_s"
            ].item()
            for name in ("failed", "revived")
        )
        assert 1.5 < failed < 8.5 < revived < 9.5


def test_a_foreseen_outage_is_met_at_rest() -> None:
    outage = {"outages": [{"start_s": 1.0, "end_s": 2.5}]}
    for foreseen in (True, False):
        b = path("b", 30.0, 10.0, **outage)
        b = b.model_copy(update={"forecast": "outages" if foreseen else "none"})
        record = run_live(run(A, b, workload={"duration_s": 4.0}))
        assert ("failed" in events(record, "b")) is not foreseen
        assert (record.totals["connections"][0]["paths"]["b"]["timeouts"] == 0) is foreseen


def test_a_forecast_arrives_during_a_run_and_is_corrected() -> None:
    b = path("b", 30.0, 10.0, outages=[{"start_s": 2.0, "end_s": 3.5}])
    wrong = {"outages": [{"start_s": 1.0, "end_s": 1.4}]}
    corrected = {"issued_at_s": 0.6, "outages": [{"start_s": 2.0, "end_s": 3.5}]}
    for updates in ([], [{"arrives_s": 0.7, "forecast": corrected}]):
        facts = b.model_dump() | {"forecast": wrong, "forecast_updates": updates}
        told = config.Path.model_validate(facts)
        record = run_live(run(A, told, workload={"duration_s": 4.5}))
        assert ("failed" in events(record, "b")) is not bool(updates)


def test_the_policies_of_the_study_reach_the_endpoint() -> None:
    quic = {"ack_path": "duplicated", "reinjection": "none", "datagram_bytes": 1200}
    workload = {"duration_s": 1.0}
    record = run_live(run(A, B, workload=workload, scheduler="redundant", quic=quic))
    totals = record.totals["connections"][0]
    assert totals["scheduler"] == "redundant"
    assert totals["duplicate_bytes"] > 0
    assert sum(one["redundant_packets"] for one in totals["paths"].values()) > 0


def test_two_transports_share_the_links() -> None:
    both = tuple(
        config.Connection.model_validate({"transport": name, "workload": {"duration_s": 2.0}})
        for name in ("tcp", "mpquic")
    )
    record = run_live(config.Run(paths=(A,), connections=both, stop_after_s=10.0))
    assert [one["transport"] for one in record.totals["connections"]] == ["tcp", "mpquic"]
    assert all(one["delivered_bytes"] > 0 for one in record.totals["connections"])


def test_what_cannot_be_is_refused() -> None:
    wrong = run(A, scheduler="nonsense")
    reason = refusal(wrong)
    assert reason is not None
    assert "no scheduler is called 'nonsense'" in reason
    with pytest.raises(ConfigError):
        run_live(wrong)
    reason = iperf_refusal(run(A))
    assert reason is not None
    assert "take --source own" in reason
