"""The lab on one machine: what it is made of holds together, and what keeps it from being there."""

from __future__ import annotations

import json
import os
import re
import socket
import time
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from skyweave.awareness.foresee import Foresight
from skyweave.cli.app import app as cli
from skyweave.errors import ConfigError
from skyweave.forecast import ForecastFile
from skyweave.forecast.predictors.file import read_predictor
from skyweave.lab.testbed import leftovers, town
from skyweave.lab.testbed.aware import learn
from skyweave.lab.testbed.camera import edge_is_near
from skyweave.lab.testbed.draw import stack_figure
from skyweave.lab.testbed.links import links_of, orbit_of
from skyweave.lab.testbed.people import FIRST, first_plan, light_plan, triggered_plan
from skyweave.lab.testbed.people import SPIKE as PROGRAM
from skyweave.lab.testbed.places import (
    NAMES,
    PREDICTED,
    PREDICTOR,
    RESEARCHER,
    SERVER,
    SPIKE,
    places,
)
from skyweave.lab.testbed.stack import broken, camera, heard
from skyweave.lab.testbed.telling import Teller
from skyweave.lab.testbed.town import Town
from skyweave.model.forecast import Forecast
from skyweave.plotting.style import LIGHT, drawing, scheme_svg, svg_text
from skyweave.study.language.plan import load_plan
from skyweave.testbed.client import pack
from skyweave.testbed.errors import TestbedError
from skyweave.testbed.node.policy import Asked, Taken, read_policy, refusal
from skyweave.testbed.node.sandbox import Groups
from skyweave.testbed.runs.plan import Plan
from skyweave.testbed.wire import Limits
from skyweave.triggers import read_triggers

WAITS = "0123456789abcdef01234567"
HERE = places(WAITS)


def test_names_are_those_of_the_places():
    assert tuple(one.name for one in HERE) == NAMES
    devices = [one.far_device(number) for one in HERE for number in range(len(one.links))]
    addresses = [one.address(number) for one in HERE for number in range(len(one.links))]
    assert len(set(devices)) == len(set(addresses)) == 5
    assert all(len(one) <= 15 for one in devices)


@pytest.mark.parametrize("place", HERE, ids=NAMES)
def test_every_policy_allows_the_experiments_and_nobody_else(place, tmp_path):
    (tmp_path / "policy.toml").write_text(place.policy())
    policy = read_policy(tmp_path / "policy.toml")
    assert tuple(policy.uplinks) == place.links
    assert policy.tells == (("dish",) if place.terminal else ())
    now = time.time()
    for user, allowed in ((RESEARCHER, True), (place.owner, True), ("mallory", False)):
        asked = Asked(user, "command", now, 120.0, 10**9, is_command=True)
        assert (refusal(policy, asked, Taken()) is None) == allowed


def test_the_trigger_of_the_boat_starts_what_waits(tmp_path):
    boat = HERE[0]
    (tmp_path / "policy.toml").write_text(boat.policy())
    (tmp_path / "triggers.toml").write_text(boat.triggers())
    assert read_policy(tmp_path / "policy.toml").fires == {SPIKE: WAITS}
    triggers = read_triggers(tmp_path / "triggers.toml")
    assert [one.name for one in triggers.trigger] == [SPIKE]
    assert SERVER in boat.triggers()
    assert all(one.triggers() is None for one in HERE[1:])


def test_the_plans_are_plans_with_a_program_that_is_there():
    for folder, plan in (
        (FIRST, first_plan("house")), (PROGRAM, triggered_plan("boat")),
        (PROGRAM, light_plan("farm", 1_800_000_000)),
    ):  # fmt: skip
        packed = {"input": {"sha256": "0" * 64, "bytes": len(pack(folder))}}
        made = Plan.model_validate_json(json.dumps(plan | packed))
        named = made.work.file if made.work.kind == "study" else Path(made.work.argv[1]).name
        assert (folder / named).is_file()
        assert made.priority == "normal"  # they share the server
    assert tuple(load_plan(FIRST / "study.toml").drives[0].uplinks) == HERE[2].links


def test_links_differ_by_seed_and_machine_and_begin_at_the_moment():
    now = 1_777_593_600.0
    boat, farm, house = (links_of(one, now, 120.0, 1) for one in HERE)
    assert [one.name for one in boat + farm + house] == [
        one.far_device(number) for one in HERE for number in range(len(one.links))
    ]
    again = links_of(HERE[0], now, 120.0, 1)
    assert again == boat
    assert links_of(HERE[0], now, 120.0, 2) != boat
    assert boat[0].down.delay != farm[0].down.delay
    assert boat[1].down != house[1].down
    rates = np.array(house[1].down.capacity.mbps)
    assert 20 < np.median(rates) < 45
    assert rates.min() > 1


