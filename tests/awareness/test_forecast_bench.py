"""``skyweave bench forecast``: every figure is measured; how large it is no test judges."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from skyweave.cli import app as cli
from skyweave.cli.bench import forecast as module


@pytest.mark.waits
def test_every_figure_is_measured_and_explained(monkeypatch, tmp_path):
    for name, value in {"ROWS": 900, "REPETITIONS": 1, "EVENTS": 40, "WARM": 10}.items():
        monkeypatch.setattr(module, name, value)
    out = tmp_path / "found.json"
    ran = CliRunner().invoke(cli.app, ["bench", "forecast", "--json", "--out", str(out)])
    assert ran.exit_code == 0, ran.output
    found = json.loads(ran.stdout)
    assert set(found) == set(module._MEANING)
    assert found["events_per_reader"] == 40
    assert found["deaf_lost_rows"] == 0  # what they did not read fits into the sockets
    never = {"deaf_lost_rows", "rss_growth_mb", "load"}
    assert all(value > 0 for name, value in found.items() if name not in never)
    assert json.loads(out.read_text())["hint_p99_ms"] == found["hint_p99_ms"]
    assert found["hint_p50_ms"] <= found["hint_p99_ms"] <= found["hint_max_ms"]
