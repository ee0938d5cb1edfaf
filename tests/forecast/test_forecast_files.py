"""Forecasts, their files, and the command as people type it."""

import json
from datetime import UTC, datetime

import pytest
from made_up_slots import slotted, unslotted
from typer.testing import CliRunner

from skyweave.cli.forecast import forecast_app
from skyweave.errors import ConfigError, DataError, SkyweaveError
from skyweave.forecast import ForecastFile, estimate_slots, read_forecast, slot_forecast
from skyweave.model.forecast import (
    Forecast,
    ForecastBoundary,
    ForecastSeries,
    ForecastUpdate,
)
from skyweave.model.windows import ForecastWindow

T0 = 1_700_000_000.0


def says(*spans, **more):
    windows = (ForecastWindow(start_s=a, end_s=b, probability=p) for a, b, p in spans)
    return Forecast(outages=tuple(windows), **more)


def forecast(*spans, updates=()):
    return ForecastFile(source="a test", method="by hand", start_unix_s=T0, end_unix_s=T0 + 100,
                        forecast=says(*spans), updates=updates)  # fmt: skip


def first_schema(**change):
    window = {"start_unix_s": T0 + 12, "end_unix_s": T0 + 13, "probability": 0.3}
    return {"kind": "skyweave-forecast", "schema_version": 1, "source": "a test",
            "method": "by hand", "start_unix_s": T0, "end_unix_s": T0 + 100,
            "windows": [window]} | change  # fmt: skip


def spans(windows):
    return [(window.start_s, window.end_s) for window in windows]


def test_outages_are_in_seconds_of_the_run():
    known = forecast((12, 13, 0.3), (27, 28, 0.8), (27.5, 29, 0.8), (42, 43, 0.3))
    start = datetime.fromtimestamp(T0 + 12.5, UTC)
    assert spans(known.outages(start, 30)) == [(0, 0.5), (14.5, 16.5), (29.5, 30)]
    assert spans(known.outages(start, 30, least_probability=0.5)) == [(14.5, 16.5)]
    assert known.probability_at(T0 + 27.7) == 0.8
    assert known.probability_at(T0 + 20) == 0


def test_what_lies_outside_is_not_known():
    known = forecast((12, 13, 0.3))
    for start, length in ((T0 - 1, 10), (T0 + 95, 10)):
        with pytest.raises(ConfigError, match="is not within the forecast of a test"):
            known.outages(start, length)
    with pytest.raises(ConfigError, match="names no zone"):
        known.outages(datetime(2023, 11, 14, 22, 13, 20), 10)
    with pytest.raises(ConfigError, match="above 0"):
        known.outages(T0, 0)


def test_a_window_at_every_edge():
    estimate = estimate_slots(slotted(1)[0])
    known = slot_forecast(estimate, T0, 60)
    assert len(known.forecast.outages) == 4
    for window in known.forecast.outages:
        assert (T0 + window.start_s) % 15 == pytest.approx(estimate.offset_s, abs=1e-6)
        assert window.end_s - window.start_s == pytest.approx(estimate.disturbance_s)
        assert window.probability == estimate.handover_share
    exact = slot_forecast(estimate, T0 + known.forecast.outages[0].start_s, 30)
    assert len(exact.forecast.outages) == 2  # the edge at the end belongs to what follows
    with pytest.raises(ConfigError, match="above 0"):
        slot_forecast(estimate, T0, 0)
    with pytest.raises(DataError, match="no slots found"):
        slot_forecast(estimate_slots(unslotted(1, "white")), T0, 60)


def rtt(*times_s):
    rows = tuple((20.0 + time_s, 30.0 + time_s) for time_s in times_s)
    return ForecastSeries(times_s=times_s, quantiles=(0.1, 0.9), values=rows)


def test_files_come_back_unchanged(tmp_path):
    update = ForecastUpdate(arrives_s=30, forecast=says((42, 43, 0.9), issued_at_s=29.5))
    known = forecast((12, 13, 0.3), (27, 28, 0.8), updates=(update,))
    known = known.model_copy(update={"forecast": says((12, 13, 0.3), rtt_ms=rtt(0, 10))})
    known.write(tmp_path / "f.json")
    assert read_forecast(tmp_path / "f.json") == known


def test_the_first_schema_is_read(tmp_path):
    (tmp_path / "f.json").write_text(json.dumps(first_schema()))
    assert read_forecast(tmp_path / "f.json") == forecast((12, 13, 0.3))


