"""Orders into states and events, in virtual time: once, in order, and by the owner's policy."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from far import NODE, run_id, specification
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from skyweave.testbed.errors import TestbedError
from skyweave.testbed.node import orders
from skyweave.testbed.node.book import Book
from skyweave.testbed.node.clock import ClockWatch
from skyweave.testbed.node.dial import Backoff
from skyweave.testbed.node.policy import KINDS, Policy
from skyweave.testbed.wire import Clock, Command, Finished, Limits, Numbered, Start, Stop

NOW = 1_777_600_000.0
SURE = Clock(offset_s=0.0, error_s=0.01)
POLICY = Policy(owner="anna", users=("ben",), kinds=(*KINDS, "command"), commands=("ben",))


@pytest.fixture
def book(tmp_path: Path) -> Iterator[Book]:
    made = Book(tmp_path / "book.db")
    yield made
    made.close()


def at(number: int, start: float = NOW, **more: object) -> Start:
    plain = {"start_unix_s": start, "latest_start_unix_s": start + 5.0} | more
    return Start(specification=specification(number, **plain))


class Orders:
    """Numbers orders as the orchestrator does, and gives them to a book."""

    def __init__(self, book: Book, policy: Policy = POLICY) -> None:
        self.book, self.policy, self.sequence = book, policy, 0

    def __call__(
        self, order: Start | Stop, now: float = NOW, clock: Clock = SURE, sequence: int = 0
    ) -> object:
        self.sequence += 1
        numbered = Numbered(
            node=NODE, sequence=sequence or self.sequence, issued_unix_s=now, order=order
        )
        return orders.take(self.book, self.policy, numbered, now, clock)


def told(book: Book) -> list[tuple[str, str]]:
    found = [event.body for event in book.unsent()]
    return [(one.kind, getattr(one, "reason", getattr(one, "outcome", ""))) for one in found]


def over(number: int, outcome: str = "done") -> Finished:
    return Finished(run=run_id(number), fence=1, outcome=outcome, sent_bytes=700)  # type: ignore[arg-type]


def test_a_run_goes_its_way_once(book: Book) -> None:
    take = Orders(book)
    assert isinstance(take(at(1)), orders.Prepare)
    assert take(at(1), sequence=1) is None  # delivered twice
    assert take(at(1)) is None  # ordered twice, under one fence
    assert orders.accept(book, run_id(1), NOW)
    assert not orders.accept(book, run_id(1), NOW)
    assert orders.begin(book, run_id(1), NOW)
    assert not orders.begin(book, run_id(1), NOW)
    assert orders.finish(book, over(1), (), NOW)
    assert not orders.finish(book, over(1, "crashed"), (), NOW)
    assert not orders.refuse(book, run_id(1), "other", "", NOW)
    assert told(book) == [("accepted", ""), ("started", ""), ("finished", "done")]
    assert {event.body.fence for event in book.unsent()} == {2}  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("order", "now", "clock", "reason"),
    [
        (at(1), NOW + 5.1, SURE, "late"),
        (at(1), NOW, Clock(offset_s=0.0, error_s=5.1), "clock"),
        (at(1, user="carla"), NOW, SURE, "policy"),
        (at(1, limits=Limits(network_bytes=3 * 10**9)), NOW, SURE, "policy"),
    ],
)
def test_what_is_refused_is_said_and_over(
    book: Book, order: Start, now: float, clock: Clock, reason: str
) -> None:
    """A clock that is known worse than the start tolerates, a late order, the owner's policy."""
    assert Orders(book)(order, now, clock) is None
    assert told(book) == [("refused", reason)]
    assert book.run(run_id(1)).state == "over"  # type: ignore[union-attr]


def test_a_stop_before_the_start_wins_over_it(book: Book) -> None:
    take = Orders(book)
    take(Stop(run=run_id(1), fence=9, outcome="cancelled"))
    assert take(at(1)) is None  # its fence is of the past
    assert told(book) == [("refused", "other")]


