"""Logs of programs: ping, iperf3 as text and JSON, and NUWiNS as its authors publish it."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from skyweave.data import load
from skyweave.errors import DataError

TEXT = """iperf 3.10.1
Time: Sun, 25 Jun 2023 19:32:10 GMT
Reverse mode, remote host 10.0.2.15 is sending
Starting Test: protocol: TCP, 1 streams, 131072 byte blocks, omitting 1 seconds, 3 second test
[ ID] Interval           Transfer     Bitrate
[  5]   0.00-1.00   sec  1.60 MBytes  99.4 Mbits/sec                  (omitted)
[  5]   0.00-1.00   sec  1.60 MBytes  13.4 Mbits/sec
[  5]   1.00-2.00   sec  3.89 KBytes  32.7 Kbits/sec
[  5]   2.00-3.00   sec  3.89 GBytes  2.5 Gbits/sec
- - - - - - - - - - - - - - - - - - - - - - - - -
[  5]   0.00-3.00   sec  8.60 GBytes  247 Mbits/sec   16             sender
[  5]   0.00-3.00   sec  8.40 GBytes  245 Mbits/sec                  receiver
"""
SUMS = """[  5]   0.00-1.00   sec  1.60 MBytes  10 Mbits/sec    0    1.4 MBytes
[  7]   0.00-1.00   sec  1.60 MBytes  20 Mbits/sec    0    1.4 MBytes
[SUM]   0.00-1.00   sec  1.60 MBytes  30 Mbits/sec    0
"""


def one(path):
    (drive,) = load(path)
    (trace,) = drive.paths.values()
    return drive, trace


def test_text_of_iperf3(write):
    drive, trace = one(write("phone.txt", TEXT))
    assert drive.start == datetime(2023, 6, 25, 19, 32, 10, tzinfo=UTC)
    assert trace.downlink_mbps.values.tolist() == pytest.approx([13.4, 0.0327, 2500])
    assert trace.downlink_mbps.times_s.tolist() == [0, 1, 2]
    assert "TCP, downlink" in drive.notes[0]


def test_streams_of_iperf3_add_up(write):
    drive, trace = one(write("phone.txt", SUMS))
    assert trace.uplink_mbps.values.tolist() == [30]
    assert drive.start is None
    _, trace = one(write("dl.txt", SUMS.replace("[SUM]", "[ 99]").replace("30 M", "5 M")))
    assert trace.downlink_mbps.values.tolist() == [35]


def test_json_of_iperf3(write):
    def part(start, mbps, omitted=False):
        return {"sum": {"start": start, "bits_per_second": mbps * 1e6, "omitted": omitted}}

    facts = {
        "start": {
            "connected": [],
            "timestamp": {"timesecs": 1760000000},
            "test_start": {"protocol": "UDP", "reverse": 1},
        },
        "intervals": [part(0, 9, True), part(0.0, 5), part(1.0, 6)],
    }
    drive, trace = one(write("x.json", json.dumps(facts)))
    assert trace.downlink_mbps.values.tolist() == [5, 6]
    assert drive.start == datetime(2025, 10, 9, 8, 53, 20, tzinfo=UTC)
    assert drive.notes == ("iperf3, UDP, downlink (of a client: reverse mode downloads)",)
    for broken in ('{"connected": 1}', '{"start": {}, "intervals": [{}]}', '{"connected": '):
        with pytest.raises(DataError, match="JSON"):
            load(write("y.json", broken))


def test_pings_with_and_without_a_clock(write):
    row = "[1760000000.05] 64 bytes from 1.1.1.1: icmp_seq={} ttl=57 time=50.0 ms\n"
    text = row.format(1) + row.format(3).replace("000.05", "002.05")
    drive, trace = one(write("starlink.txt", text))
    assert drive.start == datetime(2025, 10, 9, 8, 53, 20, tzinfo=UTC)
    np.testing.assert_allclose(trace.rtt_ms.times_s, [0, 1, 2])
    np.testing.assert_array_equal(trace.rtt_ms.values, [50, np.nan, 50])
    assert "33.3% of the probes lost" in drive.notes[0]
    drive, trace = one(write("plain.txt", "PING h\n64 bytes from h: icmp_seq=7 ttl=5 time=9 ms\n"))
    assert drive.start is None
    assert trace.rtt_ms.values.tolist() == [9]


NUTTCP = "[2024-11-01T15:{}-0700]  12.0 MB /   0.50 sec =  {} Mbps     0 retrans\n"


def raw(folder: Path, name: str, first: str, rates: list[int]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    rows = [
        NUTTCP.format(f"{first}:{n // 2:02d}.{5 * (n % 2)}", rate) for n, rate in enumerate(rates)
    ]
    (folder / name).write_text("".join(rows))


def test_nuwins_as_its_authors_publish_it(tmp_path):
    raw(tmp_path / "starlink/20241101/150710197", "tcp_downlink_150710256.out", "07", [9] * 20)
    raw(tmp_path / "starlink/20241101/150710197", "tcp_downlink_150700000.out", "06", [1] * 4)
    raw(tmp_path / "tmobile/20241101/150712000", "tcp_downlink_150712240.out", "07", [5] * 20)
    raw(tmp_path / "tmobile/20241101/160712000", "tcp_uplink_160712240.out", "07", [5] * 20)
    first, second = load(tmp_path)
    assert first.paths["starlink"].downlink_mbps.values.tolist() == [9] * 20
    assert first.paths["tmobile"].downlink_mbps.values.tolist() == [5] * 20
    assert "starlink/tcp_downlink_150700000.out (2 s)" in first.notes[1]
    assert (first.name, second.name) == ("nuwins-2024-11-01-150710", "nuwins-2024-11-01-160712")
    assert list(second.paths) == ["tmobile"]
    for folder in ("starlink", "starlink/20241101", "starlink/20241101/150710197"):
        (alone,) = load(tmp_path / folder)
        assert alone.paths["starlink"].downlink_mbps.values.tolist() == [9] * 20


def test_of_several_renamed_nuwins_logs_the_longest_counts(tmp_path):
    raw(tmp_path, "tmobile_20241101_tcp_downlink_150710240.out", "07", [5] * 20)
    raw(tmp_path, "tmobile_20241101_tcp_downlink_150910240.out", "09", [1] * 2)
    (drive,) = load(tmp_path)
    assert drive.paths["tmobile"].downlink_mbps.values.tolist() == [5] * 20
    assert "150910240.out (1 s)" in drive.notes[1]


def test_real_iperf3_logs(data_with):
    place = data_with("satcell")
    drive, trace = one(place / "satcell/mptcp/mob_att_mp.txt")
    assert len(trace.downlink_mbps.values) == 300
    assert np.mean(trace.downlink_mbps.values) == pytest.approx(229, rel=0.02)
    assert drive.start is not None
