"""What a study file may say about an orbit."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from pydantic import ValidationError

from skyweave.orbit import PLACES, OrbitSpec, Place

GATEWAY = {"gateways": ["47.6,-121"]}


def said(**fields) -> str:
    with pytest.raises(ValidationError) as caught:
        OrbitSpec.model_validate(fields)
    return caught.value.errors()[0]["msg"]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("Chicago", (41.88, -87.63, 0)),
        ("Victoria BC", (48.43, -123.37, 0)),
        ("Osnabrück", (52.28, 8.05, 0)),
        ("new_york", (40.71, -74.01, 0)),
        ("48.51,-124.29", (48.51, -124.29, 0)),
        (" 48.51, -124.29, 201", (48.51, -124.29, 201)),
        ({"lat": 1, "lon": 2, "height_m": 3, "name": "hut"}, (1, 2, 3)),
    ],
)
def test_a_place_can_be_written_in_three_ways(written, meant):
    assert Place.model_validate(written).coordinates == meant


def test_all_known_places_are_places():
    for name in PLACES:
        assert str(Place.model_validate(name)) == name
    assert str(Place.model_validate("1.5,2")) == "1.5,2"


def test_what_is_missing_or_wrong_is_said_in_a_sentence():
    assert "no place is called 'chicagoo'; did you mean 'chicago'?" in said(terminal="chicagoo")
    assert "needs gateways" in said(terminal="chicago")
    assert "needs the far end" in said(terminal="chicago", via="isl")
    assert "no CSV file" in said(terminal="chicago", gateways="seattle")
    assert "unknown key 'terminl': did you mean 'terminal'?" in said(terminl="chicago")
    assert "90" in said(terminal="91,0", **GATEWAY)
    assert "0.1" in said(terminal="chicago", slot_s=0, **GATEWAY)


def test_times_are_in_utc():
    def start(text):
        return OrbitSpec.model_validate({"terminal": "lagos", "start": text, **GATEWAY}).start

    noon = datetime(2025, 5, 29, 12, tzinfo=UTC)
    assert start("2025-05-29T12:00:00") == noon
    assert start("2025-05-29T14:00:00+02:00") == noon


def test_slots_can_be_switched_off_in_a_file():
    spec = OrbitSpec.model_validate({"terminal": "lagos", "slot_s": "none", **GATEWAY})
    assert spec.slot_s is None
