"""Triggers on a node: a firing becomes an event for the experiment that the owner named."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from skyweave.awareness import Awareness
from skyweave.errors import ConfigError
from skyweave.forecast.measurement import measurement
from skyweave.forecast.predictors import Target, in_seconds, predictor, walk
from skyweave.forecast.predictors.file import to_file
from skyweave.forecast.predictors.train import train_all
from skyweave.testbed.node.book import Book
from skyweave.testbed.node.firing import HINTS, MOST_CONTEXT, Firing
from skyweave.testbed.node.policy import Policy
from skyweave.triggers.spec import read_triggers

EXPERIMENT = "0123456789abcdef01234567"
TRIGGERS = """
[series]
rtt_ms = "number"
[[trigger]]
name = "spike"
when = "rtt_ms > 100.0"
align = "slot+2s"
[[trigger]]
name = "other"
when = "rtt_ms > 0.0"
"""
NOW = 1_777_593_612.0
"""The beginning of a slot."""


@pytest.fixture
def book(tmp_path: Path) -> Iterator[Book]:
    made = Book(tmp_path / "book.db")
    yield made
    made.close()


def firing(folder: Path, book: Book, fires: dict[str, str], offset_s: float = 0.0) -> Firing:
    (folder / "triggers.toml").write_text(TRIGGERS)
    triggers = read_triggers(folder / "triggers.toml")
    return Firing(triggers, fires, book, offset_s=lambda: offset_s, wake=lambda: None, say=print)


def test_a_firing_is_told_once_with_its_start_and_what_was_seen(tmp_path: Path, book: Book) -> None:
    """In LEOScope a trigger's result was published where nothing listened."""
    rows = [(NOW + one, {"rtt_ms": 50.0 if one < 5 else 150.0}) for one in range(20)]
    firing(tmp_path, book, {"spike": EXPERIMENT}, offset_s=7.0).watch(rows)
    (event,) = book.unsent()
    fired = event.body
    assert fired.kind == "fired"
    assert (fired.experiment, fired.trigger) == (EXPERIMENT, "spike")
    assert event.time_unix_s == NOW + 12.0  # 5 s, by a clock that is 7 s behind
    assert fired.start_unix_s == NOW + 24.0  # 2 s into the next slot
    context = json.loads(fired.context_json)["context"]
    assert [row[2] for row in context] == [50.0] * 5 + [150.0]


def test_a_context_that_is_too_long_keeps_its_newest_samples(tmp_path: Path, book: Book) -> None:
    rows = [(NOW + one / 1000, {"rtt_ms": 50.0}) for one in range(6000)]
    firing(tmp_path, book, {"spike": EXPERIMENT}).watch([*rows, (NOW + 6.0, {"rtt_ms": 200.0})])
    fired = book.unsent()[0].body
    assert fired.kind == "fired"
    assert len(fired.context_json) <= MOST_CONTEXT
    assert json.loads(fired.context_json)["context"][-1][2] == 200.0


def test_a_name_that_no_trigger_has_is_refused(tmp_path: Path, book: Book) -> None:
    with pytest.raises(ConfigError, match="did you mean 'spike'"):
        firing(tmp_path, book, {"spik": EXPERIMENT})
    with pytest.raises(ValueError, match="fires"):
        Policy(owner="anna", fires={"spike": "../../x"})


def learned(file: Path) -> None:
    """Train a predictor on ten minutes of made-up round trips."""
    times = NOW - 600.0 + 0.1 * np.arange(6000)
    rtt = 40.0 + 10.0 * ((times // 15) % 2) + np.random.default_rng(1).uniform(0, 2, len(times))
    rows = walk(in_seconds(measurement("before", "rtt", times, rtt)))
    wanted = [Target("at", 1), Target("at", 5)]
    to_file("slot-linear", rows, 12, train_all(predictor("slot-linear"), rows, wanted)).write(file)


def test_what_is_measured_fired_and_foreseen_is_published(tmp_path: Path, book: Book) -> None:
    (tmp_path / "triggers.toml").write_text(TRIGGERS)
    learned(tmp_path / "p.json")
    made = Firing.of(
        tmp_path, {}, {"rtt_ms": "p.json"}, book, offset_s=lambda: 0.0, wake=lambda: None, say=print
    )
    assert made is not None
    assert made._outlet is not None
    heard: list[tuple[str, dict]] = []
    with made._outlet:
        asked = threading.Thread(
            target=lambda: heard.extend(Awareness(tmp_path / HINTS, timeout_s=30).events())
        )
        asked.start()
        while made._outlet._publisher.readers == 0:
            time.sleep(0.01)
        rows = [(NOW + one / 2, {"rtt_ms": 50.0 if one < 20 else 150.0}) for one in range(40)]
        made.watch(rows)
        now = Awareness(tmp_path / HINTS, timeout_s=30).forecasts(NOW + 20.0)
    asked.join()
    assert list(now) == ["rtt_ms"]
    assert [level for level, _ in heard].count("samples") == 40
    assert {facts["trigger"] for level, facts in heard if level == "firings"} == {"spike", "other"}
    assert [level for level, _ in heard].count("forecasts") == 19
    assert not book.unsent()  # what fires starts nothing here


def test_a_series_that_is_not_measured_is_not_foreseen(tmp_path: Path, book: Book) -> None:
    (tmp_path / "triggers.toml").write_text(TRIGGERS)
    with pytest.raises(ConfigError, match=r"hints\.rtt: .* did you mean 'rtt_ms'"):
        Firing.of(
            tmp_path, {}, {"rtt": "p.json"}, book,
            offset_s=lambda: 0.0, wake=lambda: None, say=print,
        )  # fmt: skip
    with pytest.raises(ValueError, match="hints"):
        Policy(owner="anna", hints={"rtt_ms": "../p.json"})
