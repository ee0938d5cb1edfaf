"""A study's ``start = "latency"`` is the trigger that own probes would fire (S3-F7)."""

from __future__ import annotations

import numpy as np
import pytest

from skyweave.study.compile.drives import recoupled
from skyweave.study.language.starts import StartRule, begin_s
from skyweave.synthesis import load_preset, synthesise
from skyweave.triggers import TriggerFile, replay

WHEN = 'count_s("own_rtt_ms", 5.0) >= 40.0 && own_rtt_ms >= 2.0 * mean_s("own_rtt_ms", 5.0)'
SHORT_S = 600.0
"""Drives on which the trigger comes that soon are looked at: probes are ten a second."""


@pytest.mark.parametrize("seed", [310001, 310003, 310005, 310007, 310008, 310009])
def test_probes_ten_a_second_fire_in_the_second_in_which_a_study_starts_its_test(seed):
    drive = synthesise(recoupled(load_preset("starlink-fixed"), -0.7), seed, 21_600)
    instant, begin = (
        begin_s(drive, ("starlink",), StartRule(rule=rule), 15) for rule in ("random", "latency")
    )
    assert 0 < begin - instant < SHORT_S
    path = drive.paths["starlink"]
    times = np.arange(instant - 5, begin + 2, 0.1)
    second = np.floor(times + 0.01).astype(int)
    lost = np.random.default_rng(seed).random(len(times)) < path.loss_ratio.values[second]
    assert lost.any()
    rows = (
        (float(time_s), {"own_rtt_ms": None if gone else float(rtt_ms)})
        for time_s, rtt_ms, gone in zip(times, path.rtt_ms.values[second], lost, strict=True)
    )
    triggers = TriggerFile.model_validate(
        {"series": {"own_rtt_ms": "number"}, "trigger": [{"name": "spike", "when": WHEN}]}
    )
    fired = [one.time_unix_s for one in replay(triggers, rows) if one.what == "fired"]
    assert np.floor(fired[0] + 0.01) == begin
