"""Background runs give way: the rule in virtual time, and a run that a fake dish freezes."""

from __future__ import annotations

import array
import fcntl
import socket
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

from skyweave.testbed.node.sandbox import Sandbox
from skyweave.testbed.node.scavenger import Lagging, Rule, Scavenger, Share
from skyweave.testbed.node.tools import within
from skyweave.testbed.node.yielding import WatchedDish
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


def test_busy_for_a_second_freezes_and_ten_calm_seconds_let_it_go_on() -> None:
    scavenger = Scavenger(0.0)
    now, wish = steps(scavenger, 0.0, 60.0, 0.9)
    assert wish == "go"
    now, wish = steps(scavenger, now, 1.0, 5.0)  # the first step that is busy starts the second
    assert wish == "go"
    now, wish = steps(scavenger, now, 2 * STEP_S, 5.0)
    assert wish == "freeze"
    now, wish = steps(scavenger, now, 9.8, 0.1)
    assert wish == "freeze"
    now, wish = steps(scavenger, now, 0.6, 0.1)
    assert wish == "go"


def test_traffic_that_stays_ends_the_run_after_thirty_seconds() -> None:
    scavenger = Scavenger(0.0)
    now, _ = steps(scavenger, 0.0, 1.4, 5.0)
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
    """By the definition, over the whole of the past: never "go" after 1 s that was busy."""
    rule, scavenger = Rule(), Scavenger(0.0)
    past: list[tuple[float, float | None]] = []
    for number, rate in enumerate(rates, start=1):
        now = number * seconds
        wish = scavenger.step(now, rate)
        past.append((now, rate))
        busy = 0.0
        start = now
        for when, one in reversed([row for row in past if row[1] is not None]):
            if one <= rule.busy_mbps:  # type: ignore[operator]
                break
            start = when
        busy = now - start if rate is not None else 0.0
        if rate is not None and rate > rule.busy_mbps and busy >= rule.busy_s:
            assert wish != "go"


def test_the_owners_share_is_all_less_the_runs() -> None:
    share = Share()
    assert share.rate_mbps(0.0, 0, 0) is None
    rate = None
    for step in range(1, 11):
        rate = share.rate_mbps(step * 0.1, step * 250_000, step * 125_000)
    assert rate == pytest.approx(10.0)
    assert share.rate_mbps(1.1, 0, 1_400_000) is None  # the device was replaced


def test_a_run_that_slows_down_is_not_taken_for_its_owner() -> None:
    """The dish says 50 Mbit/s for a second more than the run carried them."""
    lagging, scavenger, own = Lagging(), Scavenger(0.0), 0.0
    for step in range(1, 400):
        now = step * STEP_S
        own += STEP_S * (50e6 / 8 if now < 40 else 0.0)
        dish = 50.0 if 0.5 < now < 41.5 else 0.0
        assert scavenger.step(now, lagging.rate_mbps(now, dish, int(own))) == "go"
    busy = [scavenger.step(80 + step * STEP_S, lagging.rate_mbps(
        80 + step * STEP_S, 6.0, int(own))) for step in range(10)]  # fmt: skip
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
    try:
        road.until_asked(3)
        assert watched.look(sandbox.traffic()) == "go"
        road.down_mbps = 8.0
        while watched.look(sandbox.traffic()) == "go":
            pass
        assert watched.look(sandbox.traffic()) == "freeze"
        owner.do(lambda: sandbox.freeze(True))
        before = used(sandbox)
        road.until_asked(2)
        assert used(sandbox) == before  # a loop that never waits stands still
        road.down_mbps = 0.0
        while watched.look(sandbox.traffic()) == "freeze":
            pass
        owner.do(lambda: sandbox.freeze(False))
        while used(sandbox) == before:
            pass
        dish.stop()
        while watched.look(sandbox.traffic()) == "go":
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
