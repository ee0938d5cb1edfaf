"""Predictors: what they see, what they learn, and what is served."""

import json
import math
from importlib.util import find_spec

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from skyweave.errors import ConfigError, DataError
from skyweave.forecast import measurement, read_measurement
from skyweave.forecast.predictors import PLAIN, PREDICTORS, predictor, recurrent, slot_linear, trees
from skyweave.forecast.predictors.band import Band, spread
from skyweave.forecast.predictors.compare import compare
from skyweave.forecast.predictors.file import read_predictor, to_file
from skyweave.forecast.predictors.history import FEATURES, LENGTH_S, History
from skyweave.forecast.predictors.online import Forecaster
from skyweave.forecast.predictors.point import walk
from skyweave.forecast.predictors.seconds import Seconds, in_seconds
from skyweave.forecast.predictors.serve import serve
from skyweave.forecast.predictors.target import Target
from skyweave.forecast.predictors.train import train, train_all

HAS_KERAS = find_spec("keras") is not None
KNOWN = [
    pytest.param(name, marks=pytest.mark.skipif(not HAS_KERAS, reason="Keras is an extra"))
    if name == "recurrent"
    else name
    for name in PREDICTORS
]
TREES = ("gradient", "t3p")
"""They learn noise by heart where there is nothing else, and take minutes to give way."""
BEGIN = 1_700_000_000
ONE, MEAN = Target("at", 1), Target("mean", 15)


def made_up(seed, count=3000, kind="throughput", share_missing=0.0):
    """Rates whose level changes at the edges of slots and that dip there, with a slow drift."""
    rng = np.random.default_rng(seed)
    seconds = BEGIN + np.arange(count)
    slot = (seconds - 12) // 15
    level = 150 + 40 * rng.standard_normal(slot[-1] - slot[0] + 1)
    values = level[slot - slot[0]] + 20 * np.sin(np.arange(count) / 400)
    values = values * np.where((seconds - 12) % 15 == 0, 0.4, 1.0) + 8 * rng.standard_normal(count)
    kept = rng.random(count) >= share_missing
    return Seconds("made up", kind, seconds[kept], np.maximum(values[kept], 0.0))


def wandering(seed, count=3000):
    """A random walk: nothing foresees it better than the last value."""
    rng = np.random.default_rng(seed)
    values = 500 + np.cumsum(rng.standard_normal(count))
    return Seconds("walk", "throughput", BEGIN + np.arange(count), values)


@given(st.lists(st.tuples(st.integers(1, 40), st.floats(0, 1000)), min_size=2, max_size=120))
def test_means_of_the_past_are_those_of_the_seconds_in_them(steps):
    history, seen, now = History(), {}, BEGIN
    for step, value in steps:
        now += step
        history.update(now, value)
        seen[now] = value
    for begin, end in ((4, 0), (59, 0), (LENGTH_S - 1, 0), (20, 6), (3, 3)):
        inside = [v for s, v in seen.items() if now - begin <= s <= now - end]
        found = history.mean(begin, end)
        assert math.isnan(found) if not inside else found == pytest.approx(np.mean(inside))


def test_a_silence_of_five_minutes_is_forgotten():
    history = History()
    history.update(BEGIN, 10.0)
    history.update(BEGIN + LENGTH_S + 1, 90.0)
    assert history.features()[: FEATURES.index("1")] == [90.0] * 6


@pytest.mark.parametrize("name", KNOWN)
def test_nothing_looks_ahead(name):
    """What is said at a second is the same whatever comes after it."""
    series = made_up(3, share_missing=0.1)
    cut = len(series) // 2
    rows = walk(series.part(slice(0, cut)))
    whole = walk(series)
    assert np.array_equal(rows.features, whole.features[:cut])
    trained = train_all(predictor(name), rows, [ONE, MEAN])
    later = np.where(np.arange(len(series)) < cut, series.values, 7 * series.values + 3)
    said = []
    for values in (series.values, later):
        forecaster = Forecaster(trained, 15, 12)
        for second, value in zip(series.seconds[:cut].tolist(), values[:cut].tolist(), strict=True):
            forecaster.update(second, value)
        said.append(forecaster.predict())
    assert said[0] == said[1]


