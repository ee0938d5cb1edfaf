"""What heartbeats tell of dish and modem: what they say, within bounds, if the owner lets it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from skyweave.telemetry.dish.fake import FakeDish
from skyweave.testbed.node.figures import Figures, radio_of
from skyweave.testbed.wire import DishFigures, Heartbeat, RadioFigures

SAID = """\
modem.signal.refresh.rate         : 10
modem.signal.threshold.rssi       : 0
modem.signal.gsm.rssi             : --
modem.signal.lte.rssi             : -71.00
modem.signal.lte.rsrq             : -9.00
modem.signal.lte.rsrp             : -100.00
modem.signal.lte.snr              : 19.00
modem.signal.lte.error-rate       : --
modem.signal.5g.rsrq              : --
modem.signal.5g.rsrp              : --
modem.signal.5g.snr               : --
"""
LTE = RadioFigures(kind="lte", rsrp_dbm=-100.0, rsrq_db=-9.0, sinr_db=19.0, rssi_dbm=-71.0)


class Road:
    """What a fake dish reports."""

    def at(self, _: float) -> SimpleNamespace:
        return SimpleNamespace(
            satellite="one", latency_ms=31.0, down_mbps=42.0, up_mbps=5.0, cause=""
        )


def test_a_modem_tells_of_its_newest_generation() -> None:
    assert radio_of(SAID) == LTE
    newest = SAID.replace("modem.signal.5g.rsrp              : --", "modem.signal.5g.rsrp : -88.5")
    assert radio_of(newest) == RadioFigures(kind="5g", rsrp_dbm=-88.5)


@pytest.mark.parametrize("said", [
    "", "--", "error: couldn't find modem", "modem.signal.lte.rsrp : nan",
    "modem.signal.lte.rsrp : 5", "modem.signal.lte.snr : 9999", "modem.signal.gsm.rssi : -70",
])  # fmt: skip
def test_what_is_impossible_is_not_told(said: str) -> None:
    assert radio_of(said) is None
    assert radio_of(f"{SAID}{said}") == LTE


@given(st.text() | st.binary().map(lambda raw: raw.decode(errors="replace")))
def test_whatever_a_modem_says_it_is_read(said: str) -> None:
    radio_of(said + SAID)
    radio_of(said.replace("x", "modem.signal.lte.rsrp : -"))


def test_a_dish_tells_its_figures_and_a_silent_one_none() -> None:
    dish = FakeDish(Road(), lambda: 1000.0).start()  # type: ignore[arg-type]
    try:
        told = Figures(("dish",), dish.host).dish()
        assert told is not None
        assert (told.down_mbps, told.up_mbps) == pytest.approx((42.0, 5.0))
        assert told.ping_latency_ms == pytest.approx(31.0)
        assert Figures((), dish.host).dish() is None  # its owner said nothing of it
    finally:
        dish.stop()
    assert Figures(("dish",), dish.host).dish() is None


def test_a_modem_is_asked_if_the_owner_lets_it() -> None:
    def never() -> str:
        raise AssertionError("nobody may ask it")

    assert Figures(("dish",), "127.0.0.1:1").radio(never) is None
    assert Figures(("radio",), "127.0.0.1:1").radio(lambda: SAID) == LTE
    assert Figures(("radio",), "127.0.0.1:1").radio(lambda: "") is None


@pytest.mark.parametrize("more", [
    {"dish": {"down_mbps": -1.0}}, {"dish": {"down_mbps": 1e9}}, {"dish": {"up_mbps": "5"}},
    {"dish": {"ping_drop_ratio": 1.5}}, {"dish": {"latitude": 48.2}}, {"dish": []},
    {"dish": {"ping_latency_ms": float("nan")}}, {"radio": {}}, {"radio": {"kind": "6g"}},
    {"radio": {"kind": "lte", "rsrp_dbm": 0.0}}, {"radio": {"kind": "lte", "cell": 1}},
    {"radio": {"kind": "lte", "sinr_db": float("inf")}},
])  # fmt: skip
def test_figures_that_cannot_be_are_refused(more: dict[str, Any]) -> None:
    said = {"clock": {"offset_s": 0.0, "error_s": 0.1}, "version": "1"}
    Heartbeat.model_validate(said | {"dish": {}, "radio": {"kind": "lte"}})
    with pytest.raises(ValidationError):
        Heartbeat.model_validate(said | more)


def test_no_figure_tells_where_a_dish_is() -> None:
    named = " ".join(DishFigures.model_fields)
    assert not any(one in named for one in ("azimuth", "elevation", "tilt", "gps", "q_"))
