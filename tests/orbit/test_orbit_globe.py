"""The projection of the map, the outlines of land, the geostationary arc."""

import numpy as np
import pytest

from skyweave._skyweave import Constellation
from skyweave.orbit import Place
from skyweave.orbit.coastlines import outlines
from skyweave.orbit.globe import Globe, great_circle, middle
from skyweave.orbit.gso import angles_deg, gso_arc


def test_the_middle_of_the_view_is_the_middle_of_the_disc():
    x, y, near = Globe(40.0, -100.0).project(
        np.array([40.0, 90.0, -40.0]), np.array([-100.0, 0.0, 80.0])
    )
    assert (x[0], y[0]) == pytest.approx((0, 0))
    assert y[1] == pytest.approx(np.cos(np.radians(40)))  # Snyder 1987, p. 149
    assert near.tolist() == [True, True, False]


def test_outlines_are_closed_and_on_the_earth():
    for one in outlines():
        assert one[0].tolist() == one[-1].tolist()
        assert np.abs(one[:, 0]).max() <= 90
        assert np.abs(one[:, 1]).max() <= 180
    areas = [Globe(39.0, -98.0).area(*one.T) for one in outlines()]
    assert sum(area is None for area in areas) > 20  # Australia and others are on the far side
    assert all(np.hypot(*area.T).max() <= 1 + 1e-9 for area in areas if area is not None)


def test_a_great_circle_passes_the_middle():
    chicago, tokyo = (41.88, -87.63), (35.68, 139.69)
    lat, lon = great_circle(chicago, tokyo)
    assert (lat[0], lon[0]) == pytest.approx(chicago)
    assert (lat[-1], lon[-1]) == pytest.approx(tokyo)
    half = len(lat) // 2
    assert lat[half] == pytest.approx(middle([chicago, tokyo])[0], abs=0.5)
    assert middle([(0.0, 0.0), (0.0, 180.0)]) == (0.0, 0.0)


def test_the_arc_stands_where_the_core_keeps_clear_of_it():
    """A pass cut by the arc ends at the angle that was asked for."""
    place = Place.model_validate("singapore")
    arc = gso_arc(place)
    constellation = Constellation.built_in("starlink-53", 1735689600.0)
    span = (1735689600.0, 1735689600.0 + 3600)
    found = constellation.passes(span, place.coordinates, 25.0, 20.0)
    angles = []
    for satellite, at in zip(found["satellite"], found["set_unix_s"], strict=True):
        look = constellation.look_angles(float(at), place.coordinates)
        if look["elevation_deg"][satellite] > 26 and at < span[1] - 1:
            one = angles_deg(arc, look["azimuth_deg"][satellite], look["elevation_deg"][satellite])
            angles.append(float(one))
    assert len(angles) > 5
    assert angles == pytest.approx([20.0] * len(angles), abs=0.05)


def test_no_arc_is_above_the_horizon_of_a_pole():
    assert len(gso_arc(Place.model_validate("90,0"))) == 0
    assert angles_deg(np.empty((0, 3)), np.array([1.0]), np.array([2.0])).tolist() == [180.0]
