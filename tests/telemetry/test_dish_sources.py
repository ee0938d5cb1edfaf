"""A dish as a source of triggers: a painted schedule comes back while it is painted."""

from __future__ import annotations

import math

import pytest

from skyweave.telemetry.dish.client import Dish as Client
from skyweave.telemetry.dish.faults import Fault, Planned
from skyweave.telemetry.dish.feed import Tee
from skyweave.telemetry.dish.record import Recorder
from skyweave.telemetry.dish.sky_map import facing
from skyweave.triggers.sources.dish import Dish, Movement, Serving

SLOTS = 21


def watched(source, dish, clock, seconds: int):
    """Return what a source says of a number of seconds of a dish."""
    said: list = []
    began = clock.now
    with Client(dish.host, timeout_s=60) as client:
        sink = Tee(source.taker(lambda time_s, row: said.append((time_s, dict(row)))))
        recorder = Recorder(client, sink, source._options())
        for second in range(seconds):
            clock.now = began + second
            recorder.tick(float(second), clock.now)
    return said


@pytest.mark.waits
def test_the_serving_satellite_of_each_slot_is_said_when_the_slot_is_over(fake, clock, world):
    began = clock.now
    spec = Serving(kind="serving", terminal="seattle", constellation="starlink", clear_map_s=60.0)
    said = watched(spec, fake(), clock, 15 * SLOTS)
    assert said.pop(0)[1]["satellite"] is None  # of the slot that was over when we began
    slots = [began + 15 * slot for slot in range(SLOTS - 1)]
    assert [time_s for time_s, _ in said] == [slot + 16 for slot in slots]
    served = [world.serving(slot + 7) for slot in slots]
    right = [row["satellite"] == name for (_, row), name in zip(said, served, strict=True)]
    assert sum(right) >= 0.95 * len(slots)
    for place in range(1, len(said)):
        if right[place] and right[place - 1]:
            changed = served[place] != served[place - 1]
            assert said[place][1]["handover"] == float(changed)


@pytest.mark.waits
def test_a_status_is_samples_and_nothing_comes_of_an_outage_of_the_dish(fake, clock):
    dish = fake(planned=[Planned(Fault.UNREACHABLE, 5.0, 5.0)])
    said = watched(Dish(kind="dish"), dish, clock, 15)
    assert len(said) == 10
    assert {row["state"] for _, row in said} <= {"CONNECTED", "NO_SATS", "NO_SCHEDULE"}
    assert all(set(row) == set(Dish.offers) for _, row in said)


@pytest.mark.waits
def test_a_turn_is_seen_and_a_gap_is_none(fake, clock):
    began = clock.now

    def turning(unix_s: float):
        return facing(0.0, 55.0 if unix_s - began >= 3 else 45.0)

    dish = fake(attitude=turning, planned=[Planned(Fault.UNREACHABLE, 5.0, 5.0)])
    said = watched(Movement(kind="movement"), dish, clock, 12)
    turned = [row["turned_deg"] for _, row in said]
    assert turned[0] is None
    assert turned[1:3] == pytest.approx([0.0, 0.0], abs=1e-3)
    assert turned[3] == pytest.approx(10.0, abs=1e-3)
    assert turned[5] is None  # after the gap
    assert math.isclose(said[-1][1]["elevation_deg"], 55.0, abs_tol=1e-3)
