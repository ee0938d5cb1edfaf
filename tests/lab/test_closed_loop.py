"""The closed loop: its link is as its truth says, and what its programs saw is that truth."""

from __future__ import annotations

import numpy as np
import pytest
from typer.testing import CliRunner

from skyweave.cli import app as cli
from skyweave.errors import ConfigError
from skyweave.lab import closed_loop as module
from skyweave.lab import link
from skyweave.lab.closed_loop import DISH_FOLDER, FIRED, Plan, run_loop, triggers_of
from skyweave.lab.draw import loop_figure
from skyweave.lab.judge import Probes, judge, look, misses, over_limit
from skyweave.lab.link import STEP_S, link_over
from skyweave.live.errors import LiveError
from skyweave.live.world.world import obstacle
from skyweave.plotting.style import png_bytes
from skyweave.telemetry.dish.world import World
from skyweave.triggers import read_triggers

START_S = 1_777_593_600.0


@pytest.fixture(scope="module")
def sky():
    world = World(Plan().spec, START_S)
    return world, link_over(world, START_S, 600.0, seed=3, inflated=0.5)


def test_disturbances_follow_handovers_and_nothing_else(sky):
    world, made = sky
    assert len(made.edges_unix_s) == 40
    assert 3 < len(made.disturbances) < 38
    for one in made.disturbances:
        edge = one.start_unix_s - world.spec.gap_s
        assert edge in made.edges_unix_s
        assert world.serving(edge - 1) != world.serving(edge + 1)
    again = link_over(world, START_S, 600.0, seed=3, inflated=0.5)
    assert np.array_equal(again.rtt_ms, made.rtt_ms)
    assert link_over(world, START_S, 600.0, seed=3, inflated=0.0).disturbances == ()
    everywhere = link_over(world, START_S, 600.0, seed=3, inflated=1.0, all_edges=True)
    assert [one.start_unix_s for one in everywhere.disturbances] == [
        edge + world.spec.gap_s for edge in made.edges_unix_s
    ]


def test_a_round_trip_is_at_least_its_propagation(sky):
    world, made = sky
    for place in range(0, 6000, 97):
        known = world.at(int(START_S + place * STEP_S)).latency_ms
        if known is not None:
            assert made.rtt_ms[place] >= known
    for one in made.disturbances:
        inside = round((one.start_unix_s + 0.2 - START_S) / STEP_S)
        assert made.rtt_ms[inside] >= made.rtt_ms.min() + one.added_ms
    assert made.path.up == made.path.up.model_copy(update={"outages": made.path.down.outages})


def test_gaps_of_the_link_are_those_of_the_schedule(sky):
    world, made = sky
    assert made.gaps
    for gap in made.gaps:
        begin, end = START_S + gap.start_s, START_S + gap.end_s
        assert (begin, end) in world.outages(START_S, START_S + 600.0)


def test_the_limit_is_twice_the_mean_of_five_seconds():
    sent = START_S + np.arange(100) / 10
    rtt = np.where(np.arange(100) == 80, 81.0, 40.0)
    assert over_limit(Probes(sent, rtt, 0)).tolist() == [sent[80]]
    assert len(over_limit(Probes(sent, np.where(np.arange(100) == 80, 80.0, 40.0), 0))) == 0
    assert len(over_limit(Probes(sent, np.where(np.arange(100) == 20, 999.0, 40.0), 0))) == 0


def test_the_trigger_file_of_a_loop_is_one(tmp_path):
    file = tmp_path / "triggers.toml"
    file.write_text(triggers_of(Plan()))
    found = read_triggers(file)
    assert {"own_rtt_ms", "dish_state", "sky_satellite"} <= set(found.known)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--duration", "3"], "--duration 3"),
        (["--duration", "nan"], "--duration nan"),
        (["--terminal", "atlantis"], "atlantis"),
        (["--constellation", "nothing"], "no constellation"),
        (["--figure", "x.gif"], "figures are .png or .svg"),
    ],
)
def test_loops_that_make_no_sense_are_refused(arguments, said, tmp_path):
    out = str(tmp_path / "new")
    ran = CliRunner().invoke(cli.app, ["lab", "closed-loop", "--out", out, *arguments])
    assert isinstance(ran.exception, ConfigError)
    assert said in str(ran.exception)


def test_a_folder_that_holds_something_is_left_alone(tmp_path, monkeypatch):
    (tmp_path / "holiday.jpg").write_text("x")
    with pytest.raises(ConfigError, match="not an empty folder"):
        run_loop(Plan(), tmp_path)
    monkeypatch.setattr(module, "obstacle", lambda: "there is no /dev/net/tun")
    with pytest.raises(LiveError, match="no emulated network can be made: there is no"):
        run_loop(Plan(), tmp_path / "new")
    assert not (tmp_path / "new").exists()
    monkeypatch.setattr(module, "obstacle", lambda: None)
    monkeypatch.setattr(module.shutil, "which", lambda _: None)
    with pytest.raises(ConfigError, match="iputils-ping"):
        run_loop(Plan(), tmp_path / "new")


@pytest.mark.waits
@pytest.mark.usefixtures("prompt")
def test_a_loop_finds_its_satellites_and_fires(tmp_path, monkeypatch):
    """Whatever the sky is now, each edge adds 400 ms: more than the mean of 5 s before it.

    The programs of a loop have 12 s to begin in, and a second for each look at the dish.
    """
    reason = obstacle()
    if reason is not None:
        pytest.skip(f"no emulated network here: {reason}")
    monkeypatch.setattr(link, "INFLATED_MS", (400.0, 400.0))
    out = tmp_path / "loop"
    loop = run_loop(Plan(duration_s=80.0, inflated=1.0, all_edges=True), out)
    seen = look(loop)
    found = judge(loop, seen)
    assert found["slots"]["with_satellite"] >= 2
    assert found["slots"]["recovered"] == found["slots"]["with_satellite"]
    assert found["firings"]["replayed_alike"]
    assert found["records"]["whole"] == found["records"]["due_whole"]
    assert found["records"]["with_trigger"] == len(list((out / FIRED).glob("*/firing.json")))
    late = [one for one in misses(found) if "first probe" in one]  # a busy machine may be
    assert misses(found) == late
    assert len(png_bytes(loop_figure(loop, seen, "a loop"))) > 10_000
    assert found["disturbances"]["made"] >= 4
    assert found["disturbances"]["over_the_limit"] >= 1
    assert found["firings"]["recorded"] >= 1
    assert all(one.exit_code == 0 for one in seen.firings)
    assert list((out / DISH_FOLDER).glob("status-*.parquet"))
