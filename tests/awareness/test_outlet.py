"""What a watch measures reaches who listens: samples, firings, forecasts with bands, hints."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from typer.testing import CliRunner

from skyweave.awareness import Awareness, PageReader
from skyweave.awareness.foresee import HOLDS_S, Foresight
from skyweave.awareness.outlet import Outlet
from skyweave.cli import app as cli
from skyweave.errors import ConfigError
from skyweave.forecast.measurement import measurement
from skyweave.forecast.predictors import Target, in_seconds, predictor, walk
from skyweave.forecast.predictors.file import to_file
from skyweave.forecast.predictors.train import train_all
from skyweave.triggers import Event

START_S = 1_777_593_612.0


@pytest.fixture(scope="module")
def trained():
    random = np.random.default_rng(5)
    times = START_S + np.arange(1200.0)
    level = random.uniform(30, 60, 100)[((times - 12) // 15 % 100).astype(int)]
    rows = walk(in_seconds(measurement("m", "rtt", times, level + random.uniform(0, 5, 1200))))
    targets = [Target("at", one) for one in (1, 5, 15)]
    return to_file("slot-linear", rows, 12, train_all(predictor("slot-linear"), rows, targets))


def test_a_forecast_comes_with_the_first_sample_of_another_second(trained):
    foresight = Foresight(trained)
    assert list(foresight.take(START_S, 40.0)) == []
    assert list(foresight.take(START_S + 0.9, 44.0)) == []
    (found,) = foresight.take(START_S + 1.05, None)
    assert (found.start_unix_s, found.end_unix_s) == (START_S + 1, START_S + 1 + HOLDS_S)
    series = found.forecast.rtt_ms
    assert series is not None
    assert series.times_s == (0.0, 4.0, 14.0)
    assert all(low <= middle <= high for low, middle, high in series.values)
    assert list(foresight.take(START_S + 2.05, None)) == []  # a second in which all was lost
    assert [one.at_s for one in found.forecast.boundaries] == [14.0]


def test_nothing_looks_ahead(trained):
    """What a forecast says depends on the samples before it alone."""

    def first(values):
        foresight = Foresight(trained)
        found = []
        for place, value in enumerate(values):
            found += foresight.take(START_S + place, value)
        return [one.forecast for one in found]

    values = [40.0 + place % 7 for place in range(40)]
    assert first(values[:20] + [900.0] * 20)[:19] == first(values)[:19]


def test_a_predictor_of_means_is_refused(trained):
    means = trained.model_copy(update={
        "targets": tuple(one.model_copy(update={"target": "mean 5"}) for one in trained.targets)
    })  # fmt: skip
    with pytest.raises(ConfigError, match="no value ahead"):
        Foresight(means)


@pytest.mark.waits
def test_an_outlet_publishes_all_levels_and_a_page(trained, tmp_path):
    got: list = []
    zero = float(int(time.time()) + 1)
    with Outlet(tmp_path / "s", {"own_rtt_ms": trained}, tmp_path / "pages") as outlet:
        thread = threading.Thread(
            target=lambda: got.extend(Awareness(tmp_path / "s", 60.0).events())
        )
        thread.start()
        while not outlet._publisher.readers:
            pass
        rows = [(zero + place / 2, {"own_rtt_ms": 40.0 + place % 3}) for place in range(6)]
        assert list(outlet.samples(iter(rows))) == rows
        outlet.fired(Event(zero, "spike", "fired", zero + 2))
        known = Awareness(tmp_path / "s", 60.0).forecasts(zero + 2.5)
        assert list(known) == ["own_rtt_ms"]
        hint = None
        while hint is None:  # its span begins with a whole second, and that may be ahead
            list(outlet.samples(iter([(time.time(), {"own_rtt_ms": 41.0})])))
            hint = PageReader(tmp_path / "pages" / "own_rtt_ms.page").read(time.monotonic_ns())
        assert 30 < hint.rtt_ms[1] < 70
        assert 0 <= hint.boundary_ns - hint.issued_ns <= 15 * 10**9
    thread.join()
    levels = [level for level, _ in got]
    assert levels.count("samples") >= 6
    assert levels.count("firings") == 1
    assert levels.count("forecasts") >= 2
    assert not (tmp_path / "pages" / "own_rtt_ms.page").exists()


@pytest.mark.waits
def test_a_watch_is_listened_to(trained, tmp_path):
    """The command line from end to end: one watch, a listener of firings, and what is known."""
    trained.write(tmp_path / "predictor.json")
    (tmp_path / "triggers.toml").write_text(
        "[series]\nrtt_ms = 'number'\n[[trigger]]\nname = 'spike'\nwhen = 'rtt_ms > 100.0'\n"
    )
    skyweave = [sys.executable, "-m", "skyweave.cli"]
    socket = str(tmp_path / "s")
    watch = subprocess.Popen(
        [*skyweave, "trigger", "watch", str(tmp_path / "triggers.toml"), "--publish", socket,
         "--predictor", f"rtt_ms={tmp_path / 'predictor.json'}"],
        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    assert watch.stdin is not None
    got: list = []
    while not (tmp_path / "s").is_socket():
        assert watch.poll() is None
    thread = threading.Thread(
        target=lambda: got.extend(Awareness(tmp_path / "s", 60.0).events(["firings", "samples"]))
    )
    thread.start()
    number = 0
    while not got:  # until the listener is there
        watch.stdin.write(json.dumps({"time_unix_s": START_S + number, "rtt_ms": 30.0}) + "\n")
        watch.stdin.flush()
        number += 1
    watch.stdin.write(json.dumps({"time_unix_s": START_S + number, "rtt_ms": 200.0}) + "\n")
    watch.stdin.close()
    assert watch.wait() == 0
    thread.join()
    assert ("firings", {"time_unix_s": START_S + number, "trigger": "spike",
                        "start_unix_s": START_S + number}) in got  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["trigger", "watch", "FILE", "--predictor", "rtt_ms=x"], "are for --publish"),
        (["trigger", "watch", "FILE", "--publish", "S", "--predictor", "x=y"], "SERIES=FILE"),
        (["awareness", "steer", "--socket", "S", "--endpoint", "a"], "PATH=ID"),
        (["awareness", "steer", "--socket", "S", "--endpoint", "a=1000"], "PATH=ID"),
        (["awareness", "serve", "--socket", "S", "--forecast", "a"], "PATH=FILE"),
        (["awareness", "listen", "--socket", "S", "--levels", "secrets"], "--levels"),
    ],
)
def test_options_that_make_no_sense_are_refused(arguments, said, tmp_path):
    file = tmp_path / "triggers.toml"
    file.write_text("[series]\nrtt_ms = 'number'\n[[trigger]]\nname = 'a'\nwhen = 'true'\n")
    words = [{"FILE": str(file), "S": str(tmp_path / "s")}.get(one, one) for one in arguments]
    ran = CliRunner().invoke(cli.app, words)
    assert isinstance(ran.exception, ConfigError)
    assert said in str(ran.exception)


def test_without_a_publisher_nothing_is_known(tmp_path):
    ran = CliRunner().invoke(cli.app, ["awareness", "show", "--socket", str(tmp_path / "none")])
    assert (ran.exit_code, json.loads(ran.stdout)) == (0, {})
    ran = CliRunner().invoke(cli.app, ["awareness", "header"])
    assert "skyaware_read" in ran.stdout
