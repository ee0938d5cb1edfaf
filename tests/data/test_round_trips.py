"""Round trips of presets: fitted to pings, and synthetic ones lie beside the measured ones."""

import numpy as np
import pytest

from skyweave.data.metrics import SLOT_PHASE_S, autocorrelation, quantiles, slot_profile
from skyweave.errors import DataError
from skyweave.forecast import read_measurement
from skyweave.synthesis import load_preset, synthesise
from skyweave.synthesis.round_trips import fit_rtt, seconds_of

LOGS = {
    "lagos": "latency_isl-ping-gw-lagos-230911-172603-0.1s-60min.txt.gz",
    "seattle": "latency_no-isl-ping-gw-seattle-230911-170535-0.1s-60min.txt.gz",
}


@pytest.fixture(scope="module", params=LOGS)
def place(request, real):
    pings = read_measurement(real / "mmsys24_starlink_isl_noisl" / LOGS[request.param])
    return request.param, pings.times_unix_s, pings.values


def test_a_second_is_the_median_of_its_answered_pings():
    times = np.array([100.1, 100.4, 100.9, 101.2, 103.0])
    series, start = seconds_of(times, np.array([30.0, 50.0, 40.0, np.inf, 60.0]))
    assert start.timestamp() == 100
    assert series.values.tolist() == pytest.approx([40, np.nan, np.nan, 60], nan_ok=True)


def test_pings_without_answers_are_refused():
    with pytest.raises(DataError, match="fewer than two pings"):
        seconds_of(np.arange(3.0), np.array([np.inf, 20.0, np.inf]))


def test_the_fit_recovers_what_made_the_pings():
    preset = load_preset("lagos").paths["starlink"].rtt_ms
    drive = synthesise("lagos", 2001, 60_000)
    made = drive.paths["starlink"].rtt_ms
    again = fit_rtt(drive.start.timestamp() + made.times_s, made.values, "itself", -0.5)
    assert again.at(np.array([0.25, 0.5, 0.75])) == pytest.approx(
        preset.at(np.array([0.25, 0.5, 0.75])), rel=0.1
    )
    assert again.dynamics.slot_weight == pytest.approx(preset.dynamics.slot_weight, abs=0.1)
    assert again.coupling == -0.5


def test_the_committed_presets_are_what_the_fit_gives(place):
    name, times, rtt_ms = place
    committed = load_preset(name).paths["starlink"].rtt_ms
    source = committed.quantiles[0].source
    again = fit_rtt(times, rtt_ms, source, committed.coupling)
    assert again.quantiles == committed.quantiles
    assert again.dynamics.slot_weight == pytest.approx(committed.dynamics.slot_weight, abs=2e-3)
    assert again.dynamics.weights == pytest.approx(committed.dynamics.weights, abs=2e-3)


def test_synthetic_round_trips_lie_beside_the_measured_ones(place):
    # 30 made hours: a tenth in the quantiles; the jump at the slot edge, of which the clocks smear
    # a part over the second before, within a quarter; memory over 1 and 15 s within 0.15
    name, times, rtt_ms = place
    measured, start = seconds_of(times, rtt_ms)
    drives = [synthesise(name, seed, 3600) for seed in range(9001, 9031)]
    made = [drive.paths["starlink"].rtt_ms for drive in drives]
    values = [series.values for series in made]
    assert quantiles(np.concatenate(values)) == pytest.approx(quantiles(measured.values), rel=0.1)
    assert autocorrelation(values, (1, 15)) == pytest.approx(
        autocorrelation([measured.values], (1, 15)), abs=0.15
    )
    jumps = [
        slot_profile([(measured, start)]),
        slot_profile([(series, drive.start) for series, drive in zip(made, drives, strict=True)]),
    ]
    assert [jump.phase_s for jump in jumps] == [SLOT_PHASE_S, SLOT_PHASE_S]
    whole = [jump.change_by_second[[11, 12]].sum() for jump in jumps]
    assert whole[1] == pytest.approx(whole[0], rel=0.25)
