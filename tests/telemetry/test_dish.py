"""Our client reads the fake dish, and no fault of it makes a wrong value or an unclear end."""

from __future__ import annotations

import math
import threading

import pytest

from skyweave.telemetry.clock import clock_offset_s
from skyweave.telemetry.dish import status
from skyweave.telemetry.dish.client import MOST_BYTES, Dish
from skyweave.telemetry.dish.errors import DishError
from skyweave.telemetry.dish.faults import CLOCK_OFF_S, Fault, Planned, parse_fault
from skyweave.telemetry.dish.history import History
from skyweave.telemetry.dish.sky_map import facing, parse_map
from skyweave.telemetry.dish.status import status_row


def test_a_status_has_what_the_world_has(fake, clock, world):
    dish = fake(frame="FRAME_UT", attitude=lambda _: facing(30.0, 60.0))
    clock.now += 100
    with Dish(dish.host, timeout_s=60) as client:
        row = status_row(client.status())
    second = world.at(int(clock.now))
    assert row["ping_latency_ms"] == pytest.approx(second.latency_ms, rel=1e-6)
    assert row["state"] == "CONNECTED"
    assert (row["uptime_s"], row["bootcount"], row["alerts"]) == (100, 1, "")
    assert row["azimuth_deg"] == pytest.approx(30.0, abs=1e-4)
    assert row["elevation_deg"] == pytest.approx(60.0, abs=1e-4)
    assert row["firmware"]
    assert "id" not in row
    assert set(row) <= set(status.SCHEMA)


def test_the_history_is_what_the_world_was(fake, clock, world):
    dish = fake()
    clock.now += 1234  # the ring has turned
    with Dish(dish.host, timeout_s=60) as client:
        rows = History().join(client.history(), 0.0, clock.now)
    assert len(rows) == 900
    for row in rows:
        second = world.at(math.floor(row["time_unix_s"]))
        assert row["down_mbps"] == pytest.approx(second.down_mbps)
        latency = row["ping_latency_ms"]
        assert (latency is None) == (second.latency_ms is None)
        assert latency is None or latency == pytest.approx(second.latency_ms, rel=1e-6)


def test_the_map_shows_the_last_quarter_of_an_hour_at_most(fake, clock):
    dish = fake()
    clock.now += 60
    with Dish(dish.host, timeout_s=60) as client:
        minute = parse_map(client.obstruction_map()).known
        client.clear_map()
        after = parse_map(client.obstruction_map()).known
    assert 10 < minute.sum() <= 61
    assert after.sum() == 1
    assert minute[after].all()


def test_the_location_is_given_or_denied(fake):
    dish = fake()
    with Dish(dish.host, timeout_s=60) as client:
        assert client.location() == pytest.approx((47.61, -122.33, 0.0))
        dish.location_allowed = False
        assert client.location() is None


def planned(*names: Fault) -> dict[str, list[Planned]]:
    return {"planned": [Planned(name) for name in names]}


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (Fault.UNREACHABLE, "not reachable"),
        (Fault.TORN, "the request failed"),
        (Fault.HUGE, "larger than max"),
    ],
)
def test_replies_that_are_none_are_errors_in_one_sentence(fake, fault, words):
    dish = fake(**planned(fault))
    with Dish(dish.host, timeout_s=60) as client:
        with pytest.raises(DishError, match=words) as error:
            client.history()
        assert "\n" not in str(error.value)
        assert dish.host in str(error.value)
        dish.planned.clear()
        assert client.status().device_state.uptime_s == 0  # it is a dish again


def test_nothing_listens():
    with Dish("127.0.0.1:9") as client, pytest.raises(DishError, match="not reachable"):
        client.status()


def test_no_reply_is_waited_for_beyond_the_limit(fake):
    asked, given_up = threading.Event(), threading.Event()

    def slow(_: float) -> None:
        asked.set()
        given_up.wait()

    dish = fake(slow=slow)
    with Dish(dish.host) as client:
        while not asked.is_set():  # a busy dish may not even hear a question that ends so soon
            dish.planned.clear()
            client.timeout_s = 60.0
            client.status()  # the connection is there
            dish.planned.append(Planned(Fault.SLOW))
            client.timeout_s = 1.0
            with pytest.raises(DishError, match="no answer within 1 s"):
                client.status()
        given_up.set()


def test_a_reboot_cuts_the_call_and_begins_anew(fake, clock):
    dish = fake(planned=[Planned(Fault.REBOOT, 50.0)])
    clock.now += 40
    with Dish(dish.host, timeout_s=60) as client:
        assert status_row(client.status())["bootcount"] == 1
        clock.now += 20
        with pytest.raises(DishError, match="not reachable"):
            client.status()
        clock.now += 5
        row = status_row(client.status())
        assert (row["bootcount"], row["uptime_s"]) == (2, 5)
        assert client.history().current == 5


def test_a_counter_that_begins_anew_is_a_gap_and_joins_nothing_twice(fake, clock):
    dish = fake()
    joined = History()
    with Dish(dish.host, timeout_s=60) as client:
        clock.now += 700
        first = joined.join(client.history(), 700.0, clock.now)
        clock.now += 300
        second = joined.join(client.history(), 1000.0, clock.now)
        dish.planned.append(Planned(Fault.COUNTER_RESET))
        client.status()
        clock.now += 200
        third = joined.join(client.history(), 1200.0, clock.now)
    assert [row["counter"] for row in first + second] == list(range(1000))
    assert not any(row["gap"] for row in second)
    assert [row["counter"] for row in third] == list(range(200))
    assert [row["gap"] for row in third] == [True] + [False] * 199
    assert joined.gaps == 1
    times = [row["time_unix_s"] for row in first + second + third]
    assert times == sorted(set(times))


