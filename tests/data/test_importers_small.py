"""Each importer on a few made-up lines."""

import gzip
import hashlib
import io
import tarfile

import numpy as np
import pytest

from skyweave.data import load, opportunities_ms
from skyweave.data.importers import FORMATS, fused, mahimahi
from skyweave.errors import DataError


def test_mahimahi_bins_conserve_every_packet(write):
    path = write("trace.down", "0\n50\n99\n100\n250\n")
    (one,) = load(path)
    series = one.paths["link"].downlink_mbps
    assert series.times_s.tolist() == [0.0, 0.1, 0.2]
    assert series.values == pytest.approx([0.36, 0.12, 0.12])
    assert opportunities_ms(path).tolist() == [0, 50, 99, 100, 250]


def test_mahimahi_counts_the_last_line_in_the_last_bin_and_knows_up_from_down(write):
    (one,) = load(write("trace.up", "40\n100\n"))
    assert one.paths["link"].downlink_mbps is None
    assert one.paths["link"].uplink_mbps.values == pytest.approx([0.24])
    assert mahimahi.load(write("t.down", "40\n100\n"), bin_ms=50)[0].duration_s == pytest.approx(
        0.1
    )


def test_mahimahi_reads_gzip(tmp_path):
    path = tmp_path / "trace.txt.gz"
    path.write_bytes(gzip.compress(b"1\n2\n3\n"))
    assert opportunities_ms(path).tolist() == [1, 2, 3]


def test_plain_csv(write):
    text = "time_s,a.downlink_mbps,a.rtt_ms,b.loss_ratio\n0,5,40,0\n2,,41,0.5\n3,7,,1\n"
    (one,) = load(write("drive.csv", text))
    assert one.name == "drive"
    a = one.paths["a"]
    assert a.downlink_mbps.times_s.tolist() == [0, 2, 3]
    assert np.isnan(a.downlink_mbps.values[1])
    assert np.isnan(a.rtt_ms.values[2])
    assert one.paths["b"].loss_ratio.values.tolist() == [0, 0.5, 1]


def test_plain_csv_with_other_column_names(write):
    path = write("log.csv", "t,dl,x\n10,5,z\n11,6,z\n")
    (one,) = load(path, columns={"t": "time_s", "dl": "starlink.downlink_mbps"})
    assert one.paths["starlink"].downlink_mbps.times_s.tolist() == [0, 1]
    with pytest.raises(DataError, match=r"log\.csv:1: there is no column 'dll'; did you mean 'dl'"):
        load(path, columns={"t": "time_s", "dll": "starlink.downlink_mbps"})


FUSED = (
    "A,A_run,A_time,A_throughput_mbps,A_actual_tech,B,B_run,B_time,B_throughput_mbps,B_actual_tech\n"
    "starlink,r1,2024-06-21T10:00:00-08:00,50,,att,q1,2024-06-21T10:00:00.1-08:00,0,LTE\n"
    "starlink,r1,2024-06-21T10:00:00.5-08:00,60,,att,q1,2024-06-21T10:00:00.6-08:00,2,LTE\n"
    "starlink,r2,2024-06-21T10:00:01-08:00,0,,att,q2,2024-06-21T10:00:01.1-08:00,0,LTE\n"
)


def test_fused_pairs_are_cut_where_the_run_changes(write):
    drives = load(write("fused_trace.tcp_uplink.starlink_att.csv", FUSED))
    assert [len(d.paths["att"].uplink_mbps.values) for d in drives] == [2, 1]
    assert drives[0].paths["starlink"].uplink_mbps.times_s.tolist() == [0, 0.5]
    assert drives[0].paths["starlink"].downlink_mbps is None
    assert drives[0].start.isoformat() == "2024-06-21T10:00:00-08:00"


def test_fused_pings_become_round_trips(write):
    text = FUSED.replace("throughput_mbps", "rtt_ms")
    drives = load(write("fused_trace.ping.starlink_att.csv", text))
    assert drives[0].paths["starlink"].rtt_ms.values.tolist() == [50, 60]


def make_archive(tmp_path, name):
    raw = FUSED.encode()
    path = tmp_path / "alaska.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        member = tarfile.TarInfo(f"processed/mpshell/raw_traces/{name}")
        member.size = len(raw)
        archive.addfile(member, io.BytesIO(raw))
    return path


def test_fused_archive_is_read_only_with_a_released_sha256(tmp_path, monkeypatch):
    path = make_archive(tmp_path, "fused_trace.tcp_downlink.starlink_att.csv")
    with pytest.raises(DataError, match="is neither released archive"):
        load(path)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    monkeypatch.setitem(fused.ARCHIVES, digest, "alaska")
    drives = load(path)
    assert len(drives) == 2
    assert drives[0].name.startswith("alaska.fused_trace.tcp_downlink.starlink_att.")


def test_fused_archive_without_pairs(tmp_path, monkeypatch):
    path = make_archive(tmp_path, "other.csv")
    monkeypatch.setitem(fused.ARCHIVES, hashlib.sha256(path.read_bytes()).hexdigest(), "alaska")
    with pytest.raises(DataError, match="holds no fused_trace"):
        load(path)


ALIGNED = "time_cdt,mob,rm,att,tm,vz,segment\n"


