"""Workloads other than bulk in study files: runs, labels, and the quantities of a report."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from fluid import SMALL, options

import skyweave as sw
from skyweave.report.numbers.applications import application_quantities
from skyweave.study.language.label_words import workload_label
from skyweave.study.run.session import Prepared, prepare


def _session(tmp_path: Path, workload: str, more: str = "") -> Prepared:
    settings = f"[settings]\nworkload = {workload}\n{more}"
    (tmp_path / "study.toml").write_text(SMALL.replace("[settings]", settings))
    return prepare(tmp_path / "study.toml", options(tmp_path / "out"))


def test_each_workload_of_a_list_is_a_run_with_a_label(tmp_path: Path) -> None:
    two = '["bulk", { kind = "requests", object_bytes = [1000, 5000], think_s = 0.5 }]'
    jobs = _session(tmp_path, two).jobs
    assert {job.labels["workload"] for job in jobs} == {
        "bulk", "requests(object_bytes=1000/5000, think_s=0.5)",
    }  # fmt: skip
    workloads = {job.run.connections[0].workload.kind: job.run.connections[0] for job in jobs}
    requests = workloads["requests"].workload
    assert (requests.direction, requests.duration_s) == (
        "down",
        workloads["bulk"].workload.duration_s,
    )


@pytest.mark.parametrize(
    ("workload", "more", "complaint"),
    [
        ('{ kind = "vidoe" }', "", "'vidoe', which does not exist"),
        ('{ kind = "paced", rate_mbps = 0, deadline_ms = 5 }', "", "rate_mbps = 0"),
        ('{ kind = "requests", object_bytes = [5] }', "file_mib = 3", "leave file_mib out"),
        ('{ kind = "requests", object_bytes = [5], direction = "up" }', "", "goes up"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_runs(
    workload: str, more: str, complaint: str, tmp_path: Path
) -> None:
    with pytest.raises(sw.ConfigError, match=complaint):
        _session(tmp_path, workload, more)


def test_a_label_says_what_was_given() -> None:
    call = sw.Workload.model_validate({"kind": "paced", "rate_mbps": 2, "deadline_ms": 50})
    assert workload_label(call) == "paced(rate_mbps=2, deadline_ms=50)"
    assert workload_label("bulk") == "bulk"


def test_quantities_are_those_of_the_tables() -> None:
    link = sw.Link(capacity=sw.ConstantRate(mbps=20), delay=sw.ConstantDelay(ms=25))
    path = sw.Path(name="only", down=link, up=link)

    def quantities(table: dict[str, object]) -> dict[str, np.ndarray]:
        connection = sw.Connection.model_validate({"transport": "tcp", "workload": table})
        record = sw.simulate(paths=[path], connections=[connection], stop_after_s=10)
        return application_quantities(record)

    asked = quantities({"kind": "requests", "object_bytes": [1000], "count": 9, "duration_s": 5})
    assert len(asked["request_ms"]) == 9
    assert 50 < asked["request_p50_ms"][0] <= asked["request_p99_ms"][0] < 60
    assert asked["delay_ms"].size == asked["late_share"].size == 0
    table = {"kind": "paced", "rate_mbps": 1, "deadline_ms": 20, "duration_s": 2}
    paced = quantities(table)
    # 25 ms are more than the deadline; what is still under way at the end did not come.
    assert paced["late_share"][0] > 0.98
    assert paced["late_share"][0] + paced["lost_share"][0] == pytest.approx(1.0)
    assert 25 < paced["delay_p50_ms"][0] < 26
    assert paced["timely_mbps"][0] < 0.02
    table |= {"deadline_ms": 30}
    assert quantities(table)["timely_mbps"][0] == pytest.approx(1.0, rel=0.03)
    # A request that was never complete counts as one that takes forever.
    cut = quantities({"kind": "requests", "object_bytes": [90_000_000], "duration_s": 1})
    assert np.isinf(cut["request_p50_ms"][0])
