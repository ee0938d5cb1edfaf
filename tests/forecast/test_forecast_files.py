"""Forecasts, their files, and the command as people type it."""

import json
from datetime import UTC, datetime

import pytest
from made_up_slots import slotted, unslotted
from typer.testing import CliRunner

from skyweave.cli.forecast import forecast_app
from skyweave.errors import ConfigError, DataError, SkyweaveError
from skyweave.forecast import Forecast, Window, estimate_slots, read_forecast, slot_forecast

T0 = 1_700_000_000.0


def forecast(*spans):
    windows = tuple(Window(start_unix_s=T0 + a, end_unix_s=T0 + b, probability=p)
                    for a, b, p in spans)  # fmt: skip
    return Forecast(source="a test", method="by hand", start_unix_s=T0, end_unix_s=T0 + 100,
                    windows=windows)  # fmt: skip


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
    assert len(known.windows) == 4
    for window in known.windows:
        assert window.start_unix_s % 15 == pytest.approx(estimate.offset_s, abs=1e-6)
        assert window.end_unix_s - window.start_unix_s == pytest.approx(estimate.disturbance_s)
        assert window.probability == estimate.handover_share
    exact = slot_forecast(estimate, known.windows[0].start_unix_s, 30)
    assert len(exact.windows) == 2  # the edge at the end belongs to what follows
    with pytest.raises(ConfigError, match="above 0"):
        slot_forecast(estimate, T0, 0)
    with pytest.raises(DataError, match="no slots found"):
        slot_forecast(estimate_slots(unslotted(1, "white")), T0, 60)


def test_files_come_back_unchanged(tmp_path):
    known = forecast((12, 13, 0.3), (27, 28, 0.8))
    known.write(tmp_path / "f.json")
    assert read_forecast(tmp_path / "f.json") == known


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"schema_version": 2}, "schema 2 is not 1"),
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
    facts = forecast((12, 13, 0.3)).model_dump(mode="json") | change
    path = tmp_path / "f.json"
    path.write_text(json.dumps(facts))
    with pytest.raises(DataError, match=said) as caught:
        read_forecast(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("body", ["{", "[]", "null", '"x"'])
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
    found = json.loads(run("slots", log, "--json", "--period", "8:20"))
    assert found["found"]
    assert found["period_s"] == 15
    assert abs(found["offset_s"] - 12) < 0.3
    assert found["handovers"][0].keys() == {"time_unix_s", "confidence", "shift"}


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
