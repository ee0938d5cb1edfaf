"""A recorder loses nothing that it was told, marks what it was not, and keeps to its quota."""

from __future__ import annotations

import os

import polars as pl
import pytest

from skyweave.errors import DataError
from skyweave.telemetry.dish import history, status
from skyweave.telemetry.dish.client import Dish
from skyweave.telemetry.dish.faults import Fault, Planned
from skyweave.telemetry.dish.record import PIXELS, Options, Recorder
from skyweave.telemetry.store import Store, hours, read

SCHEMA = {"time_unix_s": pl.Float64, "value": pl.Float64}
HOUR_S = 1_777_593_600.0


def rows(start_s: float, count: int, step_s: float = 1.0) -> list[dict[str, float]]:
    return [{"time_unix_s": start_s + step_s * n, "value": float(n)} for n in range(count)]


def test_each_hour_is_a_file(tmp_path):
    store = Store(tmp_path)
    store.add("probe", SCHEMA, rows(HOUR_S + 3000, 1200))
    store.flush()
    assert [file.name for file in hours(tmp_path)] == [
        "probe-20260501T00.parquet", "probe-20260501T01.parquet",
    ]  # fmt: skip
    assert read(tmp_path, "probe", SCHEMA)["value"].to_list() == [float(n) for n in range(1200)]


def test_a_recorder_that_begins_again_goes_on_in_its_hour(tmp_path):
    for part in range(3):
        store = Store(tmp_path)
        store.add("probe", SCHEMA, rows(HOUR_S + 100 * part, 100))
        store.flush()
    assert len(read(tmp_path, "probe", SCHEMA)) == 300


def test_what_a_crash_left_is_whole(tmp_path):
    """Without a flush at the end, all but the last five minutes are there; drafts are removed."""
    store = Store(tmp_path)
    for row in rows(HOUR_S, 1000):
        store.add("probe", SCHEMA, [row])
    (tmp_path / f".probe-20260501T00.parquet.draft-{os.getpid()}").write_bytes(b"half")
    assert len(read(tmp_path, "probe", SCHEMA)) >= 700
    Store(tmp_path)
    assert [one.name for one in tmp_path.iterdir()] == ["probe-20260501T00.parquet"]


def test_a_damaged_hour_is_set_aside(tmp_path):
    (tmp_path / "probe-20260501T00.parquet").write_bytes(b"PAR1 torn")
    with pytest.raises(DataError, match="no whole Parquet file"):
        read(tmp_path, "probe", SCHEMA)
    store = Store(tmp_path)
    store.add("probe", SCHEMA, rows(HOUR_S, 10))
    store.flush()
    assert len(read(tmp_path, "probe", SCHEMA)) == 10
    assert [one.read_bytes() for one in tmp_path.glob("*.damaged-*")] == [b"PAR1 torn"]


def test_the_quota_removes_the_oldest_hours_and_nothing_else(tmp_path):
    (tmp_path / "holiday.parquet").write_bytes(os.urandom(3_000_000))
    store = Store(tmp_path, quota_bytes=1_000_000)
    for hour in range(6):
        noise = os.urandom(8 * 40_000)
        values = [int.from_bytes(noise[8 * n : 8 * n + 8], "big") / 1e3 for n in range(40_000)]
        store.add("probe", SCHEMA, [
            {"time_unix_s": HOUR_S + 3600 * hour + n / 12, "value": value}
            for n, value in enumerate(values)
        ])  # fmt: skip
        store.flush()
        total = sum(file.stat().st_size for file in hours(tmp_path))
        assert total <= 1_000_000
    left = [file.name for file in hours(tmp_path)]
    assert left[-1] == "probe-20260501T05.parquet"
    assert len(left) < 6
    assert left == sorted(left)
    assert (tmp_path / "holiday.parquet").exists()


def test_rows_stay_while_nothing_can_be_written(tmp_path, monkeypatch):
    from skyweave.telemetry import store as module

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    store = Store(tmp_path / "here")
    with monkeypatch.context() as patch:
        patch.setattr(module, "write_durable", full)
        for start in (0, 3000, 6000):
            with pytest.raises(DataError, match="No space left"):
                store.add("probe", SCHEMA, rows(HOUR_S + start, 1000))
    store.flush()
    assert len(read(tmp_path / "here", "probe", SCHEMA)) == 3000


