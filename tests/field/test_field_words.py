"""What is said before anything runs, and what is refused of what a server says."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from skyweave.errors import ConfigError
from skyweave.field.errors import FieldError
from skyweave.field.far import FarEnd, facts_of
from skyweave.field.line import Line
from skyweave.field.translate import NOWHERE, Places, ports_of, translated
from skyweave.field.words import FarFlow, FarSeen, Go, Known, Listen
from skyweave.live.world import addresses
from skyweave.model import config
from skyweave.model.record import Record
from skyweave.study import StudyOptions, prepare

TOKEN = "x" * 43
LINK = "{ downlink_mbps = 9, uplink_mbps = 9, rtt_ms = 9 }"
STUDY = """
[study]
name = "s"
title = "t"
[[drives]]
name = "here"
uplinks = ["a", "b"]
duration_s = 5
seeds = 2
[paths.a]
rtt_ms = "trace"
[paths.b]
rtt_ms = "trace"
[settings]
engine = "field"
mode = "upstream"
scheduler = "upstream"
congestion = "cubic"
[[compare]]
paths = ["singles", "a+b"]
"""


def never(_: config.Run) -> Record:
    raise AssertionError("nothing runs")


def planned(tmp_path: Path, text: str) -> Any:
    file = tmp_path / "study.toml"
    file.write_text(text)
    return prepare(file, StudyOptions(out=tmp_path / "out", real=never))


def test_a_server_is_named_by_an_option_or_by_the_run() -> None:
    said = {"SKYWEAVE_TOKEN": TOKEN}
    assert FarEnd.found("192.0.2.7", said) == FarEnd("192.0.2.7", 5200, TOKEN)
    assert FarEnd.found("192.0.2.7:6000", said).port == 6000
    run = said | {"SKYWEAVE_SERVER": "192.0.2.9", "SKYWEAVE_PORTS": "probe=5209,field=5210"}
    assert FarEnd.found(None, run) == FarEnd("192.0.2.9", 5210, TOKEN, gate=5208)
    for server, environment, words in (
        (None, said, "give --server HOST:PORT"),
        (None, run | {"SKYWEAVE_PORTS": "probe=5209"}, "--service field"),
        (None, run | {"SKYWEAVE_PORTS": "nonsense"}, "--service field"),
        ("192.0.2.7", {}, "SKYWEAVE_TOKEN"),
        ("192.0.2.7:none", said, "HOST:PORT"),
        ("no such host\n", said, "no IPv4 address"),
    ):
        with pytest.raises(ConfigError, match=words):
            FarEnd.found(server, environment)


def test_the_context_of_a_trigger_comes_along() -> None:
    assert facts_of({}) is None
    said = {"SKYWEAVE_RUN": "r", "SKYWEAVE_CONTEXT": '{"trigger": "spike"}'}
    assert facts_of(said) == {"run": "r", "context": {"trigger": "spike"}}
    assert facts_of({"SKYWEAVE_RUN": "r", "SKYWEAVE_CONTEXT": "{"}) == {"run": "r", "context": None}


def test_a_study_over_networks_is_planned_without_their_links(tmp_path: Path) -> None:
    found = planned(tmp_path, STUDY)
    assert len(found.jobs) == 6
    assert {job.engine for job in found.jobs} == {"field"}
    job = found.jobs[-1]
    assert job.run.stop_after_s == 5
    assert job.run.paths[0].down.capacity == config.Unknown()
    assert job.labels["queue"] is None  # nobody knows it


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('engine = "field"', 'engine = "sim"', "engine 'sim' does not run over"),
        ('uplinks = ["a", "b"]', f"links = {{ a = {LINK}, b = {LINK} }}", "runs over networks"),
        ('[paths.b]\nrtt_ms = "trace"', "[paths.b]\nrtt_ms = 40", "rtt_ms is for emulated links"),
        ("[paths.b]\n", "[paths.b]\nloss = 0.1\n", "loss is for emulated links"),
        ('mode = "upstream"', 'mode = "upstream"\nloss = 0.1', "loss is for emulated links"),
        ('mode = "upstream"', 'mode = "upstream"\nforecast = "outages"', "forecast is for emul"),
        ("duration_s = 5\n", "", "uplinks need duration_s"),
        (
            "[[compare]]",
            '[[compare]]\nworkload = { kind = "probe", every = 1 }',
            "every is nothing",
        ),
        ("[[compare]]", '[[compare]]\nworkload = { kind = "probe", every_s = 0 }', "every_s is 0"),
        (
            "[[compare]]",
            '[[compare]]\ntransport = "mpquic"\nworkload = { kind = "probe" }',
            "leave transport out",
        ),
    ],
)
def test_what_real_networks_cannot_be_told_is_refused(
    tmp_path: Path, old: str, new: str, words: str
) -> None:
    with pytest.raises(ConfigError, match=words):
        planned(tmp_path, STUDY.replace(old, new, 1))


def test_probes_are_of_real_networks(tmp_path: Path) -> None:
    text = STUDY.replace('uplinks = ["a", "b"]', f"links = {{ a = {LINK}, b = {LINK} }}")
    text = text.replace('"field"', '"sim"').replace('["singles", "a+b"]', '"a"')
    with pytest.raises(ConfigError, match='set engine = "field"'):
        planned(tmp_path, text + 'workload = { kind = "probe" }\n')


def test_figures_of_capacities_are_refused(tmp_path: Path) -> None:
    figure = (
        '[[figures]]\nid = "f"\ntitle = "t"\ndrives = "here"\ndirection = "down"\nkind = "outage"'
    )
    with pytest.raises(ConfigError, match="nobody knows that"):
        planned(tmp_path, STUDY + figure)


def seen(**more: Any) -> dict[str, Any]:
    row = {"tick": 1, "at_ns": 5, "bytes": 7, "subflows": [
        {"local": ["11.0.0.1", 80], "remote": ["192.0.2.1", 999], "cwnd_packets": 10}]}  # fmt: skip
    return {"place": 0, "bytes": 7, "rows": [row], "error": None, **more}


def test_what_a_server_says_is_numbers_of_known_shapes() -> None:
    found = FarSeen.model_validate(seen(waits=3, fallback=False)).model_dump()
    assert found["rows"][0]["subflows"][0]["cwnd_packets"] == 10
    bad: list[dict[str, Any]] = [
        seen(bytes=-1), seen(place=9), seen(waits="many"), seen(error="x" * 3000),
        seen(rows=[{"tick": 1, "at_ns": 5, "bytes": 7, "subflows": [{"local": ["a", 1]}]}]),
        seen(rows=[{"tick": 1, "at_ns": 5, "bytes": 7, "cwnd": float("inf")}]),
        seen(application=[[{"a": 1}]]),
        seen(events=[{"at_ns": 1, "client": "", "event": "<b>", "value": 0}]),
    ]  # fmt: skip
    for one in bad:
        with pytest.raises(ValidationError):
            FarSeen.model_validate(one)


def test_what_a_client_says_is_bounded() -> None:
    flow = {"transport": "tcp", "sends": True, "start_ns": 0, "end_ns": 10**9}
    FarFlow.model_validate(flow)
    for bad in (
        flow | {"end_ns": 10**18}, flow | {"congestion": "cubic; reboot"}, flow | {"port": 22},
        flow | {"transport": "udp"}, flow | {"size_bytes": 0},
    ):  # fmt: skip
        with pytest.raises(ValidationError):
            FarFlow.model_validate(bad)
    with pytest.raises(ValidationError):
        Listen.model_validate({"flows": [flow] * 7})
    with pytest.raises(ValidationError):
        Go.model_validate({"run": "a" * 32, "epoch_ns": 1, "interval_ns": 1})
    with pytest.raises(ValidationError):
        Known.model_validate(
            {"you": "1.2.3.4", "kernel": "k" * 999, "skyweave": "", "congestion": []}
        )


def test_a_line_is_an_object_of_bounded_length() -> None:
    ours, theirs = socket.create_server(("127.0.0.1", 0)), socket.socket()
    theirs.connect(ours.getsockname())
    end, _ = ours.accept()
    with ours, theirs, end:
        line = Line(end)
        for said, words in ((b"[1]\n", "no JSON object"), (b"[" * 500 + b"\n", "no JSON"),
                            (b"x" * 5000 + b"\n", "longer than")):  # fmt: skip
            theirs.sendall(said)
            with pytest.raises(FieldError, match=words):
                line.receive(10, 1000)
        fresh = Line(end)
        theirs.sendall(b'{"a": 1}\n{"b"')
        assert fresh.receive(10, 1000) == {"a": 1}
        theirs.sendall(b": 2}\n")
        assert fresh.receive(10, 1000) == {"b": 2}
        theirs.close()
        with pytest.raises(OSError, match="gone"):
            fresh.receive(10, 1000)


def row(local: tuple[str, int], remote: tuple[str, int]) -> dict[str, Any]:
    return {"tick": 1, "at_ns": 1_000, "bytes": 5, "subflows": [{"local": local, "remote": remote}]}


def test_addresses_become_those_of_a_world_and_the_clock_ours() -> None:
    places = Places({0: "192.0.2.1", 1: "192.0.2.2"})
    event = {"at_ns": 1_500, "client": "192.0.2.1", "event": "established", "value": 0}
    rows = [row(("11.0.0.1", 80), ("192.0.2.2", 999))]
    far = {"rows": rows, "completed_ns": 2_000, "events": [event]}
    found = translated(far, places, "remote", offset_ns=400)
    assert found["rows"][0]["subflows"][0]["remote"] == (addresses.client_address(1), 999)
    assert (found["rows"][0]["at_ns"], found["completed_ns"]) == (600, 1_600)
    assert found["events"][0]["client"] == addresses.client_address(0)
    assert found["events"][0]["at_ns"] == 1_100
    assert json.dumps(found)  # plain values alone


def test_two_uplinks_behind_one_address_are_told_apart_by_ports() -> None:
    here = Places({0: "10.0.0.2", 1: "10.1.0.2"})
    near = [row(("10.0.0.2", 4000), ("11.0.0.1", 80)), row(("10.1.0.2", 4001), ("11.0.0.1", 80))]
    there = Places({0: "192.0.2.1", 1: "192.0.2.1"}, ports_of(near, here))
    far = {"rows": [row(("11.0.0.1", 80), ("192.0.2.1", port)) for port in (4001, 4000, 7)]}
    found = translated(far, there, "remote")
    came = [one["subflows"][0]["remote"][0] for one in found["rows"]]
    assert came == [addresses.client_address(1), addresses.client_address(0), NOWHERE]
    assert there.unknown == 1