def test_a_reset_is_seen_though_the_counter_is_higher_than_before(fake, clock):
    dish = fake()
    joined = History()
    with Dish(dish.host, timeout_s=60) as client:
        clock.now += 60
        joined.join(client.history(), 60.0, clock.now)
        clock.now += 100
        dish.planned.append(Planned(Fault.COUNTER_RESET))
        client.status()
        clock.now += 200
        rows = joined.join(client.history(), 360.0, clock.now)
    assert len(rows) == 200
    assert rows[0]["gap"]


def test_samples_beyond_the_ring_are_a_gap(fake, clock):
    dish = fake()
    joined = History()
    with Dish(dish.host, timeout_s=60) as client:
        clock.now += 100
        joined.join(client.history(), 100.0, clock.now)
        clock.now += 1000
        rows = joined.join(client.history(), 1100.0, clock.now)
    assert [row["counter"] for row in rows] == list(range(200, 1100))
    assert rows[0]["gap"]
    assert not any(row["gap"] for row in rows[1:])


def test_fields_that_a_firmware_lacks_are_null_and_not_zero(fake, clock):
    dish = fake(**planned(Fault.FIELD_MISSING))
    clock.now += 100
    with Dish(dish.host, timeout_s=60) as client:
        row = status_row(client.status())
        past = History().join(client.history(), 0.0, clock.now)
    for name in ("ping_latency_ms", "state", "q_scalar", "q_x", "q_y", "q_z"):
        assert row[name] is None, name
    assert row["ping_drop_ratio"] == 0.0
    assert row["down_mbps"] is not None
    assert len(past) == 100
    assert "ping_latency_ms" not in past[0]


def test_a_new_firmware_is_read_by_its_own_schema(world, clock, fake):
    """The dish was updated between two calls, and gRPC connected again without a word."""
    old = fake()
    with Dish(old.host, timeout_s=60) as client:
        assert status_row(client.status())["ping_latency_ms"] is not None
        old.stop()
        fake(address=old.host, **planned(Fault.FIELD_MISSING))
        assert status_row(client.status())["ping_latency_ms"] is None


def test_unknown_fields_change_nothing(fake):
    dish = fake()
    with Dish(dish.host, timeout_s=60) as client:
        plain = status_row(client.status())
        dish.planned.append(Planned(Fault.UNKNOWN_FIELD))
        assert status_row(client.status()) == plain


def test_impossible_values_are_null(fake, clock):
    dish = fake(**planned(Fault.NOT_A_NUMBER))
    clock.now += 10
    with Dish(dish.host, timeout_s=60) as client:
        row = status_row(client.status())
        past = History().join(client.history(), 0.0, clock.now)
        sky = parse_map(client.obstruction_map())
    for name in ("ping_latency_ms", "down_mbps", "up_mbps", "ping_drop_ratio", "bootcount"):
        assert row[name] is None, name
    assert all(one["ping_latency_ms"] is None and one["down_mbps"] is None for one in past)
    assert all(one["up_mbps"] is not None for one in past)
    assert not sky.known[0].any()


def test_a_map_of_another_size_is_a_map(fake, clock):
    dish = fake(**planned(Fault.OTHER_MAP))
    clock.now += 60
    with Dish(dish.host, timeout_s=60) as client:
        sky = parse_map(client.obstruction_map())
    assert sky.snr.shape == (61, 61)
    assert sky.known.sum() > 5


@pytest.mark.parametrize(("rows", "columns", "values"), [(3, 3, 8), (0, 5, 0), (10**6, 1, 10**6)])
def test_a_map_that_contradicts_itself_is_refused(rows, columns, values):
    from skyweave.telemetry.dish.api import Schema

    message = Schema().message("DishGetObstructionMapResponse")()
    message.num_rows, message.num_cols = rows, columns
    message.snr.extend([1.0] * values)
    with pytest.raises(DishError, match="obstruction map"):
        parse_map(message)


def test_the_clock_of_the_dish_is_compared_with_ours(fake, clock):
    dish = fake(ntp=("127.0.0.1", 0))
    place = ("127.0.0.1", dish.ntp_port)
    assert clock_offset_s(place, 60.0, clock) == pytest.approx(0.0, abs=1e-6)
    dish.planned.append(Planned(Fault.CLOCK_OFF))
    assert clock_offset_s(place, 60.0, clock) == pytest.approx(CLOCK_OFF_S, abs=1e-6)


def test_a_reply_fits_into_what_is_read(fake, clock):
    dish = fake()
    clock.now += 2000
    with Dish(dish.host, timeout_s=60) as client:
        assert client.history().ByteSize() + client.obstruction_map().ByteSize() < MOST_BYTES / 10


@pytest.mark.parametrize("text", ["rebot", "torn@x", "torn@-1", "torn@1+0", "torn@nan"])
def test_faults_that_make_no_sense_are_refused(text):
    from skyweave.errors import ConfigError

    with pytest.raises(ConfigError, match="--fault"):
        parse_fault(text)