def test_rows_in_memory_are_bounded(tmp_path, monkeypatch):
    from skyweave.telemetry import store as module

    monkeypatch.setattr(module, "MOST_ROWS", 100)
    store = Store(tmp_path)
    store.add("probe", SCHEMA, rows(HOUR_S, 250))
    store.flush()
    assert store.lost_rows == 150
    assert len(read(tmp_path, "probe", SCHEMA)) == 100


def test_columns_of_another_version_are_null_or_left_out(tmp_path):
    store = Store(tmp_path)
    store.add("probe", SCHEMA, rows(HOUR_S, 5))
    store.flush()
    wider = {"time_unix_s": pl.Float64, "new": pl.String}
    found = read(tmp_path, "probe", wider)
    assert found.columns == ["time_unix_s", "new"]
    assert found["new"].null_count() == 5


def test_an_hour_of_a_dish(fake, clock, tmp_path):
    """Status each second, history each five minutes, and a minute without answers in between."""
    dish = fake(planned=[Planned(Fault.UNREACHABLE, 600.0, 60.0)])
    said: list[str] = []
    began = clock.now
    with Dish(dish.host, timeout_s=60) as client:
        recorder = Recorder(client, Store(tmp_path), offset=lambda: 0.25, warn=said.append)
        for second in range(1000):
            clock.now = began + second
            recorder.tick(float(second), clock.now)
        recorder.finish(1000.0, clock.now)
    rows = read(tmp_path, "status", status.SCHEMA)
    assert len(rows) == recorder.rows == 940
    marked = rows.filter(pl.col("gap_s").is_not_null())
    assert marked["gap_s"].to_list() == [61.0]
    assert "not reachable" in marked["gap_why"][0]
    assert rows["clock_offset_s"].unique().to_list() == [0.25]
    assert rows["firmware"].null_count() == 0
    assert rows["latitude_deg"].null_count() == len(rows)
    assert len(said) == 2  # once for the status, once for the history of second 600
    past = read(tmp_path, "history", history.SCHEMA)
    assert past["counter"].to_list() == list(range(999))
    assert past["gap"].sum() == 0
    assert hours(tmp_path, "pixels") == []


def test_the_location_is_kept_only_if_asked_for(fake, clock, tmp_path):
    dish = fake()
    with Dish(dish.host, timeout_s=60) as client:
        recorder = Recorder(client, Store(tmp_path), Options(location=True))
        recorder.tick(0.0, clock.now)
        recorder.finish(1.0, clock.now)
    rows = read(tmp_path, "status", status.SCHEMA)
    assert rows["latitude_deg"].to_list() == pytest.approx([47.61])


def test_new_pixels_are_kept_with_the_attitude(fake, clock, tmp_path, world):
    dish = fake()
    began = clock.now
    with Dish(dish.host, timeout_s=60) as client:
        recorder = Recorder(client, Store(tmp_path), Options(satellites=True, clear_map_s=60.0))
        for half in range(240):
            clock.now = began + half / 2
            recorder.tick(half / 2, clock.now)
        recorder.finish(120.0, clock.now)
    rows = read(tmp_path, "pixels", PIXELS)
    assert 30 < len(rows) <= 120
    assert dish.clears == 2
    assert rows["frame"].unique().to_list() == ["FRAME_EARTH"]
    assert rows["q_x"].null_count() == 0
    spans = rows["time_unix_s"] - rows["before_unix_s"]
    assert spans.max() == 0.5


def test_missed_moments_are_not_made_up_for(fake, clock, tmp_path):
    dish = fake()
    with Dish(dish.host, timeout_s=60) as client:
        recorder = Recorder(client, Store(tmp_path))
        recorder.tick(0.0, clock.now)
        clock.now += 50
        recorder.tick(50.4, clock.now)
        assert recorder.rows == 2
        assert recorder.next_s(50.4) == 51.0
