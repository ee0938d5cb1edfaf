"""``skyweave bench orbit``: every figure is measured; how large it is no test judges."""

import json

from typer.testing import CliRunner

from skyweave.cli import app as cli
from skyweave.cli.bench import orbit as bench


def test_every_figure_is_measured(monkeypatch):
    monkeypatch.setattr(bench, "DAY_S", 600.0)
    found = CliRunner().invoke(cli.app, ["bench", "orbit", "oneweb", "--json"])
    figures = json.loads(found.output)
    assert figures.keys() == bench._MEANING.keys()
    assert all(value > 0 for value in figures.values())
    assert figures["satellites"] == 588
