"""The unmodified public client (starlink-grpc-core) reads the fake dish, in its own process."""

from __future__ import annotations

import json
import subprocess
import sys

CLIENT = """
import json, sys
import starlink_grpc as dish
dish.REQUEST_TIMEOUT = 60  # seconds: the machine may be busy
context = dish.ChannelContext(target=sys.argv[1])
status, obstruction, alerts = dish.status_data(context)
general, bulk = dish.history_bulk_data(-1, context=context)
sky = dish.obstruction_map(context)
dish.reset_obstruction_map(context)
quaternion = dish.get_status(context).ned2dish_quaternion.q_x
place = dish.location_data(context)
lit = sum(value >= 0 for row in sky for value in row)
print(json.dumps([status, general, bulk, lit, place, quaternion]))
"""


def test_the_public_client_reads_status_history_map_and_location(fake, clock, world):
    dish = fake()
    clock.now += 1000
    ran = subprocess.run(
        [sys.executable, "-c", CLIENT, dish.host], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    status, general, bulk, lit, place, quaternion = json.loads(ran.stdout)
    assert (status["state"], status["uptime"]) == ("CONNECTED", 1000)
    assert general == {"samples": 900, "end_counter": 1000}
    seconds = [world.at(int(clock.now) - 900 + place) for place in range(900)]
    expected = [one.latency_ms for one in seconds]
    for heard, true in zip(bulk["pop_ping_latency_ms"], expected, strict=True):
        assert (heard is None and true is None) or abs(heard - true) < 1e-3
    assert lit > 100
    assert quaternion != 0
    assert place["latitude"] == world.spec.terminal.lat
    assert dish.clears == 1