def test_satcell_segments_and_missing_dishes(write):
    rows = (
        "2023-04-04 10:00:00,10,,1,2,3,1\n2023-04-04 10:00:01,20,,1,2,3,1\n"
        "2023-04-05 10:00:00,,5,1,2,3,2\n"
    )
    first, second = load(write("aligned_udp_dl_1s.csv", ALIGNED + rows))
    assert list(first.paths) == ["starlink", "att", "tmobile", "verizon"]
    assert list(second.paths) == ["starlink_roam", "att", "tmobile", "verizon"]
    assert first.start.utcoffset().total_seconds() == -5 * 3600


def test_satcell_leaves_out_a_dead_dish_and_says_so(write):
    rows = "".join(
        f"2023-04-0{day} 10:00:0{k},{9 if day == 4 or not k else 0},,1,2,3,{day}\n"
        for day in (4, 5)
        for k in range(4)
    )
    path = write("aligned_udp_dl_1s.csv", ALIGNED + rows)
    (alive,) = load(path)
    assert "1 of 2 segments left out" in alive.origin


def test_satcell_upstream_files_are_joined_on_the_second(tmp_path):
    head = "time,throughput,speed,latitude,longtitu\n"
    for name, first in (("att", 0), ("tm", 1), ("vz", 2), ("mob", 0)):
        rows = [f"2023-04-04 10:00:{k:02d} CDT,{k},1,2,3\n" for k in range(first, 50)]
        (tmp_path / f"{name}_all.csv").write_text(head + "".join(rows))
    (one,) = load(tmp_path)
    assert f"{one.start:%S}" == "02"
    assert one.paths["verizon"].downlink_mbps.values.tolist() == list(range(2, 50))


NUTTCP = """Start time: 1730498830203
[2024-11-01T15:07:11.220614-0700]     1.6250 MB /   0.50 sec =   27.2562 Mbps     0 retrans
[2024-11-01T15:07:11.719525-0700]    12.8750 MB /   0.50 sec =  216.0386 Mbps     0 retrans
[2024-11-01T15:09:11.7-0700] nuttcp-r: 14.5 MB in 1.0 real seconds = 1 KB/sec = 121.6 Mbps
"""
PING = """Start time: 1730499092072
[2024-11-01T15:11:33.230685-0700] 46 bytes from 1.2.3.4: icmp_seq=1 ttl=46 time=57.7 ms
[2024-11-01T15:11:33.630685-0700] 46 bytes from 1.2.3.4: icmp_seq=3 ttl=46 time=60.1 ms
"""


def test_nuwins_round(tmp_path):
    (tmp_path / "tmobile_20241101_tcp_downlink_150710240.out").write_text(NUTTCP)
    (tmp_path / "tmobile_20241101_icmp_ping_151133124.out").write_text(PING)
    name = "starlink_20241101_150921_tcp_uplink_0.5s.csv"
    (tmp_path / name).write_text("t_s,mb_per_0.5s,mbps\n0.0,0.5,9.4\n0.5,1,19.9\n")
    (one,) = load(tmp_path)
    assert one.paths["tmobile"].downlink_mbps.values.tolist() == [27.2562, 216.0386]
    rtts = one.paths["tmobile"].rtt_ms.values
    assert np.isnan(rtts[1])  # the ping without an answer
    assert rtts[[0, 2]].tolist() == [57.7, 60.1]
    assert one.paths["starlink"].uplink_mbps.times_s.tolist() == [0, 0.5]
    assert one.start.isoformat() == "2024-11-01T15:07:10.720614-07:00"


IPERF = "timestamp_start,timestamp_end,average_speed,download_mbps,upload_mbps\n"


def test_on_the_road_sessions(write):
    rows = (
        "2024-01-11 10:06:39,2024-01-11 10:06:40,0,101.8,7.4\n"
        "2024-01-11 10:06:40,2024-01-11 10:06:41,0,67,\n"
        "2024-01-11 10:08:00,2024-01-11 10:08:01,,63,\n"
    )
    first, second = load(write("iperf.csv", IPERF + rows))
    assert np.isnan(first.paths["starlink"].uplink_mbps.values[1])
    assert second.paths["starlink"].uplink_mbps is None


def test_leoreplayer_pair_from_either_file_or_the_folder(write, tmp_path):
    bw = write("bw_x.txt", "10\n20\n30\n")
    delay = write("delay_x.txt", "10\n11.5\n9\n")
    for place in (bw, delay, tmp_path):
        (one,) = load(place)
        assert one.paths["starlink"].rtt_ms.values.tolist() == [20, 23, 18]
        assert one.paths["starlink"].rtt_ms.spacing_s == pytest.approx(0.01)


def test_a_folder_of_plain_files_is_read_file_by_file(write, tmp_path):
    write("a.csv", "time_s,p.downlink_mbps\n0,1\n")
    write("b.down", "1\n2\n")
    write("notes.md", "nothing to see\n")
    assert [one.name for one in load(tmp_path)] == ["a", "b.down"]


def test_formats_can_be_named(write):
    path = write("odd", "1\n2\n")
    assert load(path, "mahimahi")[0].paths["link"].downlink_mbps is not None
    with pytest.raises(DataError, match="format 'mahimai' is unknown; did you mean 'mahimahi'"):
        load(path, "mahimai")
    assert all(known.title for known in FORMATS.values())
