"""The Python face of the simulator: records, errors, and the same result every time."""

import polars as pl
import pytest

import skyweave as sw
from skyweave.model.record import EVENT_SCHEMA, SAMPLE_SCHEMA, Record


def path(name: str, mbps: float, rtt_ms: float, **change) -> sw.Path:
    link = sw.Link(
        capacity=sw.ConstantRate(mbps=mbps), delay=sw.ConstantDelay(ms=rtt_ms / 2), **change
    )
    return sw.Path(name=name, down=link, up=link)


def two_paths() -> list[sw.Path]:
    return [path("starlink", 50, 60), path("lte", 20, 90)]


def test_a_record_has_the_promised_columns_and_adds_up():
    record = sw.simulate(
        paths=two_paths(), connections=[sw.Connection(workload=sw.Bulk(bytes=5_000_000))]
    )
    assert dict(record.samples.schema) == SAMPLE_SCHEMA
    assert dict(record.events.schema) == EVENT_SCHEMA
    own = record.samples.filter(pl.col("path") == "")
    assert own["goodput_mbps"].null_count() == 0
    assert own["cwnd_packets"].null_count() == len(own)
    assert own["goodput_mbps"].sum() * 0.1 / 8 * 1e6 == pytest.approx(5_000_000)
    totals = record.totals["connections"][0]
    assert totals["delivered_bytes"] == 5_000_000
    assert sum(p["unique_bytes"] for p in totals["paths"].values()) == 5_000_000
    assert record.provenance["engine"] == "sim"


def test_single_path_tcp_uses_its_first_path_alone():
    record = sw.simulate(
        paths=two_paths(),
        connections=[
            sw.Connection(transport="tcp", paths=("lte",), workload=sw.Bulk(duration_s=5.0))
        ],
    )
    assert set(record.samples["path"]) == {"lte", ""}
    assert record.totals["connections"][0]["goodput_mbps"] < 20


def test_a_record_survives_its_folder(tmp_path):
    record = sw.simulate(
        paths=two_paths(), connections=[sw.Connection(workload=sw.Bulk(bytes=1_000_000))]
    )
    record.write(tmp_path / "one")
    back = Record.read(tmp_path / "one")
    assert back.samples.equals(record.samples)
    assert back.events.equals(record.events)
    assert (back.totals, back.provenance) == (record.totals, record.provenance)


def test_the_same_run_gives_the_same_bytes(tmp_path):
    loss = sw.GilbertElliott(p=0.001, r=0.3)
    for name in ("one", "two"):
        paths = [path("a", 30, 50, loss=loss), path("b", 10, 120, queue=sw.CoDel())]
        connection = sw.Connection(congestion="bbr", workload=sw.Bulk(duration_s=5.0))
        sw.simulate(paths=paths, connections=[connection], seed=9).write(tmp_path / name)
    for file in ("samples.parquet", "events.parquet", "record.json"):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()


def test_a_mahimahi_file_is_a_link(tmp_path):
    file = tmp_path / "steady.down"
    file.write_text("".join(f"{ms}\n" for ms in range(1, 1001)))  # 12 Mbit/s
    link = sw.Link(capacity=sw.read_capacity(file), delay=sw.ConstantDelay(ms=10))
    connection = sw.Connection(transport="tcp", congestion="bbr", workload=sw.Bulk(duration_s=20.0))
    record = sw.simulate(paths=[sw.Path(name="cell", down=link, up=link)], connections=[connection])
    share = record.totals["connections"][0]["goodput_mbps"] / (12 * 1448 / 1500)
    assert 0.9 < share <= 1


def test_names_that_do_not_exist_get_a_suggestion():
    bulk = sw.Bulk(bytes=1000)
    with pytest.raises(sw.ConfigError, match="no scheduler is called 'blast'; did you mean 'blest"):
        sw.simulate(
            paths=two_paths(), connections=[sw.Connection(scheduler="blast", workload=bulk)]
        )
    with pytest.raises(sw.ConfigError, match="no congestion control is called 'bbrr'; did you"):
        sw.simulate(
            paths=two_paths(), connections=[sw.Connection(congestion="bbrr", workload=bulk)]
        )


def test_what_rust_refuses_is_one_sentence():
    with pytest.raises(sw.ConfigError, match="connection 0 uses a path 'wifi' that the run does"):
        sw.simulate(paths=two_paths(), connections=[sw.Connection(paths=("wifi",))])
    steps = sw.RateSteps(times_s=(0.0, 2.0, 1.0), mbps=(1.0, 2.0, 3.0))
    bad = sw.Link(capacity=steps, delay=sw.ConstantDelay(ms=1))
    with pytest.raises(sw.ConfigError, match="path 'a', down link: capacity"):
        sw.simulate(paths=[sw.Path(name="a", down=bad, up=bad)], connections=[sw.Connection()])


def test_a_path_without_capacity_delivers_nothing():
    record = sw.simulate(
        paths=[path("dead", 0, 60)],
        connections=[sw.Connection(transport="tcp", workload=sw.Bulk(duration_s=5.0))],
    )
    assert record.totals["connections"][0]["delivered_bytes"] == 0


def keys(kind):
    return set(kind.__required_keys__), set(kind.__optional_keys__)


def test_the_totals_have_the_keys_of_their_types():
    bulk = sw.Connection(workload=sw.Bulk(bytes=1_000_000))
    totals = sw.simulate(paths=two_paths(), connections=[bulk]).totals
    needed, optional = keys(sw.RunTotals)
    assert set(totals) == needed | optional
    connection = totals["connections"][0]
    assert set(connection) == keys(sw.ConnectionTotals)[0]
    assert set(connection["paths"]["starlink"]) == keys(sw.PathTotals)[0]
    assert set(totals["links"]["starlink.down"]) == keys(sw.LinkTotals)[0]