def test_only_root_has_a_lab(monkeypatch, tmp_path):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(ConfigError, match=r"needs root.*use sudo"):
        Town(HERE, tmp_path, 8440, 60.0, 1)


def test_a_missing_program_is_one_sentence(monkeypatch, tmp_path):
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(town, "lacking", lambda: None)
    monkeypatch.setattr(town, "lacking_service", lambda one: f"the program '{one}' is missing")
    with pytest.raises(ConfigError, match=r"^the program 'iperf3' is missing$"):
        Town(HERE, tmp_path, 8440, 60.0, 1)


def test_a_second_lab_and_a_taken_port_are_refused(monkeypatch, tmp_path):
    monkeypatch.setattr(town, "refusal", lambda: None)
    monkeypatch.setattr(town, "ONLY_ONE", f"\0skyweave-test-{os.getpid()}")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(TestbedError, match=f"127.0.0.1:{port} is not available.*--port"):
            Town(HERE, tmp_path, port, 60.0, 1).__enter__()
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(town.ONLY_ONE)
        with pytest.raises(TestbedError, match="another lab is on this machine"):
            Town(HERE, tmp_path, port, 60.0, 1).__enter__()


def test_a_folder_that_holds_something_is_not_touched(tmp_path):
    (tmp_path / "mine").write_text("mine")
    ran = CliRunner().invoke(cli, ["lab", "testbed", "--out", str(tmp_path)])
    assert isinstance(ran.exception, ConfigError)
    assert "choose another" in str(ran.exception)
    assert [one.name for one in tmp_path.iterdir()] == ["mine"]


class Said:
    """A testbed with one run, whose history grows."""

    def __init__(self, trigger: str | None) -> None:
        self.history = [{"state": "reserved", "at_unix_s": 1000.0, "why": ""}]
        self.row = {
            "id": "abcdef" * 4, "experiment": WAITS, "node": "boat", "state": "reserved",
            "start_unix_s": 1001.0, "trigger": trigger,
        }  # fmt: skip

    def step(self, state: str, why: str = "") -> None:
        self.history.append({"state": state, "at_unix_s": 1002.0, "why": why})
        self.row["state"] = state

    def runs(self, **_: object):
        return [dict(self.row)]

    def run(self, _: str):
        return {"history": self.history}


def test_each_event_is_one_line_once():
    said, lines = Said("spike"), []
    teller = Teller(said, lines.append, {WAITS: "after a spike"})
    for state in ("", "ordered", "running", "done"):
        if state:
            said.step(state)
        teller.look()
        teller.look()
    assert [one.partition("  ")[2].partition(": ")[2] for one in lines] == [
        f"run abcdef (after a spike): trigger 'spike' fired, placed at {lines[0].split()[-1]}",
        "run abcdef (after a spike): running",
        "run abcdef (after a spike): done",
    ]


def test_a_run_far_ahead_is_told_of_when_it_begins_and_reasons_are_told():
    said, lines = Said(None), []
    said.row["start_unix_s"] = 4000.0
    teller = Teller(said, lines.append, {})
    teller.look()
    assert lines == []
    said.step("failed", "code 1")
    teller.look()
    assert lines[-1].endswith("failed: code 1")


def log_of(file: Path, *rows: object) -> Path:
    file.write_text("".join(json.dumps(row) + "\n" for row in rows) + '{"half')
    return file


def counts(folder: Path) -> dict:
    """Return the counts of a lab in which each program did something."""
    at = {"time_unix_s": 1.0}
    published = heard(log_of(
        folder / "heard",
        {"level": "samples", "own_rtt_ms": 33.0, "own_lost": 0.0, **at},
        {"level": "samples", "own_lost": 1.0, **at},
        {"level": "samples", "dish_state": "CONNECTED", **at},
        {"level": "forecasts", **at},
        {"level": "firings", "trigger": SPIKE, **at}, {"level": "firings", "trigger": "x", **at},
    ))  # fmt: skip
    seen = camera(log_of(
        folder / "camera",
        {"sent_bytes": 100, "knows": False, "held_back": False},
        {"sent_bytes": 25, "knows": True, "held_back": True}, {"arrived": 2}, {"broken": "gone"},
    ))  # fmt: skip
    runs = {"states": {"done": 3}, "triggered": 41, "triggered_done": 40, "files": 320,
            "triggered_carried_bytes": 5_600_000, "file_bytes": 7_800_000}  # fmt: skip
    links = {"boat-starlink down": {"bytes": 1_000_000}, "boat-starlink up": {"bytes": 2_000_000},
             "boat-lte down": {"bytes": 4_000}, "house-lte down": {"bytes": 9}}  # fmt: skip
    return {**published, "camera": seen, "runs": runs, "links": links}


