"""The record of a firing: what fired, the 30 s around it, and the run in the same folder."""

from __future__ import annotations

import json
import sys

import pytest
from typer.testing import CliRunner

from skyweave.cli import app as cli
from skyweave.errors import ConfigError
from skyweave.triggers import read_triggers
from skyweave.triggers.act import OUTPUT, argv_of
from skyweave.triggers.spec import Run

T0 = 1_777_593_612.0


def triggers(folder, run: str):
    file = folder / "triggers.toml"
    file.write_text(
        f"[series]\nrtt_ms = 'number'\n[[trigger]]\nname = 'spike'\nwhen = 'rtt_ms > 100.0'\n"
        f"run = {run}\n"
    )
    return file


def lines(high: int, count: int = 100) -> str:
    rows = [
        {"time_unix_s": T0 + place, "rtt_ms": 200.0 if place == high else 30.0}
        for place in range(count)
    ]
    return "".join(json.dumps(row) + "\n" for row in rows)


def watched(folder, run: str, high: int = 50):
    out = folder / "fired"
    ran = CliRunner().invoke(
        cli.app, ["trigger", "watch", str(triggers(folder, run)), "--out", str(out)],
        input=lines(high),
    )  # fmt: skip
    assert ran.exit_code == 0, ran.output
    (where,) = out.iterdir()
    return where, json.loads((where / "firing.json").read_text())


@pytest.mark.waits
def test_a_command_runs_in_the_folder_of_its_record(tmp_path):
    program = "open('made', 'w').write('here'); print('said'); raise SystemExit(3)"
    where, said = watched(tmp_path, json.dumps({"command": [sys.executable, "-c", program]})
                          .replace('": ', '" = '))  # fmt: skip
    assert said["trigger"] == "spike"
    assert said["when"] == "rtt_ms > 100.0"
    assert said["time_unix_s"] == T0 + 50
    assert said["context_whole"]
    assert [when - T0 for when, _, _ in said["context"]] == [float(n) for n in range(20, 81)]
    assert said["run"]["exit_code"] == 3
    assert said["run"]["argv"] == [sys.executable, "-c", program]
    assert (where / "made").read_text() == "here"
    assert (where / OUTPUT).read_text() == "said\n"


@pytest.mark.waits
def test_a_firing_starts_a_study(study, tmp_path):
    where, said = watched(tmp_path, f'{{study = "{study.name}", seconds = 600}}')
    assert said["run"]["exit_code"] == 0, (where / OUTPUT).read_text()
    assert said["trigger"] == "spike"
    assert (where / "report.html").exists()
    assert list((where / "records").glob("*/record.json"))


@pytest.mark.waits
def test_output_is_bounded_and_a_program_may_go_on_printing(tmp_path, monkeypatch):
    from skyweave.triggers import act

    monkeypatch.setattr(act, "MOST_OUTPUT_BYTES", 1000)
    program = "print('x' * 500_000); raise SystemExit(0)"
    run = json.dumps({"command": [sys.executable, "-c", program]}).replace('": ', '" = ')
    where, said = watched(tmp_path, run)
    assert said["run"]["exit_code"] == 0
    assert (where / OUTPUT).stat().st_size == 1000


@pytest.mark.waits
def test_what_cannot_be_started_is_in_the_record_as_no_run(tmp_path):
    _, said = watched(tmp_path, '{command = ["/nowhere/to be found"]}')
    assert said["run"] is None
    assert said["run_over"]


def test_a_replay_records_and_starts_nothing(tmp_path):
    log = tmp_path / "log.jsonl"
    log.write_text(lines(50))
    file = triggers(tmp_path, '{command = ["touch", "hit"]}')
    out = tmp_path / "fired"
    ran = CliRunner().invoke(cli.app, ["trigger", "replay", str(file), str(log), "--out", str(out)])
    assert ran.exit_code == 0, ran.output
    (where,) = out.iterdir()
    assert [one.name for one in where.iterdir()] == ["firing.json"]
    said = json.loads((where / "firing.json").read_text())
    assert len(said["context"]) == 61
    assert said["run"] is None


def test_a_run_is_a_command_or_a_study(tmp_path):
    for run in ("{seconds = 5}", '{command = ["a"], study = "b"}'):
        with pytest.raises(ConfigError, match="either a command or a study"):
            read_triggers(triggers(tmp_path, run))
    with pytest.raises(ConfigError, match="NUL"):
        read_triggers(triggers(tmp_path, '{study = "a\\u0000b"}'))


def test_a_study_is_seen_from_the_trigger_file(tmp_path):
    found = read_triggers(triggers(tmp_path, '{study = "deep/study.toml"}'))
    run = found.trigger[0].run
    argv = argv_of(run, tmp_path / "out")
    assert argv[-4:] == ("run", str(tmp_path / "deep/study.toml"), "--out", str(tmp_path / "out"))
    assert argv_of(Run(command=("a", "b")), None) == ("a", "b")


def test_a_log_must_be_one_that_can_be_replayed(tmp_path):
    file = triggers(tmp_path, '{command = ["true"]}')
    ran = CliRunner().invoke(cli.app, ["trigger", "watch", str(file), "--log", "x.csv"])
    assert isinstance(ran.exception, ConfigError)
    log = tmp_path / "seen.jsonl"
    ran = CliRunner().invoke(
        cli.app, ["trigger", "watch", str(file), "--log", str(log)], input=lines(99)
    )
    assert ran.exit_code == 0, ran.output
    assert log.read_text() == lines(99)
