"""Traces survive being written and read again."""

import math
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skyweave.data import (
    load,
    opportunities,
    opportunities_ms,
    write_drive,
    write_drives,
    write_mahimahi,
    write_one_way_delay,
    write_opportunities,
    write_time_value,
)
from skyweave.data.importers.leoreplayer import one_way_delay_ms
from skyweave.data.importers.mahimahi import PACKET_BYTES
from skyweave.errors import DataError
from skyweave.model.drive import Drive, PathTrace, Series

rates = st.floats(0, 500, allow_subnormal=False).map(lambda v: round(v, 3))
steps = st.integers(1, 3000).map(lambda ms: ms / 1000)


@st.composite
def series(draw, values=rates):
    gaps = draw(st.lists(steps, min_size=1, max_size=12))
    times_s = np.concatenate([[0.0], np.cumsum(gaps)]).round(3)
    numbers = draw(st.lists(values, min_size=len(times_s), max_size=len(times_s)))
    return Series(times_s, np.array(numbers, dtype=float))


def same(one, two):
    assert np.array_equal(one.times_s, two.times_s)
    assert np.array_equal(one.values, two.values, equal_nan=True)


@given(st.lists(st.integers(0, 5000), min_size=1, max_size=60).filter(lambda v: max(v) > 0))
def test_opportunities_survive_exactly(tmp_path_factory, times):
    path = tmp_path_factory.mktemp("m") / "trace"
    ordered = np.array(sorted(times))
    write_opportunities(path, ordered)
    assert np.array_equal(opportunities_ms(path), ordered)


@given(series())
def test_opportunities_carry_the_capacity_within_one_packet_at_every_ms(one):
    total = float(np.sum(one.values * np.diff(one.times_s, append=one.duration_s)))
    if total * 1e6 / 8 < PACKET_BYTES * 1.01:
        return
    times_ms = opportunities(one)
    assert np.all(np.diff(times_ms) >= 0)
    ends = np.append(one.times_s[1:], math.ceil(one.duration_s * 1e3 - 1e-6) / 1e3)
    for moment_ms in {*np.round(ends * 1e3).astype(int).tolist(), 1, 777}:
        held = np.clip(np.minimum(ends, moment_ms / 1e3) - one.times_s, 0, None)
        due = float(np.sum(one.values * held)) * 1e6 / 8 / PACKET_BYTES
        sent = int(np.sum(times_ms <= moment_ms))
        # The last opportunity stands at the end of the span, whenever its packet was full.
        assert due - 2.001 <= sent <= due + 1.001


def test_mahimahi_file_reads_back_as_the_same_bins(tmp_path):
    one = Series(np.arange(10) * 0.1, np.array([12.0, 24, 0, 0, 6, 120, 1.2, 12, 12, 12]))
    path = tmp_path / "t.down"
    write_mahimahi(path, one)
    (back,) = load(path)
    # A packet is delivered in the millisecond after it is full: one hundredth of a bin late.
    moved = 0.01 * one.values + 0.01 * np.roll(one.values, 1) + 0.1201
    assert np.all(np.abs(back.paths["link"].downlink_mbps.values - one.values) <= moved)
    assert len(opportunities_ms(path)) == 100 + 200 + 50 + 1000 + 10 + 300


def test_mahimahi_cannot_say_never(tmp_path):
    with pytest.raises(DataError, match="never carries 1500 bytes"):
        write_mahimahi(tmp_path / "t", Series(np.arange(3.0), np.zeros(3)))
    with pytest.raises(DataError, match="sort the lines"):
        write_opportunities(tmp_path / "t", np.array([3, 2]))


maybe = st.one_of(rates, st.just(float("nan")))


@given(series(maybe), series(maybe), st.booleans())
@settings(max_examples=60)
def test_a_drive_survives_the_plain_csv(tmp_path_factory, down, rtt, share_axis):
    if share_axis:
        rtt = Series(down.times_s, np.resize(rtt.values, len(down.times_s)))
    if np.isnan(rtt.values).all() or np.isnan(down.values).all():
        return  # see the next test
    path = tmp_path_factory.mktemp("d") / "drive.csv"
    drive = Drive(
        name="a name",
        origin="somewhere,  with commas",
        paths={"s.l": PathTrace(downlink_mbps=down, rtt_ms=rtt)},
        start=datetime(2024, 6, 21, 12, 0, 7, tzinfo=UTC),
        synthetic=True,
    )
    write_drive(path, drive)
    (back,) = load(path)
    same(back.paths["s.l"].downlink_mbps, down)
    same(back.paths["s.l"].rtt_ms, rtt)
    assert (back.name, back.start, back.synthetic) == (drive.name, drive.start, True)
    assert back.origin == "somewhere, with commas"


def test_what_was_never_logged_is_not_written(tmp_path, drive):
    never = Series(np.arange(2.0), np.full(2, np.nan))
    silent = Drive("d", "a test", {"a": PathTrace(never), **drive.paths})
    write_drive(tmp_path / "d.csv", silent)
    (back,) = load(tmp_path / "d.csv")
    assert list(back.paths) == list(drive.paths)
    with pytest.raises(DataError, match="nothing to write"):
        write_drive(tmp_path / "e.csv", Drive("e", "a test", {"a": PathTrace(never)}))


def test_time_value_reads_back_with_a_mapping(tmp_path, drive):
    one = drive.paths["starlink"].downlink_mbps
    path = tmp_path / "v.csv"
    write_time_value(path, one, "mbps")
    (back,) = load(path, columns={"time_s": "time_s", "mbps": "x.downlink_mbps"})
    same(back.paths["x"].downlink_mbps, one)


@given(st.lists(st.integers(2, 800), min_size=1, max_size=40))
def test_one_way_delays_survive_exactly(tmp_path_factory, rtts):
    path = tmp_path_factory.mktemp("o") / "delay"
    values = np.array(rtts, dtype=float)
    times_s = np.arange(len(values)) * 0.01
    if len(values) > 1:
        write_one_way_delay(path, Series(times_s, values))
        assert one_way_delay_ms(path).values.tolist() == (values / 2).tolist()


def test_one_way_delay_refuses_holes(tmp_path):
    with pytest.raises(DataError, match="unlogged stretches"):
        write_one_way_delay(tmp_path / "d", Series(np.arange(2.0), np.array([1, np.nan])))


def test_drives_are_written_all_or_none(tmp_path, drive):
    empty = Drive(name="empty", origin="a test")
    with pytest.raises(DataError, match="has no values"):
        write_drives(tmp_path / "out", [drive, empty])
    assert list(tmp_path.iterdir()) == []
    paths = write_drives(tmp_path / "out", [drive, drive])
    assert [path.name for path in paths] == ["made-up.csv", "made-up-2.csv"]
    with pytest.raises(DataError, match="is not an empty folder"):
        write_drives(tmp_path / "out", [drive])


def test_unwritable_places_are_one_sentence(tmp_path, drive):
    (tmp_path / "file").write_text("x")
    for act in (write_drive, lambda path, one: write_drives(path, [one])):
        with pytest.raises(DataError, match="cannot be written"):
            act(tmp_path / "file" / "below.csv", drive)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    with pytest.raises(DataError, match="cannot be written"):
        write_drive(Path("/proc/nowhere/x.csv"), drive)
