"""The fit: it recovers what it was made from, and synthetic drives look like the measured ones."""

import numpy as np
import pytest

from skyweave.data import load
from skyweave.data.metrics import SLOT_PHASE_S
from skyweave.errors import DataError
from skyweave.synthesis import load_preset, synthesise
from skyweave.synthesis.calibration import compare, correlations, fit, summarise
from skyweave.synthesis.copula import hermite_coefficients, latent_correlation


def test_latent_correlation_of_normal_and_uniform_marginals():
    wanted = np.array([0.0, 0.3, 0.8, 1.0, np.nan])
    uniform = hermite_coefficients(lambda u: u)
    # for uniform marginals, r_latent = 2 sin(pi r / 6) in closed form
    found = latent_correlation(wanted, uniform, uniform)
    assert found[:4] == pytest.approx(2 * np.sin(np.pi * wanted[:4] / 6), abs=0.01)
    assert np.isnan(found[4])


def with_sharp_edges(preset):
    paths = {}
    for name, path in preset.paths.items():
        dynamics = path.downlink_mbps.dynamics.model_copy(update={"edge_spread_s": 0.0})
        downlink = path.downlink_mbps.model_copy(update={"dynamics": dynamics})
        paths[name] = path.model_copy(update={"downlink_mbps": downlink})
    return preset.model_copy(update={"paths": paths})


@pytest.fixture(scope="module")
def recovered():
    preset = with_sharp_edges(load_preset("midwest"))
    drives = [synthesise(preset, seed, 3000) for seed in range(2001, 2031)]
    return preset, fit(drives, preset, "itself")


def test_the_fit_recovers_the_preset_that_made_the_drives(recovered):
    preset, again = recovered
    for name, path in preset.paths.items():
        found = again.paths[name]
        # 90,000 s: 0.1 of share is 0.25 standard normal, see test_synthesis
        for share in (0.25, 0.5, 0.75):
            value = found.downlink_mbps.at(np.array([share]))[0]
            low, high = path.downlink_mbps.at(np.array([share - 0.1, share + 0.1]))
            assert low <= value <= high
        weight = path.downlink_mbps.dynamics.slot_weight
        # the two estimates of the weight agree on Gaussian drives; a tenth is left to chance
        assert found.downlink_mbps.dynamics.slot_weight == pytest.approx(weight, abs=0.1)
        assert found.outage.share == pytest.approx(path.outage.share, rel=0.35)
        assert found.rtt_ms == path.rtt_ms


def test_the_fit_finds_how_far_edges_are_spread(recovered):
    preset = load_preset("midwest")
    drives = [synthesise(preset, seed, 600) for seed in range(2001, 2121)]
    again = fit(drives, preset, "itself").paths["starlink"].downlink_mbps.dynamics
    # 120 places of an edge and 4,800 edges; what is left of sharp ones in two seconds is 0
    spread_s = preset.paths["starlink"].downlink_mbps.dynamics.edge_spread_s
    assert again.edge_spread_s == pytest.approx(spread_s, abs=0.3)
    _, sharp = recovered
    assert sharp.paths["starlink"].downlink_mbps.dynamics.edge_spread_s == 0


def test_fitting_without_the_paths_of_the_preset_is_refused():
    other = load_preset("midwest").model_copy(
        update={"paths": {"elsewhere": load_preset("midwest").paths["att"]}}
    )
    with pytest.raises(DataError, match="no drive has a downlink of elsewhere"):
        fit([synthesise("midwest", 1, 60)], other, "x")


@pytest.fixture(scope="module")
def beside(real):
    drives = load(real / "satcell")
    preset = load_preset("midwest")
    return drives, preset, compare(drives, preset, repeats=8)


def test_the_committed_preset_is_what_the_command_fits(beside):
    drives, preset, _ = beside
    label = preset.paths["starlink"].outage.source.removeprefix("fitted to ")
    again = fit(drives, preset, label)
    for name, path in preset.paths.items():
        assert again.paths[name].shared_loading == pytest.approx(path.shared_loading, abs=1e-3)
        assert again.paths[name].outage.share == pytest.approx(path.outage.share, abs=1e-6)
        weights = path.downlink_mbps.dynamics.weights
        assert again.paths[name].downlink_mbps.dynamics.weights == pytest.approx(weights, abs=2e-3)
        spread_s = path.downlink_mbps.dynamics.edge_spread_s
        assert again.paths[name].downlink_mbps.dynamics.edge_spread_s == spread_s


def test_synthetic_quantiles_lie_beside_the_measured_ones(beside):
    # 128 synthetic drives of 10 min each. Within 15 % or 3 Mbit/s up to p75; the tails, where a
    # handful of drives decide, within 25 %. The measured numbers themselves move more than that
    # between thirds of the set (SatCell medians of all 48 segments: 134/41.5/69/81).
    _, _, both = beside
    for name, real in both.real.items():
        for percent, value in real.percentiles_mbps.items():
            share = 0.15 if 25 <= percent <= 75 else 0.25
            found = both.synthetic[name].percentiles_mbps[percent]
            assert found == pytest.approx(value, rel=share, abs=3), (name, percent)


def test_synthetic_outages_and_memory_lie_beside_the_measured_ones(beside):
    _, _, both = beside
    for name, real in both.real.items():
        made = both.synthetic[name]
        # outages are few and long (a 147 s one is a fifth of all Starlink's): within 40 %
        assert made.outage == pytest.approx(real.outage, rel=0.4)
        for lag, value in real.autocorrelation.items():
            assert made.autocorrelation[lag] == pytest.approx(value, abs=0.1), (name, lag)


def test_the_slot_jump_lies_beside_the_measured_one(beside):
    # the phones' clocks smear the jump over three seconds, and spread edges do the same to the made
    # ones, about the true second; the fit weighs two estimates (see slotfit) and the second of the
    # largest change errs by as much as the 1,100 seconds of each kind leave to chance
    _, _, both = beside
    real, made = both.real["starlink"].slot, both.synthetic["starlink"].slot
    assert made.phase_s == SLOT_PHASE_S
    assert int(np.argmax(made.change_by_second)) == SLOT_PHASE_S
    assert made.ratio_near == pytest.approx(real.ratio_near, abs=0.2)
    assert made.ratio == pytest.approx(real.ratio, abs=0.3)


def test_correlations_of_operators_lie_beside_the_measured_ones(beside):
    # one common factor for three pairs, 16 measured drives (standard error near 0.1)
    _, _, both = beside
    for pair, value in both.real_correlation.items():
        if "starlink" in pair:
            # the subset has 0.13 to 0.34 by chance of 15 drives; all 43 have -0.05 to 0.05
            assert abs(both.synthetic_correlation[pair]) < 0.12
        else:
            assert both.synthetic_correlation[pair] == pytest.approx(value, abs=0.15)


def test_summaries_of_drives_without_a_path_are_empty_of_it(drive):
    assert correlations([drive], ["starlink", "att"])["starlink", "att"] == pytest.approx(
        np.corrcoef([10, 0, 30.5], [1, 0, 4])[0, 1]
    )
    assert summarise([drive], "att", None).slot is None
