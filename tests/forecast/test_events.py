"""Events of slot edges: what they are, that nothing is known ahead, and what that is worth."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from skyweave.cli.forecast import forecast_app
from skyweave.errors import ConfigError, DataError
from skyweave.forecast import measurement
from skyweave.forecast.events import EVENTS, edges_of, fit, in_slots, judge

PERIOD_S, EDGE_S = 15.0, 12.0
FIRST_UNIX_S = 1_700_000_007.0
"""An edge: 12 s modulo 15."""


def series(levels, lost=(), kind="rtt", seed=1):
    """Samples each 0.5 s about a level for each slot; all of a second of ``lost`` slots missing."""
    rng = np.random.default_rng(seed)
    times = FIRST_UNIX_S + 0.5 * np.arange(30 * len(levels))
    values = np.repeat(np.asarray(levels, float), 30) * rng.uniform(0.97, 1.03, len(times))
    for slot in lost:
        values[30 * slot + 8 : 30 * slot + 10] = np.inf if kind == "rtt" else 0.0
    return measurement("made up", kind, times, values)


def rows(*args, **options):
    return in_slots(series(*args, **options), PERIOD_S, EDGE_S)


def test_slots_have_their_level_and_their_silence() -> None:
    found = rows([40.0, 80.0] * 60, lost=(5, 7))
    assert len(found) == 120
    assert found.begin_unix_s[0] == FIRST_UNIX_S
    assert found.levels[:2] == pytest.approx([40, 80], rel=0.02)
    assert np.flatnonzero(found.outages).tolist() == [5, 7]


@pytest.mark.parametrize("kind", ["rtt", "throughput"])
def test_events_are_told_apart(kind) -> None:
    usual, worse = (40.0, 120.0) if kind == "rtt" else (120.0, 40.0)
    levels = np.full(200, usual)
    levels[50] = worse
    levels[90:] = usual * 1.3
    found = rows(levels, lost=(70,), kind=kind)
    came = {event: edges_of(found, kind, event) for event in EVENTS}
    when = {
        event: np.round((edges.begin_unix_s[edges.came] - FIRST_UNIX_S) / PERIOD_S).tolist()
        for event, edges in came.items()
    }
    assert when["inflated"] == [50]
    assert when["outage"] == [70]
    assert {50, 51, 90} <= set(when["handover"])


@given(cut=st.integers(40, 110), seed=st.integers(0, 5))
def test_what_comes_later_changes_no_feature(cut, seed) -> None:
    levels = np.random.default_rng(seed).uniform(30, 90, 120)
    before, after = levels.copy(), levels.copy()
    after[cut:] = 500.0
    for event in EVENTS:
        one, other = (edges_of(rows(these, seed=seed), "rtt", event) for these in (before, after))
        place = one.begin_unix_s <= FIRST_UNIX_S + PERIOD_S * cut
        same = other.begin_unix_s <= FIRST_UNIX_S + PERIOD_S * cut
        assert np.array_equal(one.features[place], other.features[same])


def test_events_that_follow_from_the_last_slots_are_foreseen() -> None:
    """Outages come in bad minutes: six slots with, fourteen without."""
    lost = [slot for slot in range(600) if slot % 20 < 6]
    score = judge(edges_of(rows(np.full(600, 40.0), lost), "rtt", "outage"))
    assert score is not None
    assert score.skill_low > 0.2
    assert score.share == pytest.approx(0.3, abs=0.03)
    assert sum(one.edges for one in score.reliability) == score.edges


def test_events_without_a_pattern_are_not() -> None:
    """Of 20 series of coins at most a few show skill beyond doubt."""
    lucky = 0
    for seed in range(20):
        coins = np.random.default_rng(seed).random(400) < 0.3
        score = judge(edges_of(rows(np.full(400, 40.0), np.flatnonzero(coins)), "rtt", "outage"))
        assert score is not None
        assert score.skill < 0.1
        lucky += score.skill_low > 0
    assert lucky <= 3


def test_an_event_that_never_comes_has_no_score() -> None:
    assert judge(edges_of(rows(np.full(200, 40.0)), "rtt", "outage")) is None


def test_the_regression_finds_what_made_the_coins() -> None:
    rng = np.random.default_rng(3)
    features = np.column_stack([np.ones(20_000), rng.normal(5, 2, 20_000)])
    truth = 1 / (1 + np.exp(-(-3 + 0.5 * features[:, 1])))
    model = fit(features, rng.random(20_000) < truth)
    assert np.abs(model.probability(features) - truth).max() < 0.03


@given(st.lists(st.floats(-1e12, 1e12), min_size=2, max_size=2))
def test_probabilities_stay_probabilities(wild) -> None:
    rng = np.random.default_rng(4)
    features = np.column_stack([np.ones(50), rng.normal(size=50), rng.normal(size=50)])
    said = fit(features, features[:, 1] > 0).probability(np.array([[1.0, *wild]]))
    assert 0 <= said[0] <= 1


def test_drives_are_left_out_whole_or_refused() -> None:
    one = edges_of(rows(np.full(200, 40.0), range(0, 200, 3)), "rtt", "outage")
    with pytest.raises(ConfigError, match="one drive"):
        judge(one, "drives")


def test_a_short_series_is_refused() -> None:
    with pytest.raises(DataError, match="give at least 100"):
        rows([40.0] * 30)


def test_the_command_prints_a_table_and_writes_numbers(tmp_path) -> None:
    made = series([40.0] * 300, lost=[slot for slot in range(300) if slot % 20 < 6])
    lines = [
        f"{time},{'' if np.isinf(value) else value}"
        for time, value in zip(made.times_unix_s, made.values, strict=True)
    ]
    file = tmp_path / "pings.csv"
    file.write_text("\n".join(["time_unix_s,rtt_ms", *lines]) + "\n")
    out = tmp_path / "found.json"
    command = ["events", str(file), "--column", "rtt_ms", "--out", str(out)]
    result = CliRunner().invoke(forecast_app, command)
    assert result.exit_code == 0, result.output
    assert "climatology" in result.output
    (found,) = json.loads(out.read_text())["series"]
    assert set(found["events"]) == set(EVENTS)
    wrong = CliRunner().invoke(forecast_app, [*command, "--edge", "20"])
    assert isinstance(wrong.exception, ConfigError)
    assert "begins at 0 to below 15" in str(wrong.exception)
