"""A schedule that is painted into a map comes back from it; a real dish's maps fit real orbits."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

from skyweave.orbit import Place
from skyweave.orbit.catalogue import load_constellation
from skyweave.telemetry.dish.client import Dish
from skyweave.telemetry.dish.record import PIXELS, Options, Recorder, new_pixels
from skyweave.telemetry.dish.sky_map import SIZE, SkyMap, axes_of, directions, facing, pixels
from skyweave.telemetry.serving import Served, serving
from skyweave.telemetry.store import Store, read

SLOTS = 40


def turning(unix_s: float) -> tuple[float, float, float, float]:
    """A dish on a ship: it turns by 0.2° a second and rolls by 5°."""
    return facing(0.2 * (unix_s % 1800), 75 + 5 * math.sin(unix_s / 7))


@pytest.mark.parametrize("frame", ["FRAME_EARTH", "FRAME_UT"])
def test_pixels_and_directions_are_each_others_reverse(frame):
    axes = axes_of(frame, facing(37.0, 62.0))
    row, column = np.mgrid[0:SIZE:7, 0:SIZE:7]
    inside = np.hypot(row - 61, column - 61) <= 60
    back = pixels(directions(row[inside], column[inside], axes), axes)
    assert np.array_equal(back[0], row[inside])
    assert np.array_equal(back[1], column[inside])


def test_north_is_at_the_top_and_east_at_the_right_of_a_map_of_the_earth():
    axes = axes_of("FRAME_EARTH", None)
    north, east = directions([31, 61], [61, 91], axes)
    assert north[0] > 0.6
    assert abs(north[1]) < 1e-9
    assert east[1] > 0.6
    assert abs(east[0]) < 1e-9


@pytest.mark.parametrize("frame", ["FRAME_EARTH", "FRAME_UT"])
def test_a_painted_schedule_comes_back(frame, fake, clock, world, tmp_path):
    dish = fake(frame=frame, attitude=turning)
    began = clock.now
    with Dish(dish.host, timeout_s=60) as client:
        recorder = Recorder(client, Store(tmp_path), Options(satellites=True, clear_map_s=60.0))
        for second in range(15 * SLOTS):
            clock.now = began + second
            recorder.tick(float(second), clock.now)
        recorder.finish(float(15 * SLOTS), clock.now)
    constellation = load_constellation(world.spec.constellation)
    found = serving(read(tmp_path, "pixels", PIXELS), constellation, world.spec.terminal)
    best: dict[float, Served] = {}
    for one in found:
        if one.slot_unix_s not in best or one.pixels > best[one.slot_unix_s].pixels:
            best[one.slot_unix_s] = one
    slots = [began + 15 * slot for slot in range(SLOTS)]
    served = [slot for slot in slots if world.serving(slot + 7)]
    right = [
        slot for slot in served if slot in best and best[slot].satellite == world.serving(slot + 7)
    ]
    assert len(served) >= SLOTS - 2
    assert len(right) >= 0.95 * len(served)
    sure = [one for one in best.values() if one.accepted]
    assert len(sure) >= 0.7 * len(served)
    assert all(one.satellite == world.serving(one.slot_unix_s + 7) for one in sure)


def leoviz(folder) -> pl.DataFrame:
    """The new pixels of LEOViz's sample, with the attitude nearest in time."""
    maps = pl.read_parquet(next((folder / "grpc").rglob("obstruction_map-*.parquet")))
    said = pl.read_csv(next((folder / "grpc").rglob("GRPC_STATUS-*.csv")))
    names = [f"quaternion_q{name}" for name in ("Scalar", "X", "Y", "Z")]
    when, turns = said["timestamp"].to_numpy(), said.select(names).to_numpy()
    rows, last, before = [], None, 0.0
    for time_s, values, _ in maps.iter_rows():
        lit = np.asarray(values, dtype=np.float64).reshape(SIZE, SIZE)
        seen = SkyMap(np.where(lit > 0, 1.0, -1.0), "FRAME_UT")
        if last is not None:
            turn = turns[np.abs(when - (time_s + before) / 2).argmin()]
            fresh = new_pixels(last, seen, before, time_s, tuple(turn.tolist()))
            rows += fresh if len(fresh) <= 12 else []  # more: the map was emptied
        last, before = seen, time_s
    return pl.DataFrame(rows, schema=PIXELS)


def test_the_tracks_of_a_real_dish_are_satellites(data_with):
    folder = data_with("leoviz_serving_sat_sample") / "leoviz_serving_sat_sample"
    elements = load_constellation(str(next((folder / "TLE").rglob("*.txt.gz"))))
    place = Place(lat=48.5137, lon=-124.2933, height_m=200.0)
    rows = leoviz(folder)
    found = serving(rows, elements, place)
    found = [one for one in found if one.pixels >= 5]
    errors = np.array([one.error_deg for one in found])
    assert len(found) > 40
    assert np.median(errors) <= 1.5
    assert np.mean([one.accepted for one in found]) >= 0.85
    late = serving(rows, elements, place, clock_offset_s=180.0)  # the control: a wrong clock
    late = [one for one in late if one.pixels >= 5]
    assert np.median([one.error_deg for one in late]) > 4
    assert np.mean([one.accepted for one in late]) < 0.2
