"""The air: what is drawn has the distribution, the memory and the losses that it was given."""

import sys
from datetime import UTC, datetime
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

import numpy as np
import pytest

from skyweave.data.metrics import SLOT_PHASE_S, SLOT_S
from skyweave.errors import ConfigError, DataError
from skyweave.synthesis.air import (
    FILE,
    STEP_S,
    Air,
    Excess,
    Losses,
    Stretch,
    load_airs,
    loss_ratios,
    round_trips,
)
from skyweave.synthesis.airfit import (
    air_text,
    edge_part_of,
    fit_rounds,
    fit_summaries,
    lost_by_second,
)
from skyweave.synthesis.preset import Dynamics, Point

SCRIPT = Path(__file__).parents[2] / "scripts" / "air-evidence"
FOLDERS = (
    "pam2025_three_carrier_ping",
    "starlink_on_the_road",
    "fjordlink",
    "leoviz_serving_sat_sample",
    "mmsys24_starlink_isl_noisl",
)
LONG = Stretch("drive/path", 5, 40_000.0)
"""40,000 s: the slowest part, 25 s, has 1,600 independent draws."""


def air(losses=None, dynamics=None):
    points = tuple(Point(p=p, value=v, source="test") for p, v in ((0, 0), (0.5, 10), (1, 50)))
    weights = dynamics or Dynamics(taus_s=(0.05, 25.0), weights=(0.5, 0.5), source="test")
    return Air(
        excess_ms=Excess(quantiles=points, dynamics=weights),
        losses=losses or Losses(lossy=1.0, ratio=0.01, stays=1.0, source="test"),
    )


def test_round_trips_lie_above_the_least_one_as_the_table_says():
    found = round_trips(air(), 40.0, LONG)
    assert found.spacing_s == pytest.approx(STEP_S)
    assert found.duration_s == pytest.approx(LONG.duration_s)
    assert found.values.min() >= 40
    assert found.values.max() <= 90
    # half of the latent's variance moves over 25 s: the median's share has a standard error of 1 %
    assert np.median(found.values) == pytest.approx(50, abs=1.5)


def test_round_trips_keep_what_is_slow_and_forget_what_is_fast():
    values = round_trips(air(), 40.0, LONG).values
    centred = values - values.mean()

    def memory(lag):
        return float((centred[lag:] * centred[:-lag]).mean() / centred.var())

    assert memory(1) == pytest.approx(0.5, abs=0.06)
    assert memory(round(60 / STEP_S)) < 0.15


def test_the_same_stretch_has_the_same_air_and_another_one_another():
    one, two = (round_trips(air(), 40.0, Stretch("a", 1, 60.0)) for _ in range(2))
    assert np.array_equal(one.values, two.values)
    for other in (Stretch("b", 1, 60.0), Stretch("a", 2, 60.0)):
        assert not np.array_equal(one.values, round_trips(air(), 40.0, other).values)
    longer = round_trips(air(), 40.0, Stretch("a", 1, 90.0)).values
    assert np.array_equal(one.values, longer[: len(one.values)])


def test_each_way_loses_half_of_what_pings_lose():
    lost = loss_ratios(air(), LONG)
    assert set(lost.values.tolist()) == {0.005}


def test_lossy_seconds_take_their_share_and_follow_each_other():
    losses = Losses(lossy=0.1, ratio=0.2, stays=0.6, source="test")
    lossy = loss_ratios(air(losses), LONG).values > 0
    assert lossy.mean() == pytest.approx(0.1, abs=0.012)
    assert lossy[1:][lossy[:-1]].mean() == pytest.approx(0.6, abs=0.03)


def test_losses_at_slot_edges_fall_on_the_clock():
    losses = Losses(lossy=0.0, ratio=0.01, edge=1.0, source="test")
    clock = datetime(2024, 6, 1, 10, 0, 7, tzinfo=UTC)
    shares = loss_ratios(air(losses), Stretch("a", 1, 60.0, clock)).values
    assert set(shares.tolist()) == {0.0, 0.005}
    assert set(np.flatnonzero(shares) % SLOT_S) == {
        (SLOT_PHASE_S - 7) % SLOT_S,
        (SLOT_PHASE_S + 1 - 7) % SLOT_S,
    }


def test_the_committed_models_are_read_and_written_alike(tmp_path):
    airs = load_airs()
    assert airs.keys() == {"satellite", "cellular"}
    again = tmp_path / "air.toml"
    again.write_text(air_text(airs))
    assert load_airs(again) == airs