@pytest.mark.parametrize("split", ["time", "drives"])
def test_what_is_judged_is_not_learned_from(split, monkeypatch):
    """A training that saw a judged second would be told apart by its value."""
    series = made_up(4)
    gap = np.where(np.arange(len(series)) < 1500, 0, 1000)
    series = Seconds(series.name, series.kind, series.seconds + gap, series.values)
    judged_at = []
    seen = []
    original = train

    def spying(chosen, rows, target, came):
        known = rows.part(np.isfinite(came))
        seen.append((known.series.seconds, target.ahead_s))
        return original(chosen, rows, target, came)

    monkeypatch.setattr("skyweave.forecast.predictors.compare.train", spying)
    found = compare(walk(series), [predictor("last")], [MEAN], split)
    assert found.folds == (1 if split == "time" else 2)
    cut = series.seconds[int(0.8 * len(series))]
    for number, (seconds, ahead_s) in enumerate(seen):
        if split == "time":
            assert (seconds + ahead_s).max() < cut
        else:
            judged_at = series.seconds[series.stretches == number]
            assert not np.isin(seconds, judged_at).any()
            assert not np.isin(seconds + ahead_s, judged_at).any()


@pytest.mark.parametrize("name", KNOWN)
def test_one_row_says_the_same_as_many(name):
    rows = walk(made_up(5, count=900))
    came = MEAN.values(rows.series)
    model = train(predictor(name), rows, MEAN, came).model
    every = model.predict_all(rows)
    one_by_one = [
        model.predict(features, int(phase))
        for features, phase in zip(rows.features, rows.phases_s, strict=True)
    ]
    assert np.allclose(every, one_by_one)


@pytest.mark.parametrize("ahead_s", [1, 5])
def test_trees_walk_as_xgboost_does(ahead_s):
    xgboost = pytest.importorskip("xgboost", reason="XGBoost is an extra")
    rng = np.random.default_rng(ahead_s)
    rows = rng.standard_normal((500, 4)).astype(np.float32).astype(float)
    wanted = rows[:, 0] * (rows[:, 1] > 0) + 0.1 * rng.standard_normal(500)
    ours = trees.grow(rows, wanted, "reg:absoluteerror")
    theirs = xgboost.train(
        {**trees._SETTINGS, "objective": "reg:absoluteerror"},
        xgboost.DMatrix(rows, wanted),
        trees.ROUNDS,
    )
    assert np.allclose(ours.sums_of(rows), theirs.predict(xgboost.DMatrix(rows)), atol=1e-4)


def test_arima_says_what_statsmodels_says():
    """Of a process without a memory beyond five values, both foresee the same."""
    module = pytest.importorskip("statsmodels.tsa.arima.model", reason="statsmodels is an extra")
    rng = np.random.default_rng(12)
    values = [100.0, 100.0]
    for _ in range(1500):
        values.append(40 + 0.9 * values[-1] - 0.3 * values[-2] + rng.standard_normal())
    series = Seconds("ar", "rtt", BEGIN + np.arange(len(values)), np.array(values))
    rows = walk(series)
    for target in (ONE, Target("at", 4)):
        model = train(predictor("arima"), rows, target, target.values(series)).model
        fitted = module.ARIMA(series.values, order=(2, 0, 1)).fit()
        wanted = fitted.forecast(target.ahead_s)[-1]
        assert model.predict(rows.features[-1], 0) == pytest.approx(wanted, rel=2e-3)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # Keras's own
def test_the_network_says_what_keras_says(monkeypatch):
    monkeypatch.setenv("KERAS_BACKEND", "jax")
    keras = pytest.importorskip("keras", reason="Keras is an extra")
    rows = walk(made_up(13, count=600))
    scale = 150.0
    net = keras.Sequential(
        [keras.Input((recurrent.STEPS, recurrent.INPUTS)), keras.layers.LSTM(recurrent.UNITS)]
    )
    net.add(keras.layers.Dense(1))
    weights = tuple(np.asarray(one, float) for one in net.get_weights())
    inputs = recurrent._inputs(rows.features, rows.phases_s, scale, 15)
    wanted = rows.features[:, 0] + scale * net.predict(inputs, verbose=0)[:, 0]
    found = recurrent.Recurrent(scale, 15, weights).predict_all(rows)
    assert np.allclose(found, np.maximum(wanted, 0), rtol=1e-4)


def test_targets_are_what_came_true():
    series = Seconds("x", "rtt", np.array([10, 11, 12, 15]), np.array([1.0, 2.0, 4.0, 8.0]))
    assert np.allclose(Target("at", 1).values(series), [2, 4, np.nan, np.nan], equal_nan=True)
    found = Target("mean", 4).values(series)  # half of the seconds at least have to be there
    assert np.allclose(found, [3, 6, np.nan, np.nan], equal_nan=True)


