"""What the columns of any CSV are taken for, by name and by sense."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import skyweave as sw
from skyweave.cli.data import data_app
from skyweave.data import load
from skyweave.data.sense import meaning
from skyweave.errors import DataError

START = datetime(2025, 10, 9, 8, 53, 20, tzinfo=UTC)
TIMES = [
    ("timestamp", ["1760000000", "1760000001", "1760000002"], START),
    ("ts_ms", ["1760000000000", "1760000001000", "1760000002000"], START),
    ("epoch", ["1760000000000000", "1760000001000000", "1760000002000000"], START),
    ("Time", ["1760000000000000000", "1760000001000000000", "1760000002000000000"], START),
    ("datetime", [f"2025-10-09T08:53:2{n}Z" for n in range(3)], START),
    ("utc", [f"2025-10-09 08:53:2{n}" for n in range(3)], START),
    ("Date", [f"2025/10/09 10:53:2{n}+02:00" for n in range(3)], START),
    ("time", [f"2025-10-09 08:53:2{n}.000 UTC" for n in range(3)], START),
    ("time (s)", ["100", "101", "102"], None),
    ("time_ms", ["100", "1100", "2100"], None),
    ("time", ["23:59:59", "00:00:00", "00:00:01"], None),
]
RATES = [
    ("mbps", 8.0, 8.0),
    ("Throughput (Mbit/s)", 8.0, 8.0),
    ("throughput", 8.0, 8.0),
    ("throughput", 8000.0, 8.0),
    ("throughput", 8_000_000.0, 8.0),
    ("dl_kbps", 8000.0, 8.0),
    ("bits_per_second", 8e6, 8.0),
    ("bps", 8e6, 8.0),
    ("Gbit/s", 0.008, 8.0),
    ("MB/s", 1.0, 8.0),
    ("bytes", 1e6, 8.0),
    ("rx_bytes_per_sec", 1e6, 8.0),
]


def one(path):
    (drive,) = load(path)
    (trace,) = drive.paths.values()
    return drive, trace


@pytest.mark.parametrize(("name", "cells", "start"), TIMES)
def test_times_are_known_by_name_and_sense(write, name, cells, start):
    rows = "".join(f"{cell},5\n" for cell in cells)
    drive, trace = one(write("x.csv", f"{name},mbps\n{rows}"))
    assert drive.start == start
    assert trace.downlink_mbps.times_s.tolist() == [0, 1, 2]
    assert any(name in note for note in drive.notes)


@pytest.mark.parametrize(("name", "value", "mbps"), RATES)
def test_rates_are_known_by_name_and_sense(write, name, value, mbps):
    text = f"timestamp,{name}\n" + "".join(f"{1760000000 + n},{value}\n" for n in range(4))
    _, trace = one(write("x.csv", text))
    assert trace.downlink_mbps.values.tolist() == pytest.approx([mbps] * 4)


def test_a_counter_of_bytes_becomes_a_rate(write):
    rows = "".join(f"{1760000000 + n},{n * 1_000_000}\n" for n in range(5))
    _, trace = one(write("x.csv", "timestamp,total_bytes\n" + rows))
    assert trace.downlink_mbps.values.tolist() == [8.0] * 4


def test_directions_come_from_columns_and_from_the_name_of_the_file(write):
    head, rows = "time,download_mbps,upload_mbps,rtt_ms,speed_kmh\n", "0,5,1,40,90\n1,6,2,41,91\n"
    _, trace = one(write("x.csv", head + rows))
    assert trace.downlink_mbps.values.tolist() == [5, 6]
    assert trace.uplink_mbps.values.tolist() == [1, 2]
    assert trace.rtt_ms.values.tolist() == [40, 41]
    _, trace = one(write("starlink_uplink.csv", "time,mbps\n0,5\n1,6\n"))
    assert trace.downlink_mbps is None
    assert trace.uplink_mbps.values.tolist() == [5, 6]


def test_several_networks_in_columns_or_in_rows(write):
    wide = "timestamp,starlink_mbps,att_mbps,att_rtt_ms\n1760000000,5,1,40\n1760000001,6,2,41\n"
    (drive,) = load(write("both.csv", wide))
    assert list(drive.paths) == ["starlink", "att"]
    assert drive.paths["att"].rtt_ms.values.tolist() == [40, 41]
    long = (
        "timestamp,operator,mbps\n1760000000,A,5\n1760000001,A,6\n1760000001,B,1\n1760000002,B,2\n"
    )
    (drive,) = load(write("long.csv", long))
    assert drive.start == datetime(2025, 10, 9, 8, 53, 21, tzinfo=UTC)
    assert drive.paths["A"].downlink_mbps.values.tolist() == [6]
    assert drive.paths["B"].downlink_mbps.values.tolist() == [1]


def test_semicolons_and_commas_as_points(write):
    drive, trace = one(
        write("x.csv", "Zeit;time;Mbit/s\nx;2025-10-09 08:53:20;5,5\ny;2025-10-09 08:53:21;6\n")
    )
    assert trace.downlink_mbps.values.tolist() == [5.5, 6]
    assert drive.start == START


def test_rows_of_the_same_time_are_one_sample(write):
    _, trace = one(
        write("x.csv", "timestamp,mbps\n1760000000,4\n1760000000,6\n1760000001,\n1760000002,7\n")
    )
    assert trace.downlink_mbps.times_s.tolist() == [0, 1, 2]
    np.testing.assert_array_equal(trace.downlink_mbps.values, [5, np.nan, 7])


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("timestamp,mbps\n1760000000,5\nsoon,5\n", "3: timestamp: 'soon' is not a number"),
        ("time,mbps\n2025-10-09 08:00:00,5\nsoon,5\n", "3: 'time': 'soon' is neither a number nor"),
        ("time,mbps\n5,5\n4,5\n", "3: 'time': goes back by 1 s here; sort the rows"),
        (
            "time,mbps\n2025-10-26 02:59:59,5\n2025-10-26 02:00:00,5\n",
            "3: 'time': goes back by 3599 s here; if that is the end of daylight-saving time",
        ),
        (
            "time,mbps\n2025-10-26 02:59:59Z,5\n2025-10-26 03:00:00,5\n",
            "3: 'time': some times name a zone and some do not",
        ),
        (
            "time,mbps\n2025-10-26 02:59:59,5\n2025-10-26 03:00:00Z,5\n",
            "3: 'time': some times name a zone and some do not",
        ),
        ("time,mbps\n0001-01-01 00:00:00+05:00,5\n", "2: 'time': no log is of the year 1"),
        ("time,mbps\n1e18,1e308\n", "2: mbps: 1e308 is above 1e+18"),
        ("time,mbps\n1,-5\n", "2: mbps: -5 is below 0"),
        ("time,mbps,Mbit/s\n1,5,5\n", "'Mbit/s' and another column both hold the downlink_mbps"),
        ("time,mbps\n1,\n", "no column holds a rate"),
        ("timestamp,bytes\n5,1\n5,1\n", "3: bytes: bytes of a row with the time of the one before"),
        ("time,loss_percent,mbps\n1,101,5\n", "2: loss_percent: 101 is above 100"),
    ],
)
def test_what_cannot_be_is_said_with_its_line(write, text, complaint):
    path = write("x.csv", text)
    with pytest.raises(DataError) as caught:
        load(path)
    assert str(caught.value).startswith(f"{path}:")
    assert complaint in str(caught.value)


def test_slips_of_a_unit_are_said(write):
    drive, _ = one(write("x.csv", "time,mbps,rtt_ms\n0,30000,0.044\n1,30000,0.044\n"))
    said = " ".join(drive.notes)
    assert "30,000 Mbit/s: check that unit" in said
    assert "0.044 ms: check that unit" in said


@pytest.mark.parametrize(
    "name", ["lat", "speed_kmh", "RSRP", "cwnd", "jitter_ms", "time", "max_mbps"]
)
def test_other_columns_are_passed_over(name):
    assert meaning(name) is None


def test_unix_time_of_plain_csv_is_its_start(write):
    (drive,) = load(write("x.csv", "time_s,a.downlink_mbps\n1760000000,5\n1760000001,6\n"))
    assert drive.start == START
    (drive,) = load(write("x.csv", "time_s,a.downlink_mbps\n2025-10-09T08:53:20Z,5\n"))
    assert drive.start == START


def test_dates_can_be_mapped(write):
    file = write("x.csv", "when,rate\n2025-10-09T08:53:20Z,5\n2025-10-09T08:53:21Z,5\n")
    (drive,) = load(file, columns={"when": "time_s", "rate": "a.downlink_mbps"})
    assert drive.start == START


def test_a_link_takes_the_csv_that_all_take(write):
    for text in ("time_s,mbps\n0,10\n5,2.5\n", "time_s,a.downlink_mbps\n0,10\n5,2.5\n"):
        assert sw.read_capacity(write("x.csv", text)).mbps == (10, 2.5)
    kbps = write("k.csv", "timestamp,kbps\n1760000000,10000\n1760000005,\n1760000006,1\n")
    assert sw.read_capacity(kbps).mbps == (10, 0, 0.001)
    two = write("t.csv", "time_s,a.downlink_mbps,b.downlink_mbps\n0,1,2\n")
    with pytest.raises(DataError, match=r"holds the rates a.downlink_mbps, b.downlink_mbps"):
        sw.read_capacity(two)
    assert sw.read_capacity(two, "b.downlink_mbps").mbps == (2,)
    with pytest.raises(DataError, match="there is no rate 'c'"):
        sw.read_capacity(two, "c")


def test_a_file_of_no_format_is_told_what_would_do(write):
    with pytest.raises(DataError, match=r"'timestamp,mbps' and rows such as '1760000000,52\.1'"):
        load(write("x.csv", "hello\nworld\n"))


def test_pointers_and_pictures_beside_traces_are_passed_over(write, tmp_path):
    write("a.csv", "time_s,a.downlink_mbps\n0,5\n")
    write("b.csv", "version https://git-lfs.github.com/spec/v1\noid sha256:0\n")
    (tmp_path / "c.png").write_bytes(b"\x89PNG\r\n\xff")
    (tmp_path / "d.gz").write_bytes(b"\x1f\x8bnothing")
    assert len(load(tmp_path)) == 1


SATCELL = "time,throughput,speed\n" + "".join(
    f"2023-04-04 10:00:{n:02d} CDT,{n},10\n" for n in range(40)
)


@pytest.mark.parametrize(
    ("folder", "name", "quantity"),
    [
        ("UDP/Downlink", "satcell-udp-01", "downlink_mbps"),
        ("TCP/Downlink", "satcell-tcp-01", "downlink_mbps"),
        ("UDP/Uplink", "satcell-udp-ul-01", "uplink_mbps"),
    ],
)
def test_satcell_says_transport_and_direction(write, tmp_path, folder, name, quantity):
    place = tmp_path / folder
    place.mkdir(parents=True)
    (place / "mob_all.csv").write_text(SATCELL)
    (place / "README.txt").write_text("not a trace\n")
    for source in (place, place / "mob_all.csv"):
        (drive,) = load(source)
        assert drive.name == name
        assert getattr(drive.paths["starlink"], quantity).values.tolist() == list(range(40))
        assert bool(drive.notes) == ("TCP" in folder)


def test_satcell_with_some_operators(write):
    rows = "".join(f"2023-04-04 10:00:{n:02d},{n + 1},{n},1\n" for n in range(40))
    (drive,) = load(write("aligned_tcp_dl_1s.csv", "time_cdt,mob,att,segment\n" + rows))
    assert drive.name == "satcell-tcp-01"
    assert set(drive.paths) == {"starlink", "att"}


def test_stats_say_what_columns_were_taken_for(write):
    file = write("x.csv", "timestamp,throughput\n1760000000,5\n1760000001,6\n")
    said = CliRunner().invoke(data_app, ["stats", str(file)]).stdout
    assert "'timestamp' is Unix time in s" in said
    assert "'throughput' is downlink in Mbit/s by its size" in said


CELLS = (
    "0", "1", "-1", "nan", "inf", "1e308", "1e400", "", "x", "1760000000", "1760000001", "1e17",
    "2025-10-09", "2025-10-09 08:00:00", "2025-10-09T08:00:00Z", "0001-01-01 00:00:00+05:00",
    "9999-12-31 23:59:59", "08:00:00", "25:61:61", "5,5", "\x1b[2J", "9" * 400,
    "\N{DEVANAGARI DIGIT ONE}",
)  # fmt: skip
COLUMNS = (
    "mbps",
    "dl_kbps",
    "bytes",
    "throughput",
    "rtt",
    "loss",
    "a_mbps",
    "network",
    "up",
    "<b>",
)


@given(
    st.sampled_from(["timestamp", "time", "date", "ts_ms"]),
    st.lists(st.sampled_from(COLUMNS), min_size=1, max_size=4, unique=True),
    st.lists(st.lists(st.sampled_from(CELLS), min_size=5, max_size=5), min_size=1, max_size=6),
    st.sampled_from(",;\t"),
)
def test_any_table_is_a_drive_or_one_sentence(time, columns, rows, delimiter):
    lines = [[time, *columns], *(row[: len(columns) + 1] for row in rows)]
    with TemporaryDirectory() as folder:
        file = Path(folder) / "x.csv"
        file.write_text("\n".join(delimiter.join(line) for line in lines) + "\n")
        try:
            (drive,) = load(file)
        except DataError as refused:
            said = str(refused)
        else:
            said = " ".join(drive.paths)
    assert said
    assert "\n" not in said