def test_what_programs_wrote_is_counted(tmp_path):
    found = counts(tmp_path)
    assert {name: found[name] for name in found if isinstance(found[name], int)} == {
        "probes_answered": 1, "probes_lost": 1, "dish_statuses": 1, "firings": 1, "forecasts": 1,
    }  # fmt: skip
    assert found["camera"] == {
        "groups": 2, "with_a_forecast": 1, "held_back": 1, "arrived": 2, "bytes": 125, "broken": 1,
    }  # fmt: skip
    assert broken(found) == []


@pytest.mark.parametrize(
    "name", ["probes_answered", "dish_statuses", "forecasts", "runs.triggered_done", "runs.files",
             "runs.triggered", "camera.arrived", "camera.held_back", "camera.with_a_forecast"],
)  # fmt: skip
def test_a_link_that_carried_nothing_is_named(tmp_path, name):
    found = counts(tmp_path)
    table, _, key = name.rpartition(".")
    (found[table] if table else found)[key] = 0
    assert len(broken(found)) == 1


def test_the_figure_shows_what_was_counted(tmp_path):
    with drawing("lab"):
        svg = svg_text(stack_figure(counts(tmp_path), "A lab"))
    for words in ("A lab", "fired 41 times", "runs placed: 41, done: 40", "320 files", "7.8 MB",
                  "5.6 MB carried", "Starlink carried 3.0 MB", "LTE carried 4 kB",
                  "2 groups of pictures", "1 smaller before an edge"):  # fmt: skip
        assert words in svg, words
    both = scheme_svg(svg)
    assert "prefers-color-scheme: dark" in both
    bare = re.sub(r"var\(--\w+, #[0-9a-f]{6}\)|--\w+: #[0-9a-f]{6}", "", both)
    assert not [colour for colour in LIGHT.values() if colour in bare]


def foreseen(start: float, *edges: float) -> ForecastFile:
    boundaries = [{"at_s": one, "uncertainty_s": 0.3} for one in edges]
    forecast = Forecast.model_validate({"boundaries": boundaries})
    return ForecastFile(
        source="s", method="m", start_unix_s=start, end_unix_s=start + 16, forecast=forecast
    )


@pytest.mark.parametrize(
    ("now", "near"), [(1000.0, False), (1004.5, True), (1005.0, True), (1005.5, False)]
)
def test_the_camera_knows_an_edge_a_second_before(now, near):
    assert edge_is_near({"own_rtt_ms": foreseen(1000.0, 5.0)}, now) == near
    assert not edge_is_near({}, now)


def test_the_predictor_of_the_boat_foresees_the_edges_of_its_slots(tmp_path):
    learn(HERE[0], tmp_path / PREDICTOR, 1_777_593_600.0, 1)
    (tmp_path / "policy.toml").write_text(HERE[0].policy())
    assert read_policy(tmp_path / "policy.toml").hints == {PREDICTED: PREDICTOR}
    made = Foresight(read_predictor(tmp_path / PREDICTOR))
    said = [one for second in range(4) for one in made.take(1_777_593_600.0 + second, 40.0)]
    edges = [one.at_s + said[-1].start_unix_s for one in said[-1].forecast.boundaries]
    assert edges
    assert all((edge - orbit_of(HERE[0]).slot_offset_s) % 15 == 0 for edge in edges)


def test_groups_of_a_lab_that_was_killed_at_once_go_with_the_next(tmp_path: Path) -> None:
    kept = tmp_path / "marks"
    assert leftovers.sweep(kept) == 0  # there was no lab
    mark, other = (f"{os.getpid():x}{digit}" for digit in "ab")
    if not Groups.found(mark).hierarchies:
        pytest.skip("no control groups can be made here")
    for one in (mark, other):
        Groups.found(one).make("1", Limits())
    try:
        leftovers.remember([mark], kept)
        assert leftovers.sweep(kept) == 1
        assert not kept.exists()
        assert not list(Path("/sys/fs/cgroup").glob(f"**/skyweave-{mark}-1"))
        assert list(Path("/sys/fs/cgroup").glob(f"**/skyweave-{other}-1"))  # another node's
    finally:
        assert Groups.found(other).sweep() == 1


@pytest.mark.parametrize("text", ["../../x\n", "*\n", "a" * 20_000, "\xff\n", "\n\n"])
def test_marks_that_no_lab_wrote_are_let_alone(text: str, tmp_path: Path) -> None:
    kept = tmp_path / "marks"
    kept.write_text(text, encoding="latin-1")
    assert leftovers.sweep(kept) == 0