@pytest.mark.parametrize("text", ["", "at", "at 0", "mean 301", "mean -5", "median 5", "at 1.5"])
def test_a_target_that_is_none_is_refused(text):
    with pytest.raises(ConfigError, match="write 'at' or 'mean' and 1 to 300 seconds"):
        Target.parse(text)


def test_deviations_are_as_small_as_linear_programming_makes_them():
    """Without the ridge, least absolute deviations is a linear programme (scipy's HiGHS)."""
    rng = np.random.default_rng(8)
    rows = walk(made_up(8, count=400))
    levels = rows.features[:, :7]
    change = levels @ rng.normal(0, 0.3, 7) + rng.standard_t(2, len(levels))
    found = slot_linear.least_deviations(levels, change, ridge=1e-9)
    count = len(levels)
    best = linprog(
        np.concatenate([np.zeros(7), np.ones(2 * count)]),
        A_eq=np.hstack([levels, np.eye(count), -np.eye(count)]),
        b_eq=change,
        bounds=[(None, None)] * 7 + [(0, None)] * (2 * count),
    )
    assert np.abs(change - levels @ found).sum() <= 1.01 * best.fun


def test_slots_are_learned_and_random_walks_have_no_winner():
    found = compare(walk(made_up(6)), PLAIN, [ONE, MEAN])
    for target in (ONE, MEAN):
        assert found.verdicts[target].best == "slot-linear"
        assert found.scores[target]["slot-linear"].skill_low > 0.1
    winners = [compare(walk(wandering(seed)), PLAIN, [ONE]).verdicts[ONE].best for seed in range(5)]
    assert winners.count(None) >= 4


@pytest.mark.parametrize("name", KNOWN)
def test_none_is_served_that_is_much_worse_than_the_last_value(name):
    for seed in range(3):
        found = compare(walk(wandering(seed)), [predictor("last"), predictor(name)], [ONE, MEAN])
        least = min(found.scores[target][name].skill for target in (ONE, MEAN))
        assert least > (-0.15 if name in TREES else -0.03)


@pytest.mark.parametrize("change", [1.0, 3.0])
def test_bands_cover_what_they_say_and_recover_when_errors_grow(change):
    rng = np.random.default_rng(9)
    errors = rng.standard_t(3, 4000)
    band = Band(spread(errors[:1000], np.zeros(1000, np.int64), 1))
    inside = []
    for error in change * errors[1000:]:
        low, _, high = band.around(1000.0, 0)
        inside.append(low <= 1000 + error <= high)
        band.came(1000 + error, 1000.0, 0)
    assert 0.75 <= np.mean(inside[1000:]) <= 0.85


def test_a_question_asked_twice_teaches_once():
    rows = walk(made_up(7, count=600))
    trained = train_all(predictor("slot-linear"), rows, [ONE])
    once, twice = Forecaster(trained, 15, 12), Forecaster(trained, 15, 12)
    for second, value in zip(
        rows.series.seconds.tolist(), rows.series.values.tolist(), strict=True
    ):
        once.update(second, value)
        twice.update(second, value)
        twice.predict()
        assert once.predict() == twice.predict()


@pytest.mark.parametrize("name", KNOWN)
def test_a_file_brings_back_what_was_learned(name, tmp_path):
    rows = walk(made_up(10, count=900))
    trained = train_all(predictor(name), rows, [ONE, MEAN])
    place = tmp_path / "p.json"
    to_file(name, rows, 12, trained).write(place)
    known = read_predictor(place)
    direct, back = Forecaster(trained, 15, 12), known.forecaster()
    for second, value in zip(
        rows.series.seconds.tolist(), rows.series.values.tolist(), strict=True
    ):
        direct.update(second, value)
        back.update(second, value)
        assert direct.predict() == back.predict()
    assert known.learned.seconds == 900


def _outside():
    """A tree with a split on a column that no row has."""
    return {"trees": 1, "columns": [[999] * 15], "limits": [[0.0] * 15], "values": [[0.0] * 16]}


