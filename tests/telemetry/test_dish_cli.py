"""``skyweave dish``: what it writes, and one sentence for what makes no sense."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from skyweave.cli import app as cli
from skyweave.errors import SkyweaveError
from skyweave.telemetry.dish import history
from skyweave.telemetry.dish.faults import Fault
from skyweave.telemetry.store import read


def run(*words: str) -> str:
    ran = CliRunner().invoke(cli.app, ["dish", *words], catch_exceptions=False)
    assert ran.exit_code == 0
    return ran.stdout


def test_record_writes_what_the_dish_remembers(fake, clock, tmp_path):
    dish = fake()
    clock.now += 100
    run(
        "record", "--host", dish.host, "--out", str(tmp_path / "dish"), "--duration", "0",
        "--timeout", "60")  # fmt: skip
    assert len(read(tmp_path / "dish", "history", history.SCHEMA)) == 100


def test_fake_lists_its_faults():
    assert run("fake", "--terminal", "seattle", "--fault", "list").split() == list(Fault)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["record", "--out", "x", "--clear-map", "60"], "--satellites"),
        (["record", "--out", "x", "--host", "dishy"], "ADDRESS:PORT"),
        (["record", "--out", "x", "--ntp", "a:99999"], "--ntp"),
        (["fake", "--terminal", "seattle", "--fault", "rebot"], "did you mean 'reboot'"),
        (["fake", "--terminal", "seattle", "--boresight", "0,99"], "--boresight"),
        (["fake", "--terminal", "seattle", "--slot", "none"], "--slot none"),
        (["fake", "--terminal", "seattle", "--listen", "8.8.8.8:1"], "--listen"),
    ],
)
def test_what_makes_no_sense_is_said_in_one_sentence(words, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SkyweaveError, match=said) as error:
        run(*words)
    assert "\n" not in str(error.value)
