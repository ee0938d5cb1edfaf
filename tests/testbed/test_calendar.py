"""The calendar against brute force, and LEOScope's cases (tried on its own code in 2026)."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from skyweave.testbed.calendar import (
    Book,
    Claim,
    Cron,
    Every,
    Interval,
    Once,
    Reservation,
    Timeline,
    first_clash,
    first_hit,
    merged,
    occurrences,
)

DAY = 1_800_000_000 // 86_400 * 86_400
NODE = frozenset({"alice"})


def at(hour: int, minute: int = 0) -> int:
    return DAY + hour * 3600 + minute * 60


def claim(schedule, *resources: str, priority="exclusive") -> Claim:
    return Claim(schedule, frozenset(resources or NODE), priority)


def clash(a, b, now=DAY):
    found, turned = first_clash(claim(a), claim(b), now), first_clash(claim(b), claim(a), now)
    assert found == turned, "who came first decides"
    return found


def test_leoscope_case_a_short_cron_job_inside_a_long_run_clashes():
    short = Cron(expression="0 1 * * *", seconds=60)
    assert clash(Once(start=at(0), seconds=7200), short) == (at(1), at(1, 1))


def test_leoscope_case_a_single_run_inside_a_long_run_clashes():
    inside = Once(start=at(0, 30), seconds=60)
    assert clash(Once(start=at(0), seconds=7200), inside) == (at(0, 30), at(0, 31))


def test_leoscope_case_runs_at_different_minutes_do_not_clash():
    assert clash(Cron(expression="0 0 * * *", seconds=600), Cron(expression="55 0 * * *", seconds=60)) is None  # fmt: skip  # noqa: E501
    assert clash(Once(start=at(0), seconds=600), Once(start=at(0, 55), seconds=60)) is None


def test_leoscope_case_back_to_back_runs_do_not_clash():
    assert clash(Once(start=at(0), seconds=600), Once(start=at(0, 10), seconds=600)) is None


def test_leoscope_case_the_nearest_gap_does_not_depend_on_the_order():
    busy = [Interval(at(0, 10), at(0, 20)), Interval(at(0), at(0, 10))]
    for order in (busy, busy[::-1]):
        book = Book(Reservation("alice", one, "exclusive") for one in order)
        assert book.nearest(NODE, 600, "exclusive", at(0), at(24)) == at(0, 20)


def test_leoscope_case_a_cron_job_keeps_its_first_and_last_day():
    daily = Cron(expression="0 3 * * *", seconds=60, start=at(24), until=at(72))
    assert [one.start for one in occurrences(daily, DAY, at(240))] == [at(27), at(51)]


def test_leoscope_case_a_server_takes_light_runs_of_several_nodes_at_a_time():
    one = claim(Once(start=at(0), seconds=60), "alice", "server", priority="normal")
    other = claim(Once(start=at(0), seconds=60), "bob", "server", priority="normal")
    assert first_clash(one, other, DAY) is None
    alone = claim(Once(start=at(0), seconds=60), "bob", "server")
    assert first_clash(one, alone, DAY) is not None


def test_runs_on_other_nodes_meet_at_the_server():
    one = claim(Every(start=at(0), period=600, seconds=60), "alice", "server")
    other = claim(Every(start=at(0), period=900, seconds=60), "bob", "server")
    assert first_clash(one, other, DAY) == (at(0), at(0, 1))
    elsewhere = claim(Every(start=at(0), period=900, seconds=60), "bob", "another")
    assert first_clash(one, elsewhere, DAY) is None


def test_background_blocks_nobody_and_makes_room_for_exclusive_runs():
    background = claim(Once(start=at(0), seconds=60), priority="background")
    alone = claim(Once(start=at(0), seconds=60))
    assert first_clash(background, alone, DAY) is None
    assert first_clash(alone, background, DAY) is not None


def test_a_clash_years_ahead_is_found():
    """Periods without a common factor meet some time, however far."""
    a = Every(start=DAY, period=86_400, seconds=1)
    b = Every(start=DAY + 43_200, period=86_399, seconds=1)
    found = clash(a, b)
    assert found is not None
    assert (found.start - a.start) % a.period == (found.start - b.start) % b.period == 0
    assert found.start - DAY > 86_400 * 10_000
    assert clash(a, b.model_copy(update={"until": found.start})) is None


PERIODIC = st.builds(
    lambda start, period, seconds, count: Every(
        start=start, period=period, seconds=min(seconds, period), until=start + count * period
    ),
    st.integers(0, 60), st.integers(2, 40), st.integers(1, 40), st.integers(1, 60),
)  # fmt: skip
SINGLE = st.builds(Once, start=st.integers(0, 300), seconds=st.integers(1, 60))


def taken(schedule, since: int, until: int) -> set[int]:
    """The seconds of a schedule, one by one."""
    if isinstance(schedule, Once):
        starts = [schedule.start]
    else:
        starts = list(range(schedule.start, schedule.until, schedule.period))
    return {s for start in starts for s in range(start, start + schedule.seconds) if since <= s < until}  # fmt: skip  # noqa: E501


@given(PERIODIC | SINGLE, PERIODIC | SINGLE, st.integers(0, 400))
def test_the_first_clash_is_that_of_brute_force(a, b, now):
    both = taken(a, now, 3000) & taken(b, now, 3000)
    found = clash(a, b, now)
    assert (found.start if found else None) == (min(both) if both else None)


@given(PERIODIC | SINGLE, st.lists(SINGLE, max_size=8), st.integers(0, 400))
def test_the_first_hit_is_that_of_brute_force(wanted, singles, now):
    timeline = Timeline(Interval(one.start, one.start + one.seconds) for one in singles)
    busy = {second for one in singles for second in taken(one, now, 3000)}
    both = busy & taken(wanted, now, 3000)
    found = first_hit(timeline, wanted, now)
    assert (found.start if found else None) == (min(both) if both else None)


def test_cron_hits_what_is_taken_within_the_horizon():
    timeline = Timeline([Interval(at(1, 5), at(1, 6)), Interval(at(30), at(31))])
    hourly = Cron(expression="0 * * * *", seconds=600)
    assert first_hit(timeline, hourly, DAY) == (at(1, 5), at(1, 6))
    assert first_hit(timeline, hourly, at(1, 6)) is None
    assert first_hit(timeline, hourly, at(7)) == (at(30), at(30, 10))


@given(st.lists(st.tuples(st.integers(0, 200), st.integers(1, 30))), st.integers(0, 250), st.integers(1, 40))  # fmt: skip  # noqa: E501
def test_hits_and_gaps_are_those_of_brute_force(spans, after, seconds):
    intervals = [Interval(start, start + length) for start, length in spans]
    busy = {second for one in intervals for second in range(*one)}
    timeline = Timeline(intervals)
    assert all(a.end < b.start for a, b in pairwise(merged(intervals)))
    free = [s for s in range(after, 600) if not busy & set(range(s, s + seconds))]
    assert timeline.gap(seconds, after, 600) == free[0]
    wanted = Interval(after, after + seconds)
    assert (timeline.hit(wanted) is None) == (after == free[0])
    if free[0] > after:
        assert timeline.hit(Interval(free[0] - 1, free[0] - 1 + seconds)) is not None
    assert timeline.gap(seconds, after, free[0] + seconds - 1) is None


@pytest.mark.parametrize(
    "make",
    [
        lambda: Every(start=0, period=10, seconds=11),
        lambda: Every(start=10, period=10, seconds=1, until=10),
        lambda: Once(start=0, seconds=0),
        lambda: Once(start=-1, seconds=1),
        lambda: Once(start=32_503_680_001, seconds=1),
        lambda: Cron(expression="0 0 * * *", seconds=1, start=253_402_300_800),
        lambda: Cron(expression="* * * * *", seconds=61),
        lambda: Cron(expression="0 0 30 2 *", seconds=60),
        lambda: Cron(expression="* * * * * *", seconds=1),
        lambda: Cron(expression="@hourly   ", seconds=1),
        lambda: Cron(expression="x" * 101, seconds=1),
        lambda: Cron(expression="$(id) * * * *", seconds=1),
    ],
)
def test_schedules_that_make_no_sense_are_refused(make):
    with pytest.raises(ValidationError):
        make()


def test_cron_counts_by_utc_minutes():
    found = list(occurrences(Cron(expression="*/20 * * * *", seconds=600), at(0, 25), at(1, 25)))
    assert [one.start for one in found] == [at(0, 20), at(0, 40), at(1), at(1, 20)]
