"""Background runs give way: the rule in virtual time, and a run that a fake dish freezes."""

from __future__ import annotations

import array
import fcntl
import queue
import socket
import struct
import sys
import termios
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from far import run_id
from hypothesis import given
from hypothesis import strategies as st
from owner import Owner, need_sandbox, owners

from skyweave.testbed.errors import TestbedError
from skyweave.testbed.node.sandbox import Counters, Sandbox, counters
from skyweave.testbed.node.scavenger import Lagging, Rule, Scavenger, Share, Wish
from skyweave.testbed.node.tools import within
from skyweave.testbed.node.yielding import Giving, WatchedDish
from skyweave.testbed.wire import Limits

STEP_S = 0.2


def steps(
    scavenger: Scavenger, now: float, seconds: float, mbps: float | None
) -> tuple[float, str]:
    """Let time pass with one rate; return the time and what was wished last."""
    end = now + seconds
    wish: str = scavenger.wish
    while now < end - 1e-9:
        now += STEP_S
        wish = scavenger.step(now, mbps)
    return now, wish


def test_a_megabit_within_a_second_freezes_and_ten_calm_seconds_let_it_go_on() -> None:
    scavenger = Scavenger(0.0)
    now, wish = steps(scavenger, 0.0, 60.0, 0.9)
    assert wish == "go"
    now, wish = steps(scavenger, now, 1.0, 1.1)  # 1.1 Mbit/s for a second
    assert wish == "freeze"
    now, wish = steps(scavenger, now, 10.6, 0.1)  # the last second is calm after one of it
    assert wish == "freeze"
    now, wish = steps(scavenger, now, 0.6, 0.1)
    assert wish == "go"


@pytest.mark.parametrize(("mbps", "seconds"), [(100.0, 0.2), (5.0, 0.4), (2.0, 0.6), (1.1, 1.0)])
def test_the_busier_the_owner_the_sooner_it_stands_still(mbps: float, seconds: float) -> None:
    scavenger = Scavenger(0.0)
    now, wish = steps(scavenger, 0.0, 30.0, 0.0)
    _, wish = steps(scavenger, now, seconds - STEP_S, mbps)
    assert wish == "go"
    _, wish = steps(scavenger, now + seconds - STEP_S, STEP_S, mbps)
    assert wish == "freeze"


def test_a_short_burst_below_a_megabit_is_let_pass() -> None:
    scavenger, now = Scavenger(0.0), 0.0
    for _ in range(100):
        now, wish = steps(scavenger, now, STEP_S, 4.0)  # 100 kB
        assert wish == "go"
        now, wish = steps(scavenger, now, 1.2, 0.0)
    assert wish == "go"


def test_bytes_of_the_run_that_wait_before_the_device_are_not_the_owners() -> None:
    """A queue fills (the run's counter is ahead of the device's) and drains within a second."""
    scavenger, now = Scavenger(0.0), 0.0
    for _ in range(50):
        now, wish = steps(scavenger, now, 0.4, -4.0)
        now, wish = steps(scavenger, now, 0.4, 4.0)
        assert wish == "go"


def test_traffic_that_stays_ends_the_run_after_thirty_seconds() -> None:
    scavenger = Scavenger(0.0)
    now, wish = steps(scavenger, 0.0, 0.4, 5.0)
    assert wish == "freeze"
    now, wish = steps(scavenger, now, 29.6, 0.5)  # neither busy nor calm: still there
    assert wish == "freeze"
    now, wish = steps(scavenger, now, 0.6, 0.5)
    assert wish == "kill"
    assert scavenger.step(now + 100, 0.0) == "kill"


def test_calm_that_began_before_the_end_of_patience_may_last() -> None:
    scavenger = Scavenger(0.0)
    now, _ = steps(scavenger, 0.0, 1.4, 5.0)
    now, _ = steps(scavenger, now, 25.0, 5.0)
    now, wish = steps(scavenger, now, 9.0, 0.0)  # past the 30 s, within a calm stretch
    assert wish == "freeze"
    _, wish = steps(scavenger, now, 2.0, 0.0)
    assert wish == "go"


def test_not_knowing_counts_as_traffic() -> None:
    scavenger = Scavenger(0.0)
    now, wish = steps(scavenger, 0.0, 4.6, None)
    assert wish == "go"
    now, wish = steps(scavenger, now, 0.6, None)
    assert wish == "freeze"
    _, wish = steps(scavenger, now, 31.0, None)
    assert wish == "kill"


@given(
    rates=st.lists(st.one_of(st.none(), st.floats(0, 5)), max_size=400),
    seconds=st.floats(0.05, 1.0),
)
def test_a_run_goes_only_while_nobody_needs_the_link(
    rates: list[float | None], seconds: float
) -> None:
    """By the definition, over all of the past: never "go" after a second of more than that."""
    rule, scavenger = Rule(), Scavenger(0.0)
    past: list[tuple[float, float, float]] = []
    seen_at = 0.0
    for number, rate in enumerate(rates, start=1):
        now = number * seconds
        wish = scavenger.step(now, rate)
        if rate is None:
            continue
        past.append((seen_at, now, rate))
        seen_at = now
        megabits = sum(
            mbps * max(0.0, end - max(begin, now - rule.span_s)) for begin, end, mbps in past
        )
        if megabits > rule.busy_mbps * rule.span_s + 1e-9:
            assert wish != "go"