def test_updates_before_a_run_are_known_and_those_in_it_arrive():
    updates = (
        ForecastUpdate(arrives_s=50, forecast=says((60, 61, 1), rtt_ms=rtt(0, 20, 55))),
        ForecastUpdate(arrives_s=20, forecast=says((55, 56, 0.7), (90, 91, 1))),
        ForecastUpdate(arrives_s=45, forecast=says(issued_at_s=10)),  # overtaken
        ForecastUpdate(arrives_s=80, forecast=says()),  # after the run
    )
    known, later = forecast((12, 13, 0.3), updates=updates).of_run(T0 + 40, 30)
    assert [(one.start_s, one.end_s, one.probability) for one in known.outages] == [(15, 16, 0.7)]
    assert [one.arrives_s for one in later] == [10]
    there = later[0].forecast
    assert spans(there.outages) == [(20, 21)]
    assert there.rtt_ms.times_s == (0, 15)
    assert there.rtt_ms.at(0, 0.5) == pytest.approx(45)  # the row of second 20 of the file


def test_boundaries_move_with_the_run_and_end_with_it():
    boundaries = tuple(ForecastBoundary(at_s=at_s, uncertainty_s=0.3) for at_s in (12, 27, 42, 57))
    file = forecast().model_copy(update={"forecast": Forecast(boundaries=boundaries)})
    known, _ = file.of_run(T0 + 20, 30)
    assert [one.at_s for one in known.boundaries] == [7, 22]
    with pytest.raises(ValueError, match="boundaries must lie between"):
        ForecastFile.model_validate(
            file.model_dump() | {"forecast": {"boundaries": [{"at_s": 100.1}]}}
        )


def test_a_boundary_at_every_edge():
    estimate = estimate_slots(slotted(1)[0])
    known = slot_forecast(estimate, T0, 60).forecast
    assert [one.at_s for one in known.boundaries] == [one.start_s for one in known.outages]
    assert {one.probability for one in known.boundaries} == {estimate.handover_share}
    assert 0 <= known.boundaries[0].uncertainty_s < 1


def test_a_series_answers_between_its_quantiles():
    series = rtt(5, 10)
    assert series.at(4.9, 0.5) is None
    assert series.at(5, 0.5) == pytest.approx(30)
    assert (series.at(99, 0.0), series.at(99, 1.0)) == (30, 40)


