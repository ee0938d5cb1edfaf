"""What is read from files, and what is refused with a sentence."""

import gzip
import json

import numpy as np
import pytest

from skyweave.errors import DataError
from skyweave.forecast import read_measurement

ROWS = "1700000000.050\t1\t50\n1700000000.140\t2\t40\n1700000000.450\t5\t50\n"


@pytest.fixture
def write(tmp_path):
    def make(name, text):
        (tmp_path / name).write_text(text)
        return tmp_path / name

    return make


def test_rows_of_pings_stand_at_their_sending(write):
    series = read_measurement(write("p.txt", ROWS))
    assert series.kind == "rtt"
    assert series.times_unix_s - 1.7e9 == pytest.approx([0, 0.1, 0.2, 0.3, 0.4], abs=1e-6)
    assert series.values.tolist() == [50, 40, np.inf, np.inf, 50]
    assert series.lost == 2


def test_a_lost_probe_was_sent_before_its_timeout(write):
    rows = ROWS + "1700000005.6\t6\t-1\n1700000005.75\t7\t50\n"
    series = read_measurement(write("p.txt", rows))
    assert series.times_unix_s[-3:] - 1.7e9 == pytest.approx([0.4, 0.5, 5.7], abs=1e-6)
    assert series.values[-2] == np.inf


def test_ping_with_stamps_and_with_dates(write):
    echo = "[{}] 64 bytes from 10.0.0.1: icmp_seq={} ttl=63 time=50.0 ms"
    lines = ["PING 10.0.0.1 (10.0.0.1) 56(84) bytes of data."]
    unix = [*lines, echo.format("1700000000.05", 65535), echo.format("1700000000.15", 0)]
    series = read_measurement(write("a.txt", "\n".join(unix)))
    assert series.lost == 0
    dates = [*lines, *(echo.format(f"2023-11-14 22:13:20.{k}5", k + 1) for k in range(2))]
    assert read_measurement(write("b.txt", "\n".join(dates))).times_unix_s == pytest.approx(
        series.times_unix_s
    )


def test_ping_that_began_anew_lost_nothing_between(write):
    again = ROWS.replace("170000000", "170000090")
    assert read_measurement(write("p.txt", ROWS + again)).lost == 4


def test_csv_with_dates_numbers_and_gzip(write, tmp_path):
    body = "time,a_mbps,b_rtt\n2023-11-14T22:13:20Z,1,\n2023-11-14 22:13:21,2,40\n"
    path = write("d.csv", body)
    rates = read_measurement(path, column="a_mbps")
    assert (rates.kind, rates.times_unix_s.tolist()) == ("throughput", [1.7e9, 1.7e9 + 1])
    assert read_measurement(path, kind="rtt").values.tolist() == [np.inf, 40]
    packed = tmp_path / "e.csv.gz"
    packed.write_bytes(gzip.compress(b"epoch_ms,rtt\n1700000000000,1\n1700000000500,2\n"))
    assert read_measurement(packed).times_unix_s.tolist() == [1.7e9, 1.7e9 + 0.5]


def test_iperf3(write):
    parts = [
        {"sum": {"start": k, "end": k + 1, "bits_per_second": 1e6 * k}, "streams": [{"rtt": 5e4}]}
        for k in range(3)
    ]
    report = {"start": {"timestamp": {"timesecs": 1700000000}}, "intervals": parts}
    path = write("i.json", json.dumps(report))
    assert read_measurement(path).values.tolist() == [0, 1, 2]
    assert read_measurement(path, kind="rtt").values.tolist() == [50, 50, 50]


@pytest.mark.parametrize(
    ("name", "body", "options", "said"),
    [
        ("a.csv", "when,mbps\n1,2\n", {}, "no column is called time"),
        ("a.csv", "time_s,mbps\n1,2\n2,3\n", {}, r"a.csv:2: time_s: 1 is no Unix time"),
        ("a.csv", "time,x\n1700000000,2\n", {"column": "x"}, "say --kind rtt or"),
        ("a.csv", "time,mbps\n1700000000,2\n", {"column": "mbsp"}, "did you mean 'mbps'"),
        ("a.csv", "time,a_mbps,b_mbps\n1700000000,2,3\n", {}, "here are: a_mbps, b_mbps"),
        ("a.csv", "time,mbps\n1700000000,2\n", {}, "1 samples; give a longer series"),
        ("a.csv", "time,mbps\n1700000000,two\n", {}, "'two' is not a number"),
        ("a.csv", "time_s,sl.rtt_ms\n0,1\n1,2\n", {}, "no series with a clock"),
        ("a.json", '{"start": 1', {}, "a.json:1: this is not JSON"),
        ("a.json", "{}", {}, "no iperf3 JSON"),
        ("a.json", '{"start": {}, "intervals": 3}', {}, "no iperf3 JSON"),
        ("a.txt", ROWS, {"column": "x"}, "is a ping log"),
        ("a.txt", ROWS.splitlines()[0], {}, "1 samples"),
        ("a.txt", "", {}, "the file is empty"),
    ],
)
def test_refusals_say_what_and_where(write, name, body, options, said):
    with pytest.raises(DataError, match=said) as caught:
        read_measurement(write(name, body), **options)
    assert "\n" not in str(caught.value)


def test_drives_of_a_data_set_are_joined(real):
    series = read_measurement(real / "satcell", column="starlink.downlink_mbps")
    assert len(series.values) > 9000
    assert "satcell" in series.name
    with pytest.raises(DataError, match=r"did you mean 'att.downlink_mbps'"):
        read_measurement(real / "satcell", column="at.downlink_mbps")
    with pytest.raises(DataError, match="one after the other"):
        read_measurement(real / "nuwins2024_starlink_tmobile_sync")
