"""``air`` adds to a link what its study does not say, and nothing that it does."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

from skyweave.model import config
from skyweave.model.drive import PathTrace, Series
from skyweave.study.compile.links import LinkSettings, build_path
from skyweave.study.language.plan import PathSpec
from skyweave.synthesis.air import load_airs

TRACE = PathTrace(
    downlink_mbps=Series(np.arange(60.0), np.full(60, 20.0)),
    rtt_ms=Series(np.arange(60.0), np.full(60, 70.0)),
)
BOTH = LinkSettings(
    direction="down",
    duration_s=60.0,
    queue=config.DropTail(packets=100),
    air="both",
    clock=datetime(2024, 6, 1, tzinfo=UTC),
)
DISH = PathSpec(kind="satellite", rtt_ms=44)


def built(spec=DISH, settings=BOTH, drive="d"):
    return build_path("SL", TRACE, spec, settings, drive)


def test_a_constant_round_trip_is_the_least_one_and_losses_are_added():
    down = built().down
    assert isinstance(down.delay, config.DelaySteps)
    assert min(down.delay.ms) >= 22
    assert max(down.delay.ms) > 24
    assert isinstance(down.loss, config.LossSteps)
    assert set(down.loss.ratio) == {0.0, load_airs()["satellite"].losses.ratio / 2}
    assert built().up.delay == down.delay


@pytest.mark.parametrize(
    ("air", "delay", "loss"),
    [
        ("none", config.ConstantDelay, config.NoLoss),
        ("round trips", config.DelaySteps, config.NoLoss),
        ("losses", config.ConstantDelay, config.LossSteps),
    ],
)
def test_each_part_goes_alone(air, delay, loss):
    down = built(settings=replace(BOTH, air=air)).down
    assert isinstance(down.delay, delay)
    assert isinstance(down.loss, loss)


def test_what_the_study_says_stays():
    said = built(DISH.model_copy(update={"rtt_ms": "trace", "loss": 0.02})).down
    assert set(said.delay.ms) == {35.0}
    assert said.loss == config.Bernoulli(ratio=0.02)
    swept = replace(BOTH, loss={"SL": 0.01})
    assert built(settings=swept).down.loss == config.Bernoulli(ratio=0.01)
    assert built(settings=replace(BOTH, loss=0.0)).down.loss == config.NoLoss()


def test_a_wire_has_no_air():
    down = built(DISH.model_copy(update={"kind": "wired"})).down
    assert down.delay == config.ConstantDelay(ms=22)
    assert down.loss == config.NoLoss()


def test_runs_of_one_drive_and_seed_meet_the_same_air_and_others_another():
    assert built() == built(settings=replace(BOTH, reverse="unlimited"))
    assert built().down.delay != built(drive="e").down.delay
    assert built().down.delay != built(settings=replace(BOTH, seed=2)).down.delay
