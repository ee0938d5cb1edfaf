"""Adaptive films in study files: ladder, algorithm, and what the player knows of the rate ahead."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import skyweave as sw
from skyweave.model import config
from skyweave.model.drive import Drive, PathTrace, Series
from skyweave.model.windows import OutageWindow
from skyweave.study.compile.drives import DriveRun, Makers, gather
from skyweave.study.compile.expand import Job, expand
from skyweave.study.compile.rates import Rates, Session, carried_mbps
from skyweave.study.language.plan import Plan
from skyweave.study.language.rates import RateForecast

START = datetime(2026, 1, 1, 0, 0, 12, tzinfo=UTC)


def _drive(name: str, rates: list[float], start: datetime | None = START) -> Drive:
    times = np.arange(float(len(rates)))
    up = Series(times, np.full(len(rates), 3.0))
    path = PathTrace(downlink_mbps=Series(times, np.array(rates)), uplink_mbps=up)
    return Drive(name, "made up", {"SL": path}, start)


def _jobs(settings: dict[str, Any], drives: list[Drive], learn: Sequence[Drive] = ()) -> list[Job]:
    plan = Plan.model_validate(
        {
            "study": {"name": "s", "title": "S"},
            "drives": [{"name": "g", "data": "x"}, {"name": "others", "data": "y"}],
            "paths": {"SL": {"rtt_ms": 50}},
            "settings": {
                "workload": {"kind": "adaptive", "abr": "bola", "ladder_mbps": [1, 2], "film_s": 8},
                **settings,
            },
            "compare": [{"paths": "SL", "drives": "g"}],
        }
    )
    runs = [DriveRun("g", one, 1) for one in drives] + [DriveRun("others", one, 1) for one in learn]
    return expand(plan, runs, "0")[0]


def _workload(settings: dict[str, Any], drives: list[Drive], learn: Sequence[Drive] = ()) -> Any:
    return _jobs(settings, drives, learn)[0].run.connections[0].workload


def test_a_ladder_is_made_for_the_median_rate_of_the_whole_group() -> None:
    drives = [_drive("a", [2.0] * 60), _drive("b", [8.0] * 61)]
    jobs = _jobs({"ladder_top": [0.5, 2]}, drives)
    ladders = [job.run.connections[0].workload.model_dump()["ladder_mbps"] for job in jobs]
    assert [one[-1] for one in ladders] == [4.0, 16.0, 4.0, 16.0]
    assert len(ladders[0]) == 6
    assert ladders[0][-2] == pytest.approx(4 / 1.5, abs=1e-3)
    assert [job.labels["ladder_top"] for job in jobs] == [0.5, 2, 0.5, 2]


def test_the_setting_abr_replaces_the_one_of_the_workload_and_is_a_label() -> None:
    abr = ["robust-mpc", {"name": "mpc-forecast", "quantile": [0.1, 0.5]}]
    jobs = _jobs({"abr": abr}, [_drive("a", [5.0] * 60)])
    assert [job.labels["abr"] for job in jobs] == [
        "robust-mpc", "mpc-forecast(quantile=0.1)", "mpc-forecast(quantile=0.5)",
    ]  # fmt: skip
    assert jobs[0].run.connections[0].workload.model_dump()["abr"] == "robust-mpc"
    assert _workload({}, [_drive("a", [5.0] * 60)]).abr == "bola"


def test_what_is_carried_leaves_out_outages_and_absences() -> None:
    link = config.Link(
        capacity=config.RateSteps(times_s=(0.0, 1.5), mbps=(10.0, 20.0)),
        delay=config.ConstantDelay(ms=1),
        outages=(OutageWindow(start_s=2.25, end_s=3.0),),
    )
    path = config.Path.model_validate(
        {"name": "a", "down": link, "up": link, "present": [{"start_s": 0, "end_s": 3.5}]}
    )
    assert carried_mbps(path, 5.0).tolist() == [10.0, 15.0, 5.0, 10.0, 0.0]


def test_capacity_and_mean_look_ahead_and_last_does_not() -> None:
    rates = [float(second) for second in range(60)]

    def told(**what: Any) -> Any:
        return _workload({"rate_forecast": what}, [_drive("a", rates)]).model_dump()

    known = told(kind="capacity", share=0.5)["forecast"]["down_mbps"]
    assert known["values"][10] == [5.0]
    means = told(kind="mean", ahead_s=20)["forecast_updates"]
    assert (means[10]["arrives_s"], means[10]["forecast"]["down_mbps"]["values"]) == (10, [[19.5]])
    last = told(kind="last")["forecast_updates"]
    assert (last[10]["arrives_s"], last[10]["forecast"]["down_mbps"]["values"]) == (11, [[10.0]])


def test_errors_have_their_size_and_last_as_long_as_they_are_said_to() -> None:
    drive = _drive("a", [10.0] * 600)

    def errors(**what: Any) -> np.ndarray:
        told = _workload({"rate_forecast": {"kind": "capacity", **what}}, [drive]).model_dump()
        return np.array(told["forecast"]["down_mbps"]["values"])[:, 0] / 10 - 1

    each = errors(error=0.2)
    assert 0.15 < np.abs(each).mean() < 0.25
    slots = errors(error=0.2, lasts_s=15).reshape(40, 15)
    assert (slots == slots[:, :1]).all()
    assert len(np.unique(slots)) == 40
    assert (errors(error=0.2) == each).all(), "the same for every algorithm"


def test_a_predictor_learns_from_other_drives_and_sees_no_second_of_the_future() -> None:
    rng = np.random.default_rng(3)
    learn = [_drive(f"l{number}", rng.uniform(5, 15, 300).tolist()) for number in range(3)]
    rates = rng.uniform(5, 15, 120)
    changed = rates.copy()
    changed[60:] = 1.0
    what = {"rate_forecast": {"kind": "predictor", "learn": "others"}}

    def updates(values: np.ndarray, known: Sequence[Drive]) -> list[dict[str, Any]]:
        return _workload(what, [_drive("a", values.tolist())], known).forecast_updates

    said, of_changed = updates(rates, learn), updates(changed, learn)
    by_then = [one for one in said if one["arrives_s"] <= 60]
    assert by_then == of_changed[: len(by_then)]
    assert said[len(by_then) + 1] != of_changed[len(by_then) + 1]
    first = said[10]["forecast"]["down_mbps"]
    assert first["quantiles"] == [0.1, 0.5, 0.9]
    assert len(first["values"]) == len(first["times_s"])
    # The drive itself, and pieces of it, are left out of what is learned.
    own = _drive("a", rng.uniform(500, 600, 300).tolist())
    assert updates(rates, [*learn, own]) == said


def test_what_came_before_the_session_is_known_to_the_predictor() -> None:
    rng = np.random.default_rng(4)
    learn = [_drive("l", rng.uniform(5, 15, 600).tolist())]
    drive = _drive("a", rng.uniform(5, 15, 120).tolist())
    rates = Rates([DriveRun("g", drive, 1), *(DriveRun("others", one, 1) for one in learn)])
    what = RateForecast(kind="predictor", learn="others")
    link = config.Link(capacity=config.ConstantRate(mbps=1), delay=config.ConstantDelay(ms=1))
    path = config.Path(name="SL", down=link, up=link)

    def first(begin_s: float) -> float:
        session = Session(DriveRun("g", drive, 1), begin_s, (path,), 20.0)
        return float(rates.told(what, session)["forecast_updates"][0]["arrives_s"])

    assert first(0.0) > 0, "nothing was seen yet"
    assert first(60.0) == 0


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"workload": "bulk", "ladder_top": 2}, "ladder_top belongs to adaptive films"),
        ({"workload": "bulk", "rate_forecast": "last"}, "rate_forecast belongs to adaptive"),
        ({"rate_forecast": {"kind": "predictor"}}, "a predictor needs learn"),
        ({"rate_forecast": {"kind": "predictor", "learn": "no"}}, "no drives of this name"),
        ({"rate_forecast": {"kind": "predictor", "learn": "g"}}, "no drive with 'SL' to learn"),
        ({"rate_forecast": {"kind": "last", "error": 0.1}}, "has no error"),
        ({"rate_forecast": {"kind": "predictor", "predictor": "lats", "learn": "g"}}, "'lats'"),
        ({"abr": "bolla"}, "bolla"),
    ],
)
def test_what_makes_no_sense_is_refused(settings: dict[str, Any], complaint: str) -> None:
    with pytest.raises((sw.ConfigError, ValueError), match=complaint):
        _jobs(settings, [_drive("a", [5.0] * 60)])


def test_the_player_plans_with_the_forecast_that_arrived_last() -> None:
    link = sw.Link(capacity=sw.ConstantRate(mbps=10), delay=sw.ConstantDelay(ms=10))

    def qualities(updates: list[dict[str, Any]]) -> list[int]:
        workload = {
            "kind": "adaptive", "abr": "mpc-forecast", "ladder_mbps": [1, 4], "film_s": 80,
            "buffer_s": 8, "forecast_updates": updates,
        }  # fmt: skip
        record = sw.simulate(
            paths=[sw.Path(name="only", down=link, up=link)],
            connections=[sw.Connection.model_validate({"transport": "tcp", "workload": workload})],
            stop_after_s=100,
        )
        table = record.application["adaptive"]
        return list(table.filter(table["event"] == "response")["quality"])

    def rate(at_s: float, mbps: float) -> dict[str, Any]:
        series = {"times_s": [0.0], "quantiles": [0.5], "values": [[mbps]]}
        return {"arrives_s": at_s, "forecast": {"down_mbps": series}}

    without = qualities([])
    assert without[2:] == [1] * 18, "10 Mbit/s carry 4"
    warned = qualities([rate(30.0, 0.5)])
    assert warned[:8] == without[:8]
    assert 0 in warned[8:], "0.5 Mbit/s were foreseen at 30 s"
    assert qualities([rate(30.0, 0.5), rate(31.0, 10.0)])[12:] == without[12:]


def test_pieces_of_a_drive_may_overlap_and_keep_their_clock(tmp_path: Path) -> None:
    (tmp_path / "x").touch()
    drive = _drive("a", [float(second) for second in range(100)])
    plan = Plan.model_validate(
        {
            "study": {"name": "s", "title": "S"},
            "drives": [
                {
                    "name": "g",
                    "data": "x",
                    "segment_s": 40,
                    "step_s": 20,
                    "flip": True,
                    "rate_scale": 0.5,
                }
            ],
            "paths": {"SL": {"rtt_ms": 50}},
        }
    )
    makers = Makers(synthesise=lambda *_: drive, load=lambda *_: [drive])
    pieces = [one.drive for one in gather(plan, tmp_path, makers)[0]]
    assert [one.name for one in pieces] == ["a#1", "a#2", "a#3", "a#4"]
    flipped = pieces[1].paths["SL"]
    assert flipped.uplink_mbps is not None
    assert flipped.uplink_mbps.values[0] == 10.0
    assert flipped.downlink_mbps is not None
    assert flipped.downlink_mbps.values[0] == 1.5
    assert pieces[1].start is not None
    assert (pieces[1].start - START).total_seconds() == 20