def test_a_stop_ends_what_waits_and_what_runs(book: Book) -> None:
    take = Orders(book)
    take(at(1))
    orders.accept(book, run_id(1), NOW)
    assert take(Stop(run=run_id(1), fence=1, outcome="cancelled")) is None  # an old fence
    take(Stop(run=run_id(1), fence=7, outcome="cancelled"))
    assert not orders.begin(book, run_id(1), NOW)
    take(at(2, NOW + 500))
    orders.accept(book, run_id(2), NOW)
    orders.begin(book, run_id(2), NOW)
    end = take(Stop(run=run_id(2), fence=8, outcome="preempted", why="for another"))
    assert end == orders.End(run_id(2), "preempted", "for another")
    orders.finish(book, over(2, "preempted"), (), NOW)
    assert told(book)[-1] == ("finished", "preempted")
    assert book.unsent()[-1].body.fence == 8  # type: ignore[union-attr]


def test_the_day_is_counted_by_what_was_carried_and_what_is_promised(book: Book) -> None:
    take = Orders(book, POLICY.model_copy(update={"bytes_a_day": 2 * 10**7}))
    take(at(1))  # each is promised 10 MB
    take(at(2, NOW + 200))
    assert told(book) == []
    take(at(3, NOW + 400))
    assert told(book) == [("refused", "policy")]
    orders.accept(book, run_id(1), NOW)
    orders.begin(book, run_id(1), NOW)
    orders.finish(book, over(1), (), NOW)  # it carried 700 bytes
    assert isinstance(
        take(at(4, NOW + 400, limits=Limits(network_bytes=9 * 10**6))), orders.Prepare
    )
    take(at(5, NOW + 86_400))  # tomorrow is another day
    assert told(book)[-1] == ("finished", "done")


def test_ordering_a_run_anew_gives_no_bytes_back(book: Book) -> None:
    take = Orders(book, POLICY.model_copy(update={"bytes_a_day": 2 * 10**7}))
    for fence in (1, 2, 3):
        take(at(1, fence=fence))
        orders.accept(book, run_id(1), NOW)
        orders.begin(book, run_id(1), NOW)
        orders.finish(book, over(1, "crashed"), (), NOW)  # nobody saw what it carried
    assert [kind for kind, _ in told(book)].count("started") == 2
    assert told(book)[-1] == ("refused", "policy")


def test_two_runs_at_once_need_the_owners_word(book: Book) -> None:
    take = Orders(book)
    take(at(1))
    take(at(2, NOW + 119))
    assert told(book) == [("refused", "policy")]
    assert isinstance(take(at(3, NOW + 120)), orders.Prepare)  # back to back is no clash


def test_limits_are_the_owners_where_they_are_lower(book: Book) -> None:
    asked = Limits(memory_bytes=2**36, processes=4096, cpu_share=64.0, artefact_bytes=10**9)
    least = orders.allowed(POLICY, asked)
    most = POLICY.most
    assert (least.memory_bytes, least.processes, least.cpu_share, least.artefact_bytes) == (
        most.memory_bytes, most.processes, most.cpu_share, most.artefact_bytes,
    )  # fmt: skip
    assert orders.allowed(POLICY, Limits(memory_bytes=2**25)).memory_bytes == 2**25


def test_a_shell_line_is_an_argument(book: Book) -> None:
    """LEOScope pasted job names and parameters into crontab and shell commands, as root."""
    line = "; rm -rf / #$(reboot)`id`"
    order = at(1)
    work = Command(argv=("echo", line))
    spec = order.specification.model_copy(update={"work": work})
    Orders(book)(Start(specification=spec))
    kept = book.run(run_id(1))
    assert kept is not None
    assert kept.specification == spec


