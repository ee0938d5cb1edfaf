"""Probes are sent on time whatever came of the last one, and the echo server is no reflector."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skyweave.errors import ConfigError, DataError
from skyweave.telemetry.probes.dns import DnsProbe, encode_name
from skyweave.telemetry.probes.echo import (
    COOKIE_S,
    HELLO_BYTES,
    MAGIC,
    PROBE_BYTES,
    EchoServer,
    Limits,
    listen,
    source_of,
)
from skyweave.telemetry.probes.icmp import IcmpProbe, checksum
from skyweave.telemetry.probes.pinger import LATE_S, Pinger, Sample, ping
from skyweave.telemetry.probes.probe import Probe, ProbeError
from skyweave.telemetry.probes.route import Hop, read_segments, segment_of, shares, trace
from skyweave.telemetry.probes.tcp import TcpProbe
from skyweave.telemetry.probes.udp import UdpProbe

ALICE = ("192.0.2.1", 5000)


class Silent:
    """A probe that nobody answers."""

    name = "silent"
    most_timeout_s = 60.0

    def __init__(self) -> None:
        self.sent: list[int] = []
        self.forgotten: list[int] = []

    def send(self, number: int) -> None:
        if number == 7:
            raise OSError(101, "Network is unreachable")
        self.sent.append(number)

    def sockets(self) -> list[socket.socket]:
        return []

    def receive(self, ready: socket.socket) -> list[int]:
        return []

    def forget(self, number: int) -> None:
        self.forgotten.append(number)

    def close(self) -> None:
        pass


def test_a_lost_answer_holds_nothing_up():
    kept: list[Sample] = []
    probe = Silent()
    pinger = Pinger(probe, kept.append, interval_s=1 / 8)
    for tick in range(101):
        now = tick / 8
        pinger.tick(now, 1000 + now)
        if tick % 2 and tick < 50:
            pinger.heard(tick, now + 0.04)
    assert probe.sent == [n for n in range(101) if n != 7]
    pinger.finish()
    counts = pinger.counts
    assert (counts.sent, counts.refused, counts.answered) == (100, 1, 24)
    assert counts.lost == 76
    assert counts.skipped == 0
    assert sorted(one.number for one in kept) == list(range(101))
    assert kept[[one.number for one in kept].index(9)].rtt_ms == pytest.approx(40.0)
    (refused,) = [one for one in kept if one.refused]
    assert (refused.number, refused.refused) == (7, "Network is unreachable")
    assert set(probe.forgotten) == {one.number for one in kept if one.rtt_ms is None} - {7}


def test_late_and_double_answers_are_counted_and_change_no_sample():
    kept: list[Sample] = []
    pinger = Pinger(Silent(), kept.append, interval_s=1.0, timeout_s=3.0)
    pinger.tick(0.0, 0.0)
    pinger.tick(1.0, 1.0)
    pinger.heard(1, 1.5)
    pinger.heard(1, 1.6)
    pinger.tick(3.0, 3.0)
    assert [(one.number, one.rtt_ms) for one in kept] == [(1, 500.0), (0, None)]
    pinger.heard(0, 3.5)
    pinger.heard(999, 3.5)
    counts = pinger.counts
    assert (counts.answered, counts.lost, counts.late, counts.duplicates) == (1, 1, 1, 1)
    pinger.tick(4.0 + LATE_S, 0.0)
    pinger.heard(1, 4.0 + LATE_S)  # forgotten: the table does not grow
    assert pinger.counts.duplicates == 1
    assert len(kept) == 3  # number 2, given up meanwhile


def test_moments_that_were_missed_are_counted_and_not_made_up_for():
    pinger = Pinger(Silent(), lambda _: None)
    pinger.tick(0.0, 0.0)
    pinger.tick(1.05, 1.05)
    assert (pinger.counts.sent, pinger.counts.skipped) == (2, 9)
    assert pinger.due_s == pytest.approx(1.1)


@pytest.mark.parametrize(("interval", "timeout"), [(0.001, 3.0), (float("nan"), 3.0), (0.1, 0.0)])
def test_intervals_have_bounds(interval, timeout):
    with pytest.raises(ConfigError):
        Pinger(Silent(), lambda _: None, interval, timeout)


class Time:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def hello() -> bytes:
    return (MAGIC + b"H").ljust(HELLO_BYTES, b"\0")


def question(cookie: bytes, number: int = 7) -> bytes:
    return (MAGIC + b"P\0\0" + cookie + number.to_bytes(8, "big")).ljust(PROBE_BYTES, b"\0")


def cookie_of(server: EchoServer, peer: tuple[str, int] = ALICE) -> bytes:
    said = server.answer(hello(), peer)
    assert said is not None
    return said[-16:]


def test_an_echo_needs_the_cookie_of_its_own_address():
    server = EchoServer(now=Time())
    cookie = cookie_of(server)
    said = server.answer(question(cookie), ALICE)
    assert said is not None
    assert said[24:32] == (7).to_bytes(8, "big")
    for peer in (("192.0.2.2", 5000), ("192.0.2.1", 5001)):
        assert server.answer(question(cookie), peer) is None
    assert server.answer(question(bytes(16)), ALICE) is None
    assert EchoServer(now=Time()).answer(question(cookie), ALICE) is None


def test_a_cookie_ends():
    time = Time()
    server = EchoServer(now=time)
    cookie = cookie_of(server)
    time.now += COOKIE_S
    assert server.answer(question(cookie), ALICE)
    time.now += COOKIE_S
    assert server.answer(question(cookie), ALICE) is None


@given(st.binary(max_size=80), st.sampled_from([b"", MAGIC, MAGIC + b"H", MAGIC + b"P\0\0"]))
def test_no_answer_is_longer_than_what_it_answers(tail, head):
    server = EchoServer()
    for datagram in (head + tail, hello() + tail, question(cookie_of(server)) + tail):
        said = server.answer(datagram, ALICE)
        assert said is None or len(said) <= len(datagram)


def test_a_source_gets_a_hundred_answers_a_second():
    time = Time()
    server = EchoServer(Limits(per_second=100, burst=20), now=time)
    cookie = cookie_of(server)
    answered = 0
    for _ in range(5000):  # 1000 a second for 5 s
        time.now += 0.001
        answered += server.answer(question(cookie), ALICE) is not None
    assert 500 <= answered <= 521
    assert server.answer(hello(), ("192.0.2.9", 1)) is not None  # others are not shut out


def test_the_addresses_of_one_customer_are_one_source():
    time = Time()
    server = EchoServer(now=time)
    answers = [server.answer(hello(), (f"2001:db8::{n:x}", 1)) for n in range(1, 100)]
    assert sum(one is not None for one in answers) == 20
    assert source_of("2001:db8:0:1::1") != source_of("2001:db8::1")


def test_what_is_kept_of_sources_is_bounded():
    server = EchoServer(Limits(sources=100), now=Time())
    for n in range(1000):
        server.answer(hello(), (f"10.0.{n // 256}.{n % 256}", 1))
    assert len(server._sources) == 100


@pytest.fixture
def echo() -> Iterator[int]:
    """Serve echoes on a port of the loopback."""
    ours, bell = socket.socketpair()
    with ours, bell, listen("127.0.0.1", 0) as mine:
        running = threading.Thread(target=EchoServer().serve, args=(mine, bell))
        running.start()
        yield mine.getsockname()[1]
        ours.send(b"!")
        running.join()


def until(probe: Probe, count: int) -> list[Sample]:
    """Probe until as many answers are there."""
    kept: list[Sample] = []
    stop = threading.Event()

    def keep(sample: Sample) -> None:
        kept.append(sample)
        if sum(one.rtt_ms is not None for one in kept) == count:
            stop.set()

    ping([Pinger(probe, keep, interval_s=0.02, timeout_s=60)], stop)
    probe.close()
    return [one for one in kept if one.rtt_ms is not None]


def test_udp_probes_come_back(echo):
    kept = until(UdpProbe("127.0.0.1", echo), 5)
    assert kept[0].probe == f"udp:127.0.0.1:{echo}"
    assert all(one.rtt_ms > 0 for one in kept)


def test_icmp_probes_come_back():
    try:
        probe = IcmpProbe("127.0.0.1")
    except ProbeError as error:
        pytest.skip(str(error))
    assert len(until(probe, 3)) >= 3


def test_an_open_and_a_closed_port_answer_tcp_probes():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert len(until(TcpProbe("127.0.0.1", port), 3)) >= 3
    assert len(until(TcpProbe("127.0.0.1", port), 3)) >= 3  # refused: a round trip as well


def test_dns_answers_are_those_to_our_questions():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 0))
        probe = DnsProbe("127.0.0.1", "example.org", server.getsockname()[1])
        probe.send(5)
        asked, peer = server.recvfrom(512)
        assert asked[12:] == b"\7example\3org\0\0\1\0\1"
        answer = asked[:2] + b"\x81\x80" + asked[4:]
        other = bytes([asked[0] ^ 1]) + answer[1:]
        for wrong in (b"", b"\0" * 12, asked, other, answer[:14] + b"\7examplf\3org\0\0\1\0\1"):
            server.sendto(wrong, peer)
        server.sendto(answer, peer)
        (mine,) = probe.sockets()
        mine.setblocking(True)
        mine.recv(0, socket.MSG_PEEK)
        mine.setblocking(False)
        found = probe.receive(mine)
        probe.close()
    assert found == [5]


@pytest.mark.parametrize("name", ["", "..", "a" * 64 + ".org", "ä.org", ".".join(["a" * 60] * 5)])
def test_names_that_cannot_be_asked_for(name):
    with pytest.raises(ProbeError):
        encode_name(name)


def test_the_internet_checksum_of_rfc_1071():
    assert checksum(bytes.fromhex("0001f203f4f5f6f7")) == 0x220D
    assert checksum(b"\xff") == 0x00FF


def test_the_way_to_this_machine_is_one_hop():
    (hop,) = trace("127.0.0.1", read_segments(), timeout_s=60.0)
    assert (hop.distance, hop.address) == (1, "127.0.0.1")
    assert len(hop.rtts_ms) >= 1


def test_segments_go_by_the_longest_prefix(tmp_path):
    known = read_segments()
    assert segment_of("100.64.0.1", known) == "satellite"
    assert segment_of("192.168.100.1", known) == "dish"
    assert segment_of("192.168.1.1", known) == "local network"
    assert segment_of("2606:4700::1", known) == "internet"
    table = tmp_path / "own.csv"
    table.write_text("prefix,segment\n100.64.0.0/10,pipe\n")
    assert segment_of("100.64.0.1", read_segments(table)) == "pipe"
    table.write_text("prefix,segment\nhere,there\n")
    with pytest.raises(DataError, match=r"own\.csv:2"):
        read_segments(table)


def test_what_segments_add_to_the_way():
    hops = [
        Hop(1, "192.168.1.1", (1.0,), "local network"),
        Hop(2, "100.64.0.1", (30.0, 26.0, 500.0), "satellite"),
        Hop(3, "", (), ""),
        Hop(4, "172.16.1.1", (29.0,), "point of presence"),
        Hop(5, "8.8.8.8", (40.0,), "internet"),
    ]
    assert shares(hops) == pytest.approx(
        {"local network": 1 / 40, "satellite": 29 / 40, "point of presence": 0.0, "internet": 0.25}
    )
    assert shares([]) == {}
