"""Bad input is refused in one sentence that names the file, the line and the remedy."""

import gzip

import pytest

from skyweave.data import load
from skyweave.data.importers import fused
from skyweave.errors import DataError

CSV = "time_s,a.downlink_mbps\n"
ALIGNED = "time_cdt,mob,rm,att,tm,vz,segment\n"
IPERF = "timestamp_start,timestamp_end,average_speed,download_mbps,upload_mbps\n"
PAIR = "A,A_time,A_throughput_mbps,B,B_time,B_throughput_mbps\n"
T = "2024-06-21T10:00:0"

CASES = [
    ("x.csv", CSV + "0,1\n1,-2\n", "3: a.downlink_mbps: -2 is below 0"),
    ("x.csv", CSV + "0,1\n1,nan\n", "3: a.downlink_mbps: 'nan' is not finite"),
    ("x.csv", CSV + "0,inf\n", "2: a.downlink_mbps: 'inf' is not finite"),
    ("x.csv", CSV + "0,1\n1,two\n", "3: a.downlink_mbps: 'two' is not a number"),
    ("x.csv", CSV + "0,1\n,2\n", "3: time_s: the value is missing"),
    ("x.csv", CSV + "0,1\n2,1\n1,1\n", "4: time_s: this time is not later"),
    ("x.csv", CSV + "0,1\n0,1\n", "3: time_s: this time is not later"),
    ("x.csv", CSV + "0,1\n1\n", "3: 1 fields where the header has 2; the file may be cut short"),
    ("x.csv", CSV, "1: there is a header but no data"),
    ("x.csv", CSV + "0,\n1,\n", "2: a.downlink_mbps: no row has a value"),
    ("x.csv", "time_s,a.downlink_mbps,a.downlink_mbps\n0,1,1\n", "1: column 'a.downlink_mbps'"),
    ("x.csv", "time_s,a.downlink_mbps,a.dwnlink_mbps\n0,1,1\n", "did you mean 'downlink_mbps'"),
    ("x.csv", "time_s,a.loss_ratio\n0,1.5\n", "2: a.loss_ratio: 1.5 is above 1"),
    ("x.csv", "# start: yesterday\n" + CSV + "0,1\n", "1: start 'yesterday' is not a date"),
    ("x.csv", "# name: x\n" + CSV + "5,1\n", "3: time_s: a drive begins at 0"),
    ("x.down", "1\n5\n3\n", "3: 3 ms comes before 5 ms; sort the lines"),
    ("x.down", "1\n\n3\n", "2: the line is empty; remove it"),
    ("x.down", "0\n0\n", "2: the last timestamp is 0"),
    ("aligned.csv", ALIGNED + "2023-04-04 10:00:00,1,,1,2,-3,1\n", "2: vz: -3 is below 0"),
    ("aligned.csv", ALIGNED + ",1,,1,2,3,1\n", "2: time_cdt: the time is missing"),
    ("aligned.csv", ALIGNED + "yesterday,1,,1,2,3,1\n", "2: time_cdt: 'yesterday' is not a date"),
    (
        "aligned.csv",
        ALIGNED + "2023-04-04 10:00:01,1,,1,2,3,1\n2023-04-04 10:00:00,1,,1,2,3,1\n",
        "3: time_cdt: this time is not later",
    ),
    ("iperf.csv", IPERF + "2024-01-11 10:06:39,x,0,-1,7\n", "2: download_mbps: -1 is below 0"),
    (
        "iperf.csv",
        IPERF + "2024-01-11 10:06:39,x,0,1,7\n2024-01-11 10:06:39,x,0,1,7\n",
        "3: timestamp_start: this time is not later",
    ),
    (
        "ping.csv",
        "timestamp_start,packet_loss,ping_avg\n2024-01-11 10:06:39,101,50\n",
        "2: packet_loss: 101 is above 100",
    ),
    (
        "fused_trace.tcp_downlink.a_b.csv",
        PAIR + f"a,{T}1,5,b,{T}1,6\na,{T}0,5,b,{T}1,6\n",
        "3: A_time: this time is not later",
    ),
    ("fused_trace.tcp_downlink.a_b.csv", PAIR + f"a,{T}1,5,a,{T}1,6\n", "2: A and B are the same"),
    ("fused_trace.ping.a_b.csv", PAIR + f"a,{T}1,5,b,{T}1,6\n", "there is no column 'A_rtt_ms'"),
    ("tmobile_20241101_tcp_downlink_1.out", "nuttcp failed\n", "1: no nuttcp interval line"),
    ("tmobile_20241101_icmp_ping_1.out", "PING 1.2.3.4\n", "1: no ping answer"),
    (
        "tmobile_20241101_tcp_uplink_1.out",
        "[2024-11-01T15:07:11.2-0700]  1 MB /  0.50 sec =  -7 Mbps  0 retrans\n",
        "1: the rate is below 0",
    ),
    (
        "tmobile_20241101_icmp_ping_1.out",
        "[when] 46 bytes from 1.2.3.4: icmp_seq=1 ttl=4 time=5 ms\n",
        "1: 'when' is not a time",
    ),
    (
        "starlink_20241101_tcp_uplink_1.csv",
        "t_s,mbps\n0,1\n0,1\n",
        "3: t_s: this time is not later",
    ),
    ("starlink_20241101_icmp_ping_1.csv", "icmp_seq,rtt_ms\n1,-4\n", "2: rtt_ms: -4 is below 0"),
    ("x.csv", "", "1: the file is empty"),
    ("x.csv", "hello,world\n1,2\n", "1: this is no format that Skyweave knows"),
    ("x.csv", "version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "1: this is a Git LFS"),
    (
        "x.tar.gz",
        "version https://git-lfs.github.com/spec/v1\noid\n",
        "1: this is a Git LFS pointer",
    ),
]


@pytest.mark.parametrize(("name", "text", "complaint"), CASES)
def test_complaint_names_file_line_and_remedy(write, name, text, complaint):
    path = write(name, text)
    with pytest.raises(DataError) as caught:
        load(path)
    sentence = str(caught.value)
    assert sentence.startswith(f"{path}:")
    assert complaint in sentence
    assert "; " in sentence
    assert "\n" not in sentence


def test_missing_file(tmp_path):
    with pytest.raises(DataError, match="no such file; check the path"):
        load(tmp_path / "nowhere.csv")


def test_truncated_gzip(tmp_path):
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b"time_s,a.downlink_mbps\n0,1\n" * 50)[:-15])
    with pytest.raises(DataError, match=r"t\.csv\.gz:1: the gzip data end early"):
        load(path)


def test_not_text(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b"time_s,a.downlink_mbps\n0,1\n1,\xff\xfe\n")
    with pytest.raises(DataError, match=r"t\.csv:3: this is not UTF-8 text"):
        load(path)


def test_a_lonely_leoreplayer_file(write, tmp_path):
    write("delay_x.txt", "10\n9\n")
    with pytest.raises(DataError, match="partner is missing"):
        load(tmp_path / "delay_x.txt", "leoreplayer")


def test_a_folder_with_nothing_in_it(tmp_path):
    with pytest.raises(DataError, match="no file in this folder is a known trace"):
        load(tmp_path)


def test_a_damaged_archive():
    with pytest.raises(DataError, match="the archive is damaged"):
        list(fused.members("x.tar", b"nonsense"))