def _spoiled():
    rows = walk(made_up(10, count=900))
    whole = to_file("slot-linear", rows, 12, train_all(predictor("slot-linear"), rows, [ONE]))
    facts = json.loads(json.dumps(whole.model_dump(mode="json")))

    def with_(*path, value):
        copy = json.loads(json.dumps(facts))
        place = copy
        for part in path[:-1]:
            place = place[part]
        place[path[-1]] = value
        return copy

    state = ("targets", 0, "state", "coefficients")
    return {
        "no JSON": "{",
        "another file": {"kind": "skyweave-forecast", "schema_version": 2},
        "a list": [1, 2],
        "a later schema": with_("schema_version", value=2),
        "unknown predictor": with_("predictor", value="pickle"),
        "code": with_("targets", 0, "state", value={"coefficients": "__import__('os')"}),
        "too few": with_(*state, value=[[1.0] * 7]),
        "of another shape": with_(*state, value=[[1.0] * 6] * 15),
        "no number": with_(*state, value=[["x"] * 7] * 15),
        "infinite": with_(*state, value=[[1e999] * 7] * 15),
        "scales of another period": with_("period_s", value=14),
        "a scale of 0": with_("targets", 0, "spread", "scales", 3, value=0.0),
        "no targets": with_("targets", value=[]),
        "a target that is none": with_("targets", 0, "target", value="tomorrow"),
        "further fields": with_("run", value="rm -rf /"),
        "of another predictor": with_("predictor", value="climatology"),
        "a column beyond": with_("predictor", value="last"),
        "trees that lead outside": with_("predictor", value="gradient")
        | {"targets": [facts["targets"][0] | {"state": _outside()}]},
        "deep": "[" * 100_000,
    }


@pytest.mark.parametrize("what", list(_spoiled()))
def test_a_file_that_is_none_is_one_sentence(what, tmp_path):
    spoiled = _spoiled()[what]
    place = tmp_path / "p.json"
    place.write_text(spoiled if isinstance(spoiled, str) else json.dumps(spoiled))
    with pytest.raises((ConfigError, DataError)) as said:
        read_predictor(place)
    assert "\n" not in str(said.value)
    assert len(str(said.value)) < 500


def test_what_is_served_can_be_given_to_a_run():
    rows = walk(made_up(11, count=900))
    targets = [Target("at", ahead) for ahead in (1, 2, 5, 10)]
    known = to_file("slot-linear", rows, 12, train_all(predictor("slot-linear"), rows, targets))
    made = serve(known, rows.series, 5, None)
    assert len(made.updates) == 180
    first, updates = made.of_run(BEGIN + 100, 60)
    assert len(updates) == 12
    assert first.down_mbps is not None
    one = updates[3].forecast.down_mbps
    assert one is not None
    assert one.times_s == tuple(updates[3].arrives_s + ahead for ahead in (0, 1, 4, 9))
    with pytest.raises(ConfigError, match="has learned throughput"):
        serve(known, made_up(11, kind="rtt"), 5, None)
    with pytest.raises(DataError, match="a forecast of throughput is down_mbps or up_mbps"):
        serve(known, rows.series, 5, "rtt_ms")


def test_a_series_in_seconds_fills_nothing_in():
    times = BEGIN + np.array([0.0, 0.2, 0.4, 3.1, 3.9, *np.arange(4, 200)])
    values = np.array([10, 30, np.inf, np.inf, np.inf, *np.full(196, 40.0)])
    found = in_seconds(measurement("pings", "rtt", times, values))
    assert found.seconds[:2].tolist() == [BEGIN, BEGIN + 4]
    assert found.values[:2].tolist() == [20, 40]
    with pytest.raises(DataError, match="2 seconds with a value; give at least 120"):
        in_seconds(measurement("short", "rtt", [BEGIN, BEGIN + 1], [1, 2]))


THROUGHPUT = [
    ("satcell", "starlink.downlink_mbps"),
    ("starlink_on_the_road/iperf.csv", "download_mbps"),
]


@pytest.mark.parametrize(("place", "column"), THROUGHPUT)
def test_slots_help_on_real_links(real, place, column):
    """The mean of the next 15 s: 15 % better than the last value, on time and on other drives."""
    rows = walk(in_seconds(read_measurement(real / place, column=column)))
    for split in ("time", "drives"):
        found = compare(rows, [predictor("slot-linear")], [MEAN], split)
        score = found.scores[MEAN]["slot-linear"]
        assert score.skill >= 0.15
        assert score.skill_low > 0
        assert 0.75 <= score.cover <= 0.85
