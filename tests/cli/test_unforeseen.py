"""What nobody thought of leaves the command line in one line, with an exit code of its own."""

from __future__ import annotations

import pytest

from skyweave.cli import app as cli


@pytest.fixture
def broken(monkeypatch):
    def app():
        raise ZeroDivisionError("a \x1b[2J\nlong " + "x" * 5000)

    monkeypatch.setattr(cli, "app", app)


def test_one_line_and_code_70(broken, capsys, monkeypatch):
    monkeypatch.delenv("SKYWEAVE_TRACEBACK", raising=False)
    with pytest.raises(SystemExit) as left:
        cli.main()
    assert left.value.code == 70
    said = capsys.readouterr().err
    assert said.startswith("skyweave: internal error in app.py:")
    assert "ZeroDivisionError" in said
    assert said.count("\n") == 1
    assert "\x1b" not in said
    assert len(said) < 700


def test_its_traceback_on_demand(broken, monkeypatch):
    monkeypatch.setenv("SKYWEAVE_TRACEBACK", "1")
    with pytest.raises(ZeroDivisionError):
        cli.main()
