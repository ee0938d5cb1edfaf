"""A plan multiplies out into the runs one expects, with stable keys."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from fluid import SMALL, options, synthesise

from skyweave.errors import ConfigError, DataError
from skyweave.model import config
from skyweave.model.drive import Drive, PathTrace, Series
from skyweave.study.compile.drives import Makers
from skyweave.study.compile.expand import path_sets, run_key
from skyweave.study.compile.links import LinkSettings, build_path, mean_mbps, opening_order
from skyweave.study.language.plan import PathSpec
from skyweave.study.run.session import Prepared, prepare

FLAT = Series(np.arange(3.0), np.array([10.0, np.nan, 30.0]))


def prepared(folder: Path, text: str, **changed: object) -> Prepared:
    file = folder / "study.toml"
    file.write_text(text)
    return prepare(file, options(folder / "out", **changed))


def test_counts(tmp_path: Path) -> None:
    assert prepared(tmp_path, SMALL).size["runs"] == 2 * 3
    both = SMALL + 'direction = ["down", "up"]\n'
    assert prepared(tmp_path, both).size["runs"] == 2 * 2 * 3
    schedulers = SMALL + 'scheduler = ["minrtt", "blest"]\n'
    assert prepared(tmp_path, schedulers).size["runs"] == 2 * (2 + 2)
    buffers = SMALL + "send_buffer_mb = [1, 2]\nreceive_buffer_mb = [3, 4, 5]\n"
    assert prepared(tmp_path, buffers).size["runs"] == 2 * 3 * 6
    assert prepared(tmp_path, SMALL, seeds=5).size["runs"] == 5 * 3
    again = SMALL + '\n[[compare]]\npaths = "SL"\n'
    assert prepared(tmp_path, again).size["runs"] == 2 * 3


def test_settings_reach_the_run(tmp_path: Path) -> None:
    text = SMALL + 'buffer_mb = 450\nqueue = "infinite"\nscheduler = "blest"\nrtt_scale = 2\n'
    run = prepared(tmp_path, text).jobs[2].run
    connection = run.connections[0]
    assert connection.send_buffer_bytes == connection.receive_buffer_bytes == 450_000_000
    assert (connection.transport, connection.scheduler) == ("mptcp", "blest")
    assert connection.congestion == "bbr"
    assert run.paths[0].down.queue == config.InfiniteQueue()
    assert run.paths[0].down.delay == config.ConstantDelay(ms=40.0)
    assert isinstance(run.paths[1].down.delay, config.DelaySteps)
    assert run.paths[1].down.delay.ms[0] == 60.0
    assert run.stop_after_s == 10


def test_block_overrides_and_keeps_the_rest(tmp_path: Path) -> None:
    text = SMALL.replace("[settings]", "[settings]\nbuffer_mb = 9") + "send_buffer_mb = 2\n"
    connection = prepared(tmp_path, text).jobs[0].run.connections[0]
    assert connection.send_buffer_bytes == 2_000_000
    assert connection.receive_buffer_bytes == 9_000_000


def test_drives_are_paired_by_seed(tmp_path: Path) -> None:
    jobs = prepared(tmp_path, SMALL).jobs
    first = [job for job in jobs if job.labels["seed"] == 1]
    assert {job.run.seed for job in first} == {1}
    assert first[0].run.paths[0] == first[2].run.paths[0]


def test_keys_are_stable_and_depend_on_everything(tmp_path: Path) -> None:
    one, two = prepared(tmp_path, SMALL), prepared(tmp_path, SMALL)
    assert [job.key for job in one.jobs] == [job.key for job in two.jobs]
    assert one.frozen["plan_hash"] == two.frozen["plan_hash"]
    run = one.jobs[0].run
    assert run_key(run, "1") != run_key(run, "2")
    assert run_key(run.model_copy(update={"seed": 9}), "1") != run_key(run, "1")
    titled = prepared(tmp_path, SMALL.replace("A small study", "Another title"))
    assert titled.frozen["plan_hash"] == one.frozen["plan_hash"]
    changed = prepared(tmp_path, SMALL.replace("rtt_ms = 40", "rtt_ms = 41"))
    assert changed.frozen["plan_hash"] != one.frozen["plan_hash"]


def test_key_golden() -> None:
    link = config.Link(capacity=config.ConstantRate(mbps=10), delay=config.ConstantDelay(ms=5))
    run = config.Run(
        paths=(config.Path(name="a", down=link, up=link),), connections=(config.Connection(),)
    )
    assert run_key(run, "v1") == run_key(config.Run.model_validate(run.model_dump()), "v1")
    assert len(run_key(run, "v1")) == 20


def test_path_sets() -> None:
    names = ("A", "B", "C")
    assert len(path_sets(["singles", "pairs", "triples", "all"], names)) == 3 + 3 + 1
    assert path_sets(["C+A", "A+X"], names) == [("C", "A")]


def dead(preset: str, seed: int, duration_s: float) -> Drive:
    drive = synthesise(preset, seed, duration_s)
    nothing = Series(np.arange(duration_s), np.zeros(int(duration_s)))
    drive.paths["VZ"] = PathTrace(nothing, nothing, drive.paths["VZ"].rtt_ms)
    return drive


def test_dead_path_needs_permission(tmp_path: Path) -> None:
    makers = Makers(dead, lambda _path, _format: [])
    assert prepared(tmp_path, SMALL, makers=makers).size["runs"] == 6
    strict = SMALL.replace("allow_dead_paths = true\n", "")
    with pytest.raises(ConfigError, match=r"VZ has no downlink capacity.*allow_dead_paths = true"):
        prepared(tmp_path, strict, makers=makers)


def test_path_set_that_no_drive_has(tmp_path: Path) -> None:
    text = SMALL.replace('"pairs"]', '"SL+TM"]') + "\n[paths.TM]\nrtt_ms = 1\n"
    with pytest.raises(ConfigError, match=r"path set 'SL\+TM' exists in no drive"):
        prepared(tmp_path, text)


DATA = """
[study]
name = "data"
title = "Data"
[[drives]]
name = "real"
data = "*.csv"
rename = { mob = "SL" }
require = ["SL", "VZ"]
segment_s = 20
max_segments = 2
[paths.SL]
rtt_ms = 40
[paths.VZ]
rtt_ms = 40
"""


def test_drives_are_chosen_and_held_out_by_name(tmp_path: Path) -> None:
    for name in ("a", "b1", "b2"):
        (tmp_path / f"{name}.csv").write_text("")

    def drives(keys: str) -> list[str]:
        text = DATA.replace("max_segments = 2", keys)
        labels = [job.labels["drive"] for job in prepared(tmp_path, text, data=tmp_path).jobs]
        return sorted({name.partition("#")[0] for name in labels})

    assert drives("") == ["a", "b1", "b2"]
    assert drives('only = ["b*"]') == ["b1", "b2"]
    assert drives('leave_out = ["b?"]') == ["a"]
    assert drives('only = ["a", "b*"]\nleave_out = ["b1"]') == ["a", "b2"]
    with pytest.raises(
        DataError, match=r"leave_out has 'c', which means no drive; there are 'a', 'b1'"
    ):
        drives('leave_out = ["c"]')
    with pytest.raises(DataError, match="no segment"):
        drives('leave_out = ["*"]')


def test_data_is_cut_renamed_and_noted(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("")
    found = prepared(tmp_path, DATA, data=tmp_path)
    assert found.size["runs"] == 2 * 3
    assert found.size["simulated_s"] == 6 * 20
    assert [job.labels["drive"] for job in found.jobs[::3]] == ["a#1", "a#2"]
    assert any("were not logged and count as 0" in note for note in found.frozen["notes"])
    gap = found.jobs[1].run.paths[0].down.capacity
    assert isinstance(gap, config.RateSteps)
    assert gap.mbps[10:15] == (0.0,) * 5
    up = found.jobs[0].run.paths[0].up.capacity
    assert up == config.ConstantRate(mbps=1000.0)


def test_missing_uplink_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("")
    with pytest.raises(DataError, match="path 'SL' has no uplink; remove direction \"up\""):
        prepared(tmp_path, DATA + '[settings]\ndirection = "up"\n', data=tmp_path)


def test_source_without_data_is_left_out_with_a_note(tmp_path: Path) -> None:
    block = DATA[DATA.index("[[drives]]") : DATA.index("[paths.SL]")]
    found = prepared(tmp_path, SMALL.replace("[paths.SL]", block + "[paths.SL]", 1))
    assert found.size["runs"] == 6
    assert "Drives 'real' were left out" in found.frozen["notes"][0]


def test_drives_without_a_declared_path_are_not_dropped_silently(tmp_path: Path) -> None:
    text = SMALL.replace('preset = "alaska"', 'preset = "midwest"')
    with pytest.raises(ConfigError, match=r"have paths starlink, att, .*rename = "):
        prepared(tmp_path, text)
    renamed = text.replace("seeds = 2", 'seeds = 2\nrename = { starlink = "SL" }')
    renamed = renamed.replace(', "pairs"', "")
    with pytest.raises(ConfigError, match=r"\[paths.VZ\]: no drive has this path"):
        prepared(tmp_path, renamed)
    both = renamed.replace('"SL" }', '"SL", verizon = "VZ" }')
    assert prepared(tmp_path, both).size["runs"] == 4


def test_links() -> None:
    trace = PathTrace(downlink_mbps=FLAT, uplink_mbps=FLAT, rtt_ms=FLAT, loss_ratio=None)
    settings = LinkSettings("down", 2.5, config.InfiniteQueue(), reverse="unlimited")
    path = build_path("p", trace, PathSpec(rtt_ms="trace", loss=0.1), settings, "d")
    assert path.down.capacity == config.RateSteps(times_s=(0, 1, 2), mbps=(10, 0, 30))
    assert path.up.capacity == config.ConstantRate(mbps=1000)
    assert path.down.delay == config.DelaySteps(times_s=(0, 1, 2), ms=(5, 5, 15))
    assert path.down.loss == path.up.loss == config.Bernoulli(ratio=0.1)
    one_way = build_path("p", trace, PathSpec(rtt_ms=1, loss=0.1, loses="data"), settings, "d")
    assert (one_way.down.loss, one_way.up.loss) == (config.Bernoulli(ratio=0.1), config.NoLoss())
    assert mean_mbps(path.down.capacity, 2.5) == pytest.approx((10 + 0 + 15) / 2.5)
    with pytest.raises(DataError, match="no loss series"):
        build_path("p", trace, PathSpec(rtt_ms=1, loss="trace"), settings, "d")


def steps(*mbps: float) -> config.RateSteps:
    return config.RateSteps(times_s=tuple(float(i) for i in range(len(mbps))), mbps=mbps)


def test_a_connection_opens_on_the_network_that_answers_first() -> None:
    def path(name: str, down: config.RateSteps, up: config.Capacity) -> config.Path:
        def link(capacity: config.Capacity) -> config.Link:
            return config.Link(capacity=capacity, delay=config.ConstantDelay(ms=10))

        return config.Path(name=name, down=link(down), up=link(up))

    unlimited = config.ConstantRate(mbps=1000)
    late = path("late", steps(0, 0, 5), unlimited)
    early = path("early", steps(5, 5, 5), steps(0, 5, 5))
    never = path("never", steps(0, 0, 0), unlimited)
    assert opening_order((late, never, early)) == ("early", "late", "never")
    also = path("also", steps(1, 0, 0), unlimited)
    now = path("now", steps(9, 9, 9), unlimited)
    assert opening_order((also, now)) == ("also", "now")


def test_open_on_first_keeps_the_order_of_the_set(tmp_path: Path) -> None:
    text = SMALL + 'open_on = "first"\n'
    for job in prepared(tmp_path, text).jobs:
        assert "+".join(job.run.connections[0].paths) == job.labels["paths"]
