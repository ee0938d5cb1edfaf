"""Multipath QUIC in a study file: its settings expand, reach the run and appear in labels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fluid import SMALL
from pydantic import ValidationError
from test_expand import prepared
from test_plan import line_with, write

from skyweave.errors import ConfigError
from skyweave.model import config
from skyweave.study.language.plan import load_plan

QUIC = SMALL.replace('["singles", "pairs"]', '"SL+VZ"').replace("seeds = 2\n", "")
OWN = ("ack_path", "reinjection", "datagram_bytes", "flow_control", "pacing_timer")


def test_settings_reach_the_run_and_its_labels(tmp_path: Path) -> None:
    text = QUIC + (
        'transport = "mpquic"\nscheduler = "roundrobin"\nack_path = "fastest"\n'
        'reinjection = "failure"\ndatagram_bytes = 1200\nflow_control = "tripled"\n'
        'pacing_timer = "last"\n'
    )
    (job,) = prepared(tmp_path, text).jobs
    connection = job.run.connections[0]
    assert (connection.transport, connection.scheduler) == ("mpquic", "roundrobin")
    assert connection.congestion == "bbr"
    assert connection.quic == config.Quic(
        ack_path="fastest",
        reinjection="failure",
        datagram_bytes=1200,
        flow_control="tripled",
        pacing_timer="last",
    )
    assert [job.labels[key] for key in OWN] == ["fastest", "failure", 1200, "tripled", "last"]
    assert job.labels["multipath"] == job.labels["transport"] == "mpquic"
    assert job.labels["scheduler"] == "roundrobin"
    assert (job.labels["mode"], job.labels["subflows_per_path"]) == (None, None)


def test_without_settings_they_are_the_defaults(tmp_path: Path) -> None:
    (job,) = prepared(tmp_path, QUIC + 'transport = "mpquic"\n').jobs
    assert job.run.connections[0].quic == config.Quic()
    assert [job.labels[key] for key in OWN] == ["same", "all", 1440, "rounds", "every"]


def test_lists_multiply(tmp_path: Path) -> None:
    text = QUIC + (
        'transport = "mpquic"\nack_path = ["same", "fastest", "scheduled", "duplicated"]\n'
        'reinjection = ["none", "failure", "tail", "all"]\ndatagram_bytes = [1200, 1440, 9000]\n'
        'scheduler = ["minrtt", "roundrobin"]\n'
    )
    jobs = prepared(tmp_path, text).jobs
    assert len({job.key for job in jobs}) == len(jobs) == 4 * 4 * 3 * 2
    assert len({tuple(job.labels[key] for key in OWN) for job in jobs}) == 4 * 4 * 3


def test_other_transports_do_not_multiply_with_what_they_lack(tmp_path: Path) -> None:
    text = SMALL.replace("seeds = 2\n", "") + (
        'transport = ["auto", "mpquic"]\nmode = ["v0.96", "upstream"]\nsubflows_per_path = [1, 2]\n'
        'ack_path = ["same", "fastest"]\n'
    )
    jobs = prepared(tmp_path, text).jobs
    found = {
        name: [job for job in jobs if job.labels["transport"] == name]
        for name in ("tcp", "mptcp", "mpquic")
    }
    keys = {name: {job.key for job in some} for name, some in found.items()}
    assert {name: len(some) for name, some in keys.items()} == {"tcp": 2, "mptcp": 4, "mpquic": 6}
    for job in found["tcp"] + found["mptcp"]:
        assert [job.labels[key] for key in OWN] == [None] * len(OWN)
        assert job.run.connections[0].quic == config.Quic()
    assert {job.labels["multipath"] for job in found["tcp"]} == {None}
    assert {job.labels["paths"] for job in found["mpquic"]} == {"SL", "VZ", "SL+VZ"}
    assert {job.labels["mode"] for job in found["mpquic"]} == {None}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('transport = "quic"', "'mpquic'"),
        ('ack_path = "first"', "'same', 'fastest', 'scheduled' or 'duplicated'"),
        ('reinjection = ["all", "some"]', "'none', 'failure', 'tail' or 'all'"),
        ('flow_control = "triple"', "'rounds' or 'tripled'"),
        ("datagram_bytes = 1199", "greater than or equal to 1200"),
        ("datagram_bytes = 65508", "less than or equal to 65507"),
        ('ack_paths = "same"', "did you mean 'ack_path'"),
    ],
)
def test_mistakes_have_file_and_line(tmp_path: Path, line: str, said: str) -> None:
    text = QUIC + line + "\n"
    file = write(tmp_path, text)
    with pytest.raises(ConfigError) as caught:
        load_plan(file)
    assert str(caught.value).startswith(f"{file}:{line_with(text, line)}: ")
    assert said in str(caught.value)


@pytest.mark.parametrize(
    "bad",
    [
        {"ack_path": "first"},
        {"reinjection": "some"},
        {"reinjection": True},
        {"flow_control": "doubled"},
        {"pacing_timer": "none"},
        {"datagram_bytes": 1199},
        {"datagram_bytes": 65508},
        {"datagram_bytes": 1440.5},
        {"ack_paths": "same"},
    ],
)
def test_bad_values_of_a_connection_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match=next(iter(bad))):
        config.Quic.model_validate(bad)
    with pytest.raises(ValidationError, match=rf"quic\.{next(iter(bad))}"):
        config.Connection.model_validate({"transport": "mpquic", "quic": bad})