def test_the_owners_share_is_all_less_the_runs() -> None:
    share = Share()
    assert share.rate_mbps(0.0, 0, 0) is None
    rate = None
    for step in range(1, 11):
        rate = share.rate_mbps(step * 0.1, step * 250_000, step * 125_000)
    assert rate == pytest.approx(10.0)
    assert share.rate_mbps(1.1, 0, 1_400_000) is None  # the device was replaced
    assert share.rate_mbps(1.2, 250_000, 1_650_000) == pytest.approx(0.0)


def test_a_run_that_slows_down_is_not_taken_for_its_owner() -> None:
    """The dish says 50 Mbit/s for a second more than the run carried them."""
    lagging, scavenger, own = Lagging(), Scavenger(0.0), 0.0
    for step in range(1, 400):
        now = step * STEP_S
        own += STEP_S * (50e6 / 8 if now < 40 else 0.0)
        dish = 50.0 if 0.5 < now < 41.5 else 0.0
        assert scavenger.step(now, lagging.rate_mbps(now, dish, int(own))) == "go"
    busy = [scavenger.step(80 + step * STEP_S, lagging.rate_mbps(
        80 + step * STEP_S, 6.0, int(own))) for step in range(15)]  # fmt: skip
    assert busy[-1] == "freeze"


@pytest.fixture
def caged(tmp_path: Path) -> Iterator[tuple[Owner, Sandbox]]:
    need_sandbox()
    with owners() as owner:
        made = Sandbox(owner.ground(tmp_path), run_id(1), Limits())
        owner.do(made.prepare)
        yield owner, made
        owner.do(made.close)


class Road:
    """What a fake dish reports: the rates that the test says."""

    def __init__(self) -> None:
        self.down_mbps, self.asked = 0.0, 0
        self.changed = threading.Condition()

    def at(self, _: float) -> SimpleNamespace:
        with self.changed:
            self.asked += 1
            self.changed.notify_all()
        return SimpleNamespace(
            satellite="one", latency_ms=30.0, down_mbps=self.down_mbps, up_mbps=0.0, cause=""
        )

    def until_asked(self, more: int) -> None:
        with self.changed:
            wanted = self.asked + more
            assert self.changed.wait_for(lambda: self.asked >= wanted, 120)


def test_a_dish_that_is_busy_freezes_a_run_and_a_silent_one_does_too(
    caged: tuple[Owner, Sandbox],
) -> None:
    from skyweave.telemetry.dish.fake import FakeDish

    road = Road()
    owner, sandbox = caged
    owner.do(lambda: sandbox.start(["sh", "-c", "while :; do :; done"], {}))
    dish = FakeDish(road, lambda: 1000.0).start()  # type: ignore[arg-type]
    watched = WatchedDish(dish.host)

    def look() -> str:
        return watched.look([], sum(sandbox.traffic()))

    try:
        road.until_asked(3)
        assert look() == "go"
        road.down_mbps = 8.0
        while look() == "go":
            pass
        assert look() == "freeze"
        owner.do(lambda: sandbox.freeze(True))
        before = used(sandbox)
        road.until_asked(2)
        assert used(sandbox) == before  # a loop that never waits stands still
        road.down_mbps = 0.0
        while look() == "freeze":
            pass
        owner.do(lambda: sandbox.freeze(False))
        while used(sandbox) == before:
            pass
        dish.stop()
        while look() == "go":
            pass
    finally:
        watched.close()
        dish.stop()


def test_a_frozen_run_takes_nothing_more_from_the_link(tmp_path: Path) -> None:
    """Its kernel would go on filling a buffer of megabytes after its processes stand still."""
    need_sandbox()
    with owners() as owner:
        server = within(owner.world, lambda: socket.create_server(("0.0.0.0", 7777)))
        sandbox = Sandbox(owner.ground(tmp_path), run_id(1), Limits())
        program = "import socket; end = socket.create_connection(('12.0.0.1', 7777)); end.recv(1)"
        owner.do(sandbox.prepare)
        owner.do(lambda: sandbox.start([sys.executable, "-c", f"{program}; end.recv(1)"], {}))
        peer, _ = server.accept()
        with server, peer:
            owner.do(lambda: sandbox.freeze(True))
            before = owner.do(sandbox.traffic)
            peer.sendall(bytes(1000))
            queued = array.array("i", [0])
            while queued[0] < 1000:  # it waits in the sender's queue, sent and not acknowledged
                fcntl.ioctl(peer, termios.TIOCOUTQ, queued)
            assert owner.do(sandbox.traffic)[1] == before[1]
            owner.do(lambda: sandbox.freeze(False))
            while queued[0] > 0:
                fcntl.ioctl(peer, termios.TIOCOUTQ, queued)
            assert owner.do(sandbox.traffic)[1] > before[1]
        owner.do(sandbox.close)


