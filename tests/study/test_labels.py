"""Labels are values: path sets and controls keep their parts, in memory and in a results folder."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from fluid import SMALL, options
from pydantic import TypeAdapter

from skyweave.results.pathset import PathSet
from skyweave.study.language.labels import number_of, read_labels
from skyweave.study.run.session import prepare


def test_a_path_set_is_its_text_and_its_names() -> None:
    pair = PathSet.of(["SL", "VZ"])
    assert pair == "SL+VZ"
    assert {pair: 1}["SL+VZ"] == 1
    assert (pair.names, pair.is_bonded, pair.is_pair) == (("SL", "VZ"), True, True)
    assert [one.names for one in pair.alone] == [("SL",), ("VZ",)]
    adapter = TypeAdapter(PathSet)
    read = adapter.validate_python("a+b+c")
    assert (read.names, read.is_pair) == (("a", "b", "c"), False)
    assert adapter.dump_python(read, mode="json") == "a+b+c"


@pytest.mark.parametrize("scheduler", ['"minrtt"', '{ name = "alcs", delta = "mdev" }'])
def test_labels_survive_a_results_folder(tmp_path: Path, scheduler: str) -> None:
    (tmp_path / "study.toml").write_text(SMALL + f"scheduler = {scheduler}\n")
    for job in prepare(tmp_path / "study.toml", options(tmp_path / "out")).jobs:
        assert read_labels(json.loads(json.dumps(job.labels))) == job.labels


def test_parameters_of_a_control_are_numbers_not_words(tmp_path: Path) -> None:
    grid = 'congestion = { name = "bbr2", loss_thresh = [0.02, 0.08] }\n'
    (tmp_path / "study.toml").write_text(SMALL + grid)
    jobs = prepare(tmp_path / "study.toml", options(tmp_path / "out")).jobs
    found = [number_of(job.labels, job.labels["control"], "loss_thresh") for job in jobs]
    assert set(found) == {0.02, 0.08}
    assert number_of(jobs[0].labels, jobs[0].labels["control"], "rtt_scale") == 1.0
    assert number_of(jobs[0].labels, jobs[0].labels["control"], "name") is None


def test_labels_of_earlier_versions_are_completed() -> None:
    found = read_labels({"paths": "SL+VZ", "congestion": "cubic"})
    assert found["paths"].names == ("SL", "VZ")
    assert (found["engine"], found["flow_counts"]) == ("sim", [1])
    assert found["control"] == {"name": "cubic"}