def test_what_is_known_is_asked_by_probability():
    known = says((10, 11, 0.2), (20, 22, 0.6), (21, 23, 0.9), valid_until_s=60)
    assert known.outage(0).start_s == 20
    assert known.outage(0, 0.1).start_s == 10
    assert spans(known.likely(0.5)) == [(20, 23)]
    assert known.outage(22.9).probability == 0.9
    assert known.outage(23) is None
    assert known.moved(-61) == Forecast()


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        ({"times_s": [0, 0], "quantiles": [0.5], "values": [[1], [1]]}, "times_s: each number"),
        ({"times_s": [0], "quantiles": [0.9, 0.1], "values": [[1, 2]]}, "quantiles: each number"),
        ({"times_s": [0, 1], "quantiles": [0.5], "values": [[1]]}, "give 2 rows"),
        ({"times_s": [0], "quantiles": [0.5], "values": [[-1]]}, "at least 0"),
        ({"times_s": [0], "quantiles": [0.1, 0.9], "values": [[2, 1]]}, "must not fall"),
        ({"times_s": [0], "quantiles": [0.5], "values": [["x"]]}, "valid number"),
        ({"times_s": [0], "quantiles": [1.5], "values": [[1]]}, "less than or equal to 1"),
        ({"times_s": list(range(100_001)), "quantiles": [n / 100 for n in range(10)],
          "values": []}, "1000010 values: at most 1000000"),
    ],
)  # fmt: skip
def test_series_that_make_no_sense_are_refused(tmp_path, facts, said):
    whole = forecast().model_dump(mode="json", exclude_none=True)
    whole["forecast"]["rtt_ms"] = facts
    (tmp_path / "f.json").write_text(json.dumps(whole))
    with pytest.raises(DataError, match=said) as caught:
        read_forecast(tmp_path / "f.json")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"schema_version": 3}, "schema 3 is not 1 or 2"),
        ({"schema_version": 2}, "forecast: Field required"),
        ({"kind": "other"}, "this is no forecast"),
        ({"end_unix_s": 0}, "end_unix_s must be after start_unix_s"),
        ({"windows": [{"start_unix_s": T0, "end_unix_s": T0 + 1, "probability": 2}]},
         r"windows.0.probability: Input should be less than or equal to 1"),
        ({"windows": [{"start_unix_s": 0, "end_unix_s": 1, "probability": 1}]}, "must begin"),
        ({"windows": [{"start_unix_s": T0, "end_unix_s": T0, "probability": 1}]},
         "end_unix_s must be after start_unix_s"),
        ({"extra": 1}, "extra: "),
    ],
)  # fmt: skip
def test_broken_files(tmp_path, change, said):
    facts = first_schema(**change)
    path = tmp_path / "f.json"
    path.write_text(json.dumps(facts))
    with pytest.raises(DataError, match=said) as caught:
        read_forecast(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"end_unix_s": 0}, "end_unix_s must be after start_unix_s"),
        ({"forecast": {"outages": [{"start_s": 100.1, "end_s": 101}]}}, "must begin between"),
        ({"forecast": {"outages": [{"start_s": 5, "end_s": 6}, {"start_s": 4, "end_s": 6}]}},
         "in order of their start"),
        ({"forecast": {"outages": [{"start_s": 5, "end_s": 5}]}}, "end_s must be after start_s"),
        ({"forecast": {"issued_at_s": 2, "valid_until_s": 1}}, "must be after issued_at_s, 2 s"),
        ({"forecast": {"issued_at_s": 2}}, "must stand in updates"),
        ({"updates": [{"arrives_s": 1, "forecast": {"issued_at_s": 2}}]},
         "must not be before issued_at_s, 2 s"),
        ({"updates": [{"arrives_s": 1}]}, "updates.0.forecast: Field required"),
        ({"windows": []}, "windows: "),
    ],
)  # fmt: skip
def test_broken_files_of_the_second_schema(tmp_path, change, said):
    facts = forecast((12, 13, 0.3)).model_dump(mode="json", exclude_none=True) | change
    path = tmp_path / "f.json"
    path.write_text(json.dumps(facts))
    with pytest.raises(DataError, match=said) as caught:
        read_forecast(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("body", ["[" * 100_000, "{", "[]", "null", '"x"'])
def test_other_files(tmp_path, body):
    (tmp_path / "f.json").write_text(body)
    with pytest.raises(DataError, match=r"f.json:1: this is"):
        read_forecast(tmp_path / "f.json")


def run(*words):
    result = CliRunner().invoke(forecast_app, [str(word) for word in words])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    series, _ = slotted(4, slots=80, spacing_s=0.25)
    rows = [f"{t + v / 1e3:.6f} {k} {v:.3f}" for k, (t, v) in
            enumerate(zip(series.times_unix_s, series.values, strict=True)) if v < 1e9]  # fmt: skip
    path = tmp_path_factory.mktemp("log") / "ping.txt"
    path.write_text("\n".join(rows))
    return path


def test_the_command_writes_forecast_figure_and_numbers(log, tmp_path):
    out, figure = tmp_path / "f.json", tmp_path / "slots.png"
    said = run("slots", log, "--out", out, "--figure", figure, "--from", "2026-05-01T00:00:00Z",
               "--duration", "90")  # fmt: skip
    assert "Slots of 15 s, edges at 1" in said
    assert "6 windows, 2026-05-01 00:00:00.00 to 2026-05-01 00:01:30.00 UTC" in said
    assert figure.read_bytes().startswith(b"\x89PNG")
    assert "6 windows" in run("show", out)
    assert json.loads(out.read_text())["schema_version"] == 2
    found = json.loads(run("slots", log, "--json", "--period", "8:20"))
    assert found["found"]
    assert found["period_s"] == 15
    assert abs(found["offset_s"] - 12) < 0.3
    assert found["handovers"][0].keys() == {"time_unix_s", "confidence", "shift"}


def test_show_says_what_both_schemas_hold(tmp_path):
    old, new = tmp_path / "old.json", tmp_path / "new.json"
    old.write_text(json.dumps(first_schema()))
    update = ForecastUpdate(arrives_s=30, forecast=says((42, 43, 0.9), rtt_ms=rtt(30, 60)))
    forecast((12, 13, 0.3), updates=(update,)).write(new)
    first = "  2023-11-14 22:13:32.00 for 1.00 s, probability 0.30"
    assert first in run("show", old)
    said = run("show", new)
    assert first in said
    assert "update at 2023-11-14 22:13:50.00: 1 windows" in said
    assert "  2023-11-14 22:14:02.00 for 1.00 s, probability 0.90" in said
    assert "rtt_ms: quantiles 0.1, 0.9, 2023-11-14 22:13:50.00 to 2023-11-14 22:14:20.00" in said


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--period", "x"), "give seconds such as 15"),
        (("--period", "60:5"), "a range such as 5:60"),
        (("--from", "soon"), "is no date and time"),
        (("--duration", "-1", "--out", "f.json"), "above 0"),
        (("--figure", "f.gif"), "figures are PNG"),
    ],
)
def test_options_that_make_no_sense(log, options, said):
    with pytest.raises(SkyweaveError, match=said):
        run("slots", log, *options)


def test_without_slots_there_is_a_sentence_and_no_forecast(tmp_path):
    series = unslotted(3, "white", count=2000)
    rows = zip(series.times_unix_s, series.values, strict=True)
    path = tmp_path / "wired.csv"
    path.write_text("time,rtt\n" + "\n".join(f"{t:.3f},{v:.3f}" for t, v in rows))
    assert "No slots found at a period of 15 s" in run(
        "slots", path, "--figure", tmp_path / "x.png"
    )
    with pytest.raises(DataError, match="nothing to forecast"):
        run("slots", path, "--out", tmp_path / "f.json")
    assert not (tmp_path / "f.json").exists()