def used(sandbox: Sandbox) -> int:
    """Return the ticks of processor that the run has had."""
    assert sandbox._group is not None
    total = 0
    for pid in sandbox._group.processes():
        cells = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        total += int(cells[11]) + int(cells[12])
    return total


class Wished:
    """Wishes what the test says."""

    def __init__(self) -> None:
        self.wish: Wish = "go"
        self.looked = threading.Event()

    def look(self, seen: Counters, own: int) -> Wish:
        self.looked.set()
        return self.wish

    def close(self) -> None:
        """Nothing is held."""


def test_a_run_stands_still_before_anybody_is_told(caged: tuple[Owner, Sandbox]) -> None:
    owner, sandbox = caged
    owner.do(lambda: sandbox.start(["sh", "-c", "while :; do :; done"], {}))
    wished, told, ended = Wished(), queue.Queue[tuple[bool, bool]](), queue.Queue[str | None]()

    def tell(frozen: bool) -> None:
        before = used(sandbox)
        wished.looked.clear()
        told.put((frozen, used(sandbox) == before))

    giving = owner.do(lambda: Giving(sandbox, wished, tell, ended.put))
    assert wished.looked.wait(120)
    wished.wish = "freeze"
    assert told.get(timeout=120) == (True, True)
    wished.wish = "go"
    assert told.get(timeout=120)[0] is False
    wished.wish = "kill"
    assert ended.get(timeout=120) is None
    giving.close()
    assert told.empty()


def test_a_kernel_that_does_not_obey_ends_the_run(caged: tuple[Owner, Sandbox]) -> None:
    owner, sandbox = caged
    wished, ended = Wished(), queue.Queue[str | None]()
    wished.wish = "freeze"

    def refuse(frozen: bool) -> None:
        raise TestbedError("it does not obey")

    sandbox.freeze = refuse  # type: ignore[method-assign]
    giving = owner.do(lambda: Giving(sandbox, wished, lambda _: None, ended.put))
    assert ended.get(timeout=120) == "it does not obey"
    giving.close()


def test_what_a_background_run_sends_is_marked_as_lower_effort(tmp_path: Path) -> None:
    need_sandbox()
    program = "import socket; socket.socket(type=2).sendto(b'x', ('12.0.0.1', 7777))"
    for yields, tos in ((False, 0), (True, 1 << 2)):  # DSCP is the upper six bits
        with owners() as owner:
            server = within(owner.world, lambda: socket.socket(type=socket.SOCK_DGRAM))
            server.bind(("12.0.0.1", 7777))
            server.setsockopt(socket.IPPROTO_IP, socket.IP_RECVTOS, 1)
            server.settimeout(120)
            sandbox = Sandbox(owner.ground(tmp_path), run_id(1), Limits(), yields)
            owner.do(sandbox.prepare)
            owner.do(lambda: sandbox.start([sys.executable, "-c", program], {}))  # noqa: B023
            with server:
                _, said, _, _ = server.recvmsg(10, 100)
            assert [value[0] for _, _, value in said] == [tos]
            owner.do(sandbox.close)


SET_TSO, SET_GRO, ETHTOOL = 0x1F, 0x2C, 0x8946
"""Of ethtool.h and sockios.h."""


def offload(device: str, command: int, value: int) -> None:
    """Switch an offload of a device on or off, as ``ethtool -K`` does."""
    asked = array.array("B", struct.pack("II", command, value))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as end:
        name = device.encode()
        fcntl.ioctl(end, ETHTOOL, struct.pack("16sP", name, asked.buffer_info()[0]))


def test_what_a_driver_has_merged_is_not_taken_for_the_owners(tmp_path: Path) -> None:
    """A card counts a header for each packet; a merged one that is passed on has one for all."""
    need_sandbox()
    size = 20_000_000
    program = (
        "import socket; end = socket.create_connection(('12.0.0.1', 7777))\n"
        "while end.recv(1 << 16): pass\n"
    )
    with owners() as owner:
        within(owner.world, lambda: offload("eth0", SET_TSO, 0))
        owner.do(lambda: offload("up0", SET_GRO, 1))
        server = within(owner.world, lambda: socket.create_server(("12.0.0.1", 7777)))
        sandbox = Sandbox(owner.ground(tmp_path), run_id(1), Limits(network_bytes=10**9))
        owner.do(sandbox.prepare)
        before = {name: into for name, into, _ in owner.do(counters)}["up0"]
        owner.do(lambda: sandbox.start([sys.executable, "-c", program], {}))
        peer, _ = server.accept()
        with server, peer:
            peer.sendall(bytes(size))
        assert sandbox.wait(120) == 0
        came = {name: into for name, into, _ in owner.do(counters)}["up0"] - before
        own = owner.do(sandbox.traffic)[1]
        owner.do(sandbox.close)
    assert own > size * 1514 / 1448 * 0.999  # a header for each packet
    assert came - own < size / 1000