STEPS = st.lists(
    st.tuples(
        st.sampled_from(
            ["start", "stop", "accept", "refuse", "begin", "finish", "crash", "store", "again"]
        ),
        st.integers(0, 3),
        st.integers(1, 6),
    ),
    max_size=60,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(steps=STEPS)
def test_whatever_comes_each_attempt_ends_once_and_events_keep_their_order(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, int, int]]
) -> None:
    """Orders, news and restarts in any order, against a receiver that may hear twice."""
    file = tmp_path_factory.mktemp("book") / "book.db"
    book, take = Book(file), None
    heard: dict[int, tuple[str, str, int]] = {}
    take = Orders(book, POLICY.model_copy(update={"runs_at_once": 16}))
    for what, number, fence in steps:
        run = run_id(number)
        if what == "start":
            take(at(number, fence=fence))
        elif what == "stop":
            take(Stop(run=run, fence=fence, outcome="cancelled"))
        elif what == "accept":
            orders.accept(book, run, NOW)
        elif what == "refuse":
            orders.refuse(book, run, "other", "", NOW)
        elif what == "begin":
            orders.begin(book, run, NOW)
        elif what == "finish":
            orders.finish(book, over(number), (), NOW)
        elif what == "store":
            for event in book.unsent(most=fence):
                heard[event.sequence] = _short(event.body)
                if fence % 2:  # an answer that was lost: it is sent again
                    book.stored(event.sequence)
        else:  # the process dies and another one begins
            book.close()
            book = take.book = Book(file)
            if what == "crash":
                for one in book.runs("running"):
                    orders.finish(book, over(int(one.run, 16), "crashed"), (), NOW)
    for event in book.unsent(most=1000):
        heard.setdefault(event.sequence, _short(event.body))
    book.close()
    assert sorted(heard) == list(range(1, len(heard) + 1))  # nothing is lost, nothing is doubled
    for number in range(4):
        said = [heard[one][0] for one in sorted(heard) if heard[one][1] == run_id(number)]
        begun = False
        for kind in said:
            if kind == "started":
                assert not begun
                begun = True
            elif kind == "finished":
                assert begun
                begun = False


def _short(body: object) -> tuple[str, str, int]:
    return body.kind, body.run, body.fence  # type: ignore[attr-defined]


def test_patience_grows_to_a_minute_and_never_ends() -> None:
    backoff = Backoff(lambda: 1.0)
    assert [backoff.failed() for _ in range(8)] == [1, 2, 4, 8, 16, 32, 60, 60]
    backoff.worked()
    assert backoff.failed() == 1
    jitter = Backoff(lambda: 0.0)
    assert [jitter.failed() for _ in range(2000)][-1] == 30


def test_a_clock_is_as_sure_as_its_best_comparison_and_grows_unsure() -> None:
    clock = ClockWatch()
    assert clock.at(0.0).error_s == 1e6
    clock.compare(100.0, 100.4, 107.2)  # 7 s behind, known to 0.2 s
    clock.compare(110.0, 112.0, 118.5)
    said = clock.at(112.0)
    assert said.offset_s == pytest.approx(7.0)
    assert said.error_s == pytest.approx(0.2, abs=0.01)
    assert clock.at(112.0 + 86_400).error_s > 4.0
    clock.compare(200.0, 200.1, 200.05)  # the clock was set: what was known before is worthless
    assert clock.at(200.1).offset_s == pytest.approx(0.0)


def fill(file: Path) -> None:
    """Write until the file system has no byte left."""
    with file.open("wb", buffering=0) as filler, contextlib.suppress(OSError):
        while filler.write(bytes(512)):
            pass


def finish_until_full(book: Book) -> None:
    """End the run, and write on: the last page may have taken the end."""
    while True:
        orders.finish(book, over(1), (), NOW)
        book.note("more", "x" * 100_000)


def test_a_full_disk_is_said_and_loses_nothing(tmp_path: Path) -> None:
    """A file system of one megabyte, filled to the last byte while a run is under way."""
    if os.geteuid() != 0:
        pytest.skip("needs root, to mount a small file system")
    place = tmp_path / "small"
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", place], check=True)
    try:
        book = Book(place / "book.db")
        Orders(book)(at(1))
        orders.accept(book, run_id(1), NOW)
        orders.begin(book, run_id(1), NOW)
        fill(place / "filler")
        with pytest.raises(TestbedError, match="make room on its disk"):
            finish_until_full(book)
        (place / "filler").unlink()
        orders.finish(book, over(1), (), NOW)
        assert told(book) == [("accepted", ""), ("started", ""), ("finished", "done")]
        book.close()
        again = Book(place / "book.db")
        assert [event.sequence for event in again.unsent()] == [1, 2, 3]
        again.close()
    finally:
        subprocess.run(["umount", place], check=True)
