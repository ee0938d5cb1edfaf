"""Handovers by a model, what is foreseen of them, and files: from a study file to its runs."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_language import prepared, refusal

from skyweave.engine.simulator import simulate
from skyweave.errors import ConfigError
from skyweave.model import config
from skyweave.model.forecast import Forecast
from skyweave.model.windows import ForecastWindow, OutageWindow, union
from skyweave.study.compile.foresight import Foresight, foreseen, foreseen_boundaries
from skyweave.study.language.handovers import Handovers, script, slot_edges_s

STIN = """
[study]
name = "stin"
title = "A satellite and a cable"
[[drives]]
name = "stin"
seeds = 2
duration_s = 60
links.sat = { downlink_mbps = 50, uplink_mbps = 50, rtt_ms = 60 }
links.terr = { downlink_mbps = 100, uplink_mbps = 100, rtt_ms = 108 }
[paths.sat]
kind = "satellite"
rtt_ms = "handovers"
handovers = { every_s = 15, gap_s = 1, rtt_ms = [52, 68], drift_ms = 2, quiet_s = 1 }
loss = 0.0001
[paths.terr]
rtt_ms = 108
[settings]
file_mib = 8
scheduler = "alcs"
[[compare]]
paths = "sat+terr"
"""


def satellite(text: str, folder: Path, number: int = 0) -> config.Path:
    return prepared(folder, text).jobs[number].run.paths[0]


def test_a_handover_each_interval_with_its_gap_and_its_rtt(tmp_path: Path) -> None:
    path = satellite(STIN, tmp_path)
    starts = np.array([one.start_s for one in path.down.outages])
    assert np.diff(starts) == pytest.approx(15)
    assert all(one.end_s - one.start_s == pytest.approx(1) for one in path.down.outages)
    assert path.up.outages == path.down.outages
    assert starts[0] >= 1
    assert isinstance(path.down.delay, config.DelaySteps)
    rtts = 2 * np.array(path.down.delay.ms)
    assert 52 <= rtts.min() < rtts.max() <= 68
    steps = np.abs(np.diff(rtts))
    changed = np.isin(path.down.delay.times_s[1:], [o.end_s for o in path.down.outages])
    assert steps[changed].max() > 2 >= steps[~changed].max()


def test_settings_replace_interval_and_gap(tmp_path: Path) -> None:
    text = STIN.replace("file_mib = 8", "file_mib = 8\nhandover_s = 5\ngap_s = [0, 0.5]")
    jobs = prepared(tmp_path, text).jobs
    assert jobs[0].labels["gap_s"] == 0
    assert jobs[0].run.paths[0].down.outages == ()
    outages = jobs[1].run.paths[0].down.outages
    assert outages[1].start_s - outages[0].start_s == pytest.approx(5)
    assert outages[0].end_s - outages[0].start_s == pytest.approx(0.5)
    with pytest.raises(ConfigError) as refused:
        prepared(tmp_path, text.replace("[0, 0.5]", "6"))
    assert str(refused.value).endswith(
        "[paths.sat] handovers under the settings: gap_s 6 must be below every_s 5"
    )


def test_the_phase_is_the_seeds_and_paths_keep_their_distance() -> None:
    model = Handovers(every_s=15, gap_s=1)
    first = [script(model, "a", seed, 60).outages[0].start_s for seed in range(200)]
    assert 0 <= min(first) < 1 < 14 < max(first) < 15
    later = script(model.model_copy(update={"stagger": 1 / 3}), "b", 7, 60).outages[0].start_s
    assert (later - first[7]) % 15 == pytest.approx(5)


@pytest.mark.parametrize(
    ("handovers", "said"),
    [
        ("{ every_s = 15, gap_s = 15 }", "gap_s 15 must be below every_s 15"),
        ("{ every_s = 15, rtt_ms = [68, 52] }", "the other way round"),
        ("{ every_s = 15 }", 'rtt_ms = "handovers" needs handovers'),
        ("{ every_s = 0, rtt_ms = [52, 68] }", "greater than 0"),
        ("{ every_s = 15, rtt_ms = [52, 68], phase = 3 }", "unknown key 'phase'"),
    ],
)
def test_handovers_that_make_no_sense(tmp_path: Path, handovers: str, said: str) -> None:
    old = "{ every_s = 15, gap_s = 1, rtt_ms = [52, 68], drift_ms = 2, quiet_s = 1 }"
    refused = refusal(tmp_path, STIN.replace(old, handovers))
    assert said in refused
    assert "study.toml:" in refused


def test_a_forecast_reaches_the_run_exact_or_not(tmp_path: Path) -> None:
    text = STIN.replace(
        "file_mib = 8", 'file_mib = 8\nforecast = ["none", "outages"]\nforecast_error_s = [0, 2]'
    )
    jobs = prepared(tmp_path, text).jobs[:4]
    kinds = {(j.labels["forecast"], j.labels["forecast_error_s"]): j.run.paths[0] for j in jobs}
    assert kinds["none", 0].forecast == kinds["none", 2].forecast == "none"
    assert kinds["outages", 0].forecast == "outages"
    moved = kinds["outages", 2].forecast
    assert isinstance(moved, tuple)
    true = kinds["outages", 2].down.outages
    errors = [abs(a.start_s - b.start_s) for a, b in zip(moved, true, strict=True)]
    assert 0 < max(errors) <= 2
    assert jobs[0].run.paths[1].forecast == "none", "the cable has no outages"


GAPS = tuple(OutageWindow(start_s=10.0 * n, end_s=10.0 * n + 1) for n in range(1, 101))


def test_missing_and_false_outages_come_with_their_probabilities() -> None:
    missing = foreseen(GAPS, Foresight("outages", missing=0.25), "sat", 1)
    assert 60 <= len(missing) <= 90
    assert {(w.start_s, w.end_s) for w in missing if isinstance(w, ForecastWindow)} <= {
        (one.start_s, one.end_s) for one in GAPS
    }
    false = foreseen(GAPS, Foresight("outages", false=0.5), "sat", 1)
    assert 130 <= len(false) <= 170
    assert foreseen(GAPS, Foresight("outages", missing=1), "sat", 1) == ()
    assert foreseen((), Foresight("outages"), "sat", 1) == "none"


@given(st.floats(0, 9), st.integers(0, 1000))
def test_what_is_foreseen_lies_within_its_error(error_s: float, seed: int) -> None:
    windows = foreseen(GAPS[:3], Foresight("outages", error_s=error_s, missing=0), "a", seed)
    for one, true in zip(windows, GAPS, strict=False):
        if isinstance(one, ForecastWindow):
            assert abs(one.start_s - true.start_s) <= error_s + 1e-9
            assert one.end_s - one.start_s == pytest.approx(1)


@given(st.lists(st.tuples(st.floats(0, 100), st.floats(0.1, 10)), max_size=8))
def test_outages_of_two_origins_are_one_list(pairs: list[tuple[float, float]]) -> None:
    windows = [OutageWindow(start_s=start, end_s=start + length) for start, length in pairs]
    found = union((*windows[::2], *windows[1::2]))
    assert all(a.end_s < b.start_s for a, b in itertools.pairwise(found))
    for one in windows:
        assert any(f.start_s <= one.start_s and one.end_s <= f.end_s for f in found)


def test_a_file_ends_when_it_has_come(tmp_path: Path) -> None:
    job = prepared(tmp_path, STIN).jobs[0]
    assert job.run.connections[0].workload.bytes == 8 * 2**20
    totals = simulate(job.run).totals["connections"][0]
    assert totals["delivered_bytes"] == 8 * 2**20
    assert 0 < totals["completion_s"] < 10


def test_a_loss_may_be_of_one_path(tmp_path: Path) -> None:
    text = STIN.replace("file_mib = 8", "file_mib = 8\nloss = [{ sat = 0.005 }, 0.01]")
    jobs = prepared(tmp_path, text).jobs
    assert jobs[0].labels["loss"] == "sat=0.005"
    assert jobs[0].run.paths[0].down.loss == config.Bernoulli(ratio=0.005)
    assert jobs[0].run.paths[1].down.loss == config.NoLoss()
    assert jobs[1].run.paths[1].down.loss == config.Bernoulli(ratio=0.01)
    wrong = STIN.replace('paths = "sat+terr"', 'paths = "sat+terr"\nloss = { sta = 0.1 }')
    assert "unknown path 'sta' in loss: did you mean 'sat'?" in refusal(tmp_path, wrong)


def test_subflows_share_a_path(tmp_path: Path) -> None:
    text = STIN.replace("file_mib = 8", "file_mib = 8\nsubflows_per_path = [1, 2]")
    jobs = prepared(tmp_path, text).jobs[:2]
    assert [job.run.connections[0].subflows_per_path for job in jobs] == [1, 2]
    assert "file_mib" in jobs[0].labels
    totals = simulate(jobs[1].run).totals["connections"][0]["paths"]
    assert set(totals) == {"sat", "terr"}


EDGES = tuple(12.0 + 15 * n for n in range(100))


def test_boundaries_are_believed_right_wrong_or_not_at_all() -> None:
    exact = foreseen_boundaries(EDGES, Foresight("boundaries", uncertainty_s=0.3), "sat", 1)
    assert [one.at_s for one in exact.boundaries] == list(EDGES)
    assert {one.uncertainty_s for one in exact.boundaries} == {0.3}
    moved = foreseen_boundaries(EDGES, Foresight("boundaries", error_s=3), "sat", 1)
    errors = [abs(a.at_s - b) for a, b in zip(moved.boundaries, EDGES, strict=True)]
    assert 2 < max(errors) <= 3
    false = foreseen_boundaries(EDGES, Foresight("boundaries", missing=1, false=1), "sat", 1)
    assert len(false.boundaries) == len(EDGES) - 1
    assert not {one.at_s for one in false.boundaries} & set(EDGES)


@pytest.mark.parametrize(("second", "first"), [(0, 12.0), (12, 0.0), (13, 14.0), (50, 7.0)])
def test_slots_begin_by_the_clock(second: int, first: float) -> None:
    clock = datetime(2024, 6, 21, 12, 0, second, tzinfo=UTC)
    assert slot_edges_s(clock, first + 16) == (first, first + 15)
    model = Handovers(every_s=15, offset_s="clock", rtt_ms=(30, 60))
    edges = script(model, "sat", 1, first + 16, clock).edges_s
    assert edges == (first, first + 15)
    with pytest.raises(ConfigError, match="clock"):
        script(model, "sat", 1, 60)


def test_a_run_knows_the_boundaries_of_its_satellite_alone(tmp_path: Path) -> None:
    text = STIN.replace("file_mib = 8", 'file_mib = 8\nforecast = "boundaries"')
    paths = prepared(tmp_path, text).jobs[0].run.paths
    known = paths[0].forecast
    assert isinstance(known, Forecast)
    assert [one.at_s for one in known.boundaries] == [one.start_s for one in paths[0].down.outages]
    assert paths[1].forecast == "none"


@pytest.mark.parametrize("error_s", [0.0, 2.0])
def test_who_knows_handovers_knows_outages_and_edges_wrong_by_the_same(
    tmp_path: Path, error_s: float
) -> None:
    told = f'file_mib = 8\nforecast = "handovers"\nforecast_error_s = {error_s}'
    paths = prepared(tmp_path, STIN.replace("file_mib = 8", told)).jobs[0].run.paths
    known, true = paths[0].forecast, paths[0].down.outages
    assert isinstance(known, Forecast)
    starts = {round(one.start_s, 6) for one in known.outages if one.start_s > 0}
    edges = {round(one.at_s, 6) for one in known.boundaries if one.at_s > 0}
    assert starts == edges
    assert (edges == {round(one.start_s, 6) for one in true}) == (error_s == 0)
    assert paths[1].forecast == "none"
