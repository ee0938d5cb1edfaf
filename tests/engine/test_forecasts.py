"""Forecasts that reach a scheduler before and during a simulated run."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

import skyweave as sw


class Watching(sw.Scheduler):
    """Takes the first path with room, and remembers what it saw of the satellite's forecast."""

    def __init__(self) -> None:
        self.seen: dict[tuple[tuple[float, float] | None, float | None], list[float]] = {}

    def select(self, view: sw.ConnectionView) -> int | None:
        sat = view.paths[0]
        self.seen.setdefault((sat.forecast_s, sat.forecast_probability), []).append(view.now_s)
        able = [one.id for one in view.paths if one.usable and one.has_room and not one.tried]
        return able[0] if able else None


def path(name: str, **settings: object) -> sw.Path:
    link = sw.Link(capacity=sw.ConstantRate(mbps=20), delay=sw.ConstantDelay(ms=20))
    return sw.Path.model_validate({"name": name, "down": link, "up": link} | settings)


def watched(transport: str, **settings: object) -> Watching:
    scheduler = Watching()
    facts = {"transport": transport, "congestion": "cubic", "workload": {"duration_s": 3}}
    sw.simulate(
        paths=[path("sat", **settings), path("terr")],
        connections=[sw.Connection.model_validate(facts)],
        schedulers={0: scheduler},
    )
    return scheduler


def outage(start_s: float, end_s: float, probability: float = 1.0) -> sw.ForecastWindow:
    return sw.ForecastWindow(start_s=start_s, end_s=end_s, probability=probability)


@pytest.mark.parametrize("transport", ["mptcp", "mpquic"])
def test_a_correction_replaces_what_a_scheduler_sees(transport: str) -> None:
    known = sw.Forecast(outages=(outage(2.5, 2.7, 0.8), outage(0.5, 0.6, 0.3)))
    corrected = sw.Forecast(issued_at_s=0.9, outages=(outage(2.0, 2.2),))
    overtaken = sw.Forecast(issued_at_s=0.5, outages=(outage(2.8, 2.9),))
    seen = watched(
        transport,
        forecast=known,
        forecast_updates=(
            sw.ForecastUpdate(arrives_s=1.0, forecast=corrected),
            sw.ForecastUpdate(arrives_s=1.2, forecast=overtaken),
        ),
    ).seen
    assert seen.keys() == {((2.5, 2.7), 0.8), ((2.0, 2.2), 1.0), (None, None)}
    assert max(seen[(2.5, 2.7), 0.8]) <= 1.0 <= min(seen[(2.0, 2.2), 1.0])
    assert min(seen[None, None]) >= 2.2


def test_updates_before_they_are_issued_are_refused() -> None:
    with pytest.raises(ValidationError, match="must not be before issued_at_s, 2 s"):
        sw.ForecastUpdate(arrives_s=1.0, forecast=sw.Forecast(issued_at_s=2.0))
    with pytest.raises(ValidationError, match="'sat' is issued at 2 s, after the run began"):
        path("sat", forecast=sw.Forecast(issued_at_s=2.0))
    with pytest.raises(ValidationError, match="end_s must be after start_s"):
        outage(2.0, 2.0)
