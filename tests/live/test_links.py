"""Packets through the relay, asserted by counters: loss, queue, outage, live changes, delay."""

from __future__ import annotations

import json
from typing import Any

from burst import burst
from made_paths import path

from skyweave.live.world.world import World

WIRE_BYTES = 1000
DROPPED = ("dropped_queue", "dropped_aqm", "dropped_loss", "dropped_outage")


def carried(world: World, name: str = "p.up") -> dict[str, Any]:
    found: dict[str, Any] = world.finish()["statistics"]["links"][name]
    return found


def test_all_packets_of_a_free_link_arrive_and_are_counted_whole() -> None:
    with World([path("p", 1000.0)]) as world:
        world.start(100)
        burst(world, 200)
        settle(world, 200)
        link = carried(world)
    assert (link["in_packets"], link["delivered_packets"]) == (200, 200)
    assert link["delivered_bytes"] == 200 * WIRE_BYTES


def test_a_link_without_capacity_holds_what_its_queue_admits_until_capacity_comes() -> None:
    with World([path("p", 0.0, queue={"kind": "droptail", "packets": 10})]) as world:
        world.start(100)
        burst(world, 50)
        settle(world, 50, held=10)
        world.change("p", "up", {"capacity": {"kind": "constant", "mbps": 100.0}})
        settle(world, 50)
        link = carried(world)
    assert (link["dropped_queue"], link["delivered_packets"]) == (40, 10)


def test_a_closed_path_drops_everything_until_it_is_opened() -> None:
    with World([path("p", 1000.0)]) as world:
        world.start(100)
        world.set_path("p", up=False)
        burst(world, 30)
        settle(world, 30)
        world.set_path("p", up=True)
        burst(world, 20)
        settle(world, 50)
        link = carried(world)
    assert (link["dropped_outage"], link["delivered_packets"]) == (30, 20)


def test_several_things_of_a_link_change_at_once() -> None:
    with World([path("p", 0.0)]) as world:
        world.start(100)
        rate = {"kind": "constant", "mbps": 100.0}
        world.change("p", "up", {"capacity": rate, "loss": {"kind": "bernoulli", "ratio": 1.0}})
        burst(world, 30)
        settle(world, 30)
        link = carried(world)
    assert (link["dropped_loss"], link["delivered_packets"]) == (30, 0)


def test_a_seed_loses_the_same_packets_as_often_as_it_is_run() -> None:
    def lost(seed: int) -> int:
        with World([path("p", 1000.0, loss={"kind": "bernoulli", "ratio": 0.2})], seed=seed) as w:
            w.start(100)
            burst(w, 400)
            settle(w, 400)
            return int(carried(w)["dropped_loss"])

    first = lost(1)
    assert first == lost(1)
    assert 40 < first < 120
    assert first != lost(2)


def test_a_scripted_outage_drops_by_the_clock_of_the_links() -> None:
    forever = [{"start_s": 0.0, "end_s": 1e6, "in_flight": "drop"}]
    with World([path("p", 1000.0, outages=forever), path("q", 1000.0)]) as world:
        world.start(100)
        burst(world, 25)
        settle(world, 25)
        assert carried(world)["dropped_outage"] == 25


def settle(world: World, offered: int, held: int = 0) -> None:
    """Wait until the relay is done with all packets but those that the link holds."""
    gone = -1
    while gone != offered - held:
        link = json.loads(world.ask_links({"do": "statistics"})["statistics"])["links"]["p.up"]
        gone = link["delivered_packets"] + sum(link[key] for key in DROPPED)