def test_a_file_that_is_no_model_is_refused(tmp_path):
    bad = tmp_path / "air.toml"
    bad.write_text("[satellite.losses]\nlossy = 2\n")
    with pytest.raises(ConfigError, match=r"air\.toml: satellite"):
        load_airs(bad)


def made_rounds(truth, count=600):
    rounds = []
    for seed in range(count):
        stretch = Stretch("r", seed, 40.0)
        values = round_trips(truth, 40.0, stretch).values
        shares = 2 * np.repeat(loss_ratios(truth, stretch).values, 5)
        lost = np.random.default_rng(seed).random(len(values)) < shares
        rounds.append(np.where(lost, np.nan, values))
    return rounds


def test_the_fit_finds_the_air_that_made_the_pings():
    truth = air(Losses(lossy=0.05, ratio=0.2, stays=0.5, source="test"))
    found = fit_rounds(made_rounds(truth), "test")
    assert found.losses.lossy == pytest.approx(0.05, rel=0.2)
    assert found.losses.ratio == pytest.approx(0.2, rel=0.2)
    assert found.losses.stays == pytest.approx(0.5, abs=0.12)
    # a round has seen less than the least round trip there is: about 1 ms is missing
    table = {point.p: point.value for point in found.excess_ms.quantiles}
    assert table[0.5] == pytest.approx(10, abs=2)
    white = dict(
        zip(found.excess_ms.dynamics.taus_s, found.excess_ms.dynamics.weights, strict=True)
    )
    assert white[0.05] == pytest.approx(0.5, abs=0.1)


def test_an_outage_is_no_loss():
    rounds = made_rounds(air(Losses(lossy=0.0, ratio=0.1, source="test")), 20)
    dark = [np.concatenate([one[:50], np.full(5, np.nan), one[55:]]) for one in rounds]
    short = [np.concatenate([one[:50], np.full(4, np.nan), one[54:]]) for one in rounds]
    assert fit_rounds([*short, *dark], "test").losses.lossy > 0
    assert fit_rounds(dark, "test").losses.lossy == 0


def test_rounds_without_answers_are_refused():
    with pytest.raises(DataError, match="half answered"):
        fit_rounds([np.full(100, np.nan)], "test")


def summaries_of(losses, count=4000):
    """The shares of 250 pings lost in windows of 25 s."""
    found = []
    for seed in range(count):
        clock = datetime(2024, 1, 1, second=seed % 60, tzinfo=UTC)
        shares = 2 * np.repeat(loss_ratios(air(losses), Stretch("w", seed, 25.0, clock)).values, 10)
        found.append((np.random.default_rng(seed).random(250) < shares).mean())
    return np.array(found)


def test_summaries_give_a_lognormal_excess_and_bursts():
    rounds = made_rounds(air(), 20)
    bursts = [lost_by_second(one) for one in made_rounds(
        air(Losses(lossy=0.1, ratio=0.4, stays=0.5, source="test"))
    )]  # fmt: skip
    truth = Losses(lossy=0.03, ratio=0.1, stays=0.5, edge=0.1, source="test")
    loss = summaries_of(truth)
    count = len(loss)
    found = fit_summaries(
        np.full(count, 12.0), np.full(count, 6.0), loss, rounds, bursts, 0.31, "test"
    )
    table = {point.p: point.value for point in found.excess_ms.quantiles}
    assert table[0.5] == pytest.approx(12 / np.sqrt(1.25), abs=0.1)
    # windows with more than 4 % are taken for outages, which costs some of the longest bursts
    assert found.losses.stays == pytest.approx(0.5, abs=0.1)
    assert found.losses.ratio == pytest.approx(0.1, rel=0.3)
    again = summaries_of(found.losses)
    assert (again == 0).mean() == pytest.approx((loss == 0).mean(), abs=0.04)
    assert again.mean() == pytest.approx(loss.mean(), rel=0.2)


def test_the_part_at_slot_edges_is_what_two_seconds_have_too_much():
    seconds = np.arange(15 * 100)
    drops = np.where(seconds % SLOT_S < 2, 0.02, 0.01)
    assert edge_part_of(drops, seconds) == pytest.approx(0.02 / (0.02 * 2 + 0.01 * 13), abs=0.01)


def test_the_committed_model_is_what_the_script_fits(data_with, monkeypatch):
    for folder in FOLDERS:
        data_with(folder)
    loader = SourceFileLoader("air_evidence", str(SCRIPT))
    module = module_from_spec(spec_from_loader(loader.name, loader))
    monkeypatch.setitem(sys.modules, loader.name, module)
    loader.exec_module(module)
    again = module.Measured.of(data_with(FOLDERS[0]).resolve()).airs()
    assert air_text(again) == FILE.read_text()
