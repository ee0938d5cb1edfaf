"""Triggers: expressions checked when given, firings by event time, values that stay values."""

from __future__ import annotations

import sys

import pytest
from typer.testing import CliRunner

from skyweave.cli import app as cli
from skyweave.errors import ConfigError, DataError, SkyweaveError
from skyweave.triggers import Event, Machine, Samples, Trigger, cost, read_triggers, replay
from skyweave.triggers.act import carry_out
from skyweave.triggers.language import Condition
from skyweave.triggers.machine import aligned
from skyweave.triggers.replay import read_lines, read_log
from skyweave.triggers.spec import Run, TriggerFile

SERIES = {"rtt_ms": "number", "state": "text"}
T0 = 1_777_593_612.0


def samples(values, step_s=1.0) -> Samples:
    made = Samples()
    for place, value in enumerate(values):
        made.add(T0 + step_s * place, {"rtt_ms": value})
    return made


def holds(text, values, **how):
    return Condition(text, SERIES).holds(samples(values, **how))


def test_ten_times_the_mean_of_the_last_ten():
    """S3-N1: the present sample is not in the mean, and ten samples must be there before it."""
    rule = 'rtt_ms > 10.0 * mean("rtt_ms", 10)'
    assert holds(rule, [*[30.0] * 10, 300.1]) is True
    assert holds(rule, [*[30.0] * 10, 300.0]) is False
    assert holds(rule, [*[30.0] * 9, 900.0]) is None
    assert holds(rule, [900.0, *[30.0] * 10, 300.1]) is True  # the eleventh before does not count
    assert holds(rule, [*[30.0] * 10, None]) is None
    assert holds(rule, [None, *[30.0] * 9, 300.1]) is True  # a lost one is in no mean


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('min("rtt_ms", 3) == 20.0 && max("rtt_ms", 3) == 40.0', True),
        ('mean_s("rtt_ms", 2.0) == 35.0', True),
        ('p95("rtt_ms", 3) > 38.9', True),
        ('count_s("rtt_ms", 2.0) == 2.0', True),
        ('count_s("rtt_ms", 9.0) == 2.0', None),
        ('delta("rtt_ms") == 10.0', True),
        ('age_s("rtt_ms") == 0.0 && slot_phase() == 3.0', True),
        ('mean("rtt_ms", 100) > 1.0', None),
        ('mean("rtt_ms", 100) > 1.0 || rtt_ms > 1.0', True),
        ('state == "CONNECTED" && rtt_ms < 1.0', False),
        ('state == "CONNECTED"', None),
        ('mean("rtt_ms", -1) > 1.0', None),
    ],
)
def test_what_functions_say(text, expected):
    assert holds(text, [20.0, 30.0, 40.0, 50.0]) is expected


def test_a_window_with_holes_is_told_from_a_whole_one():
    rule = 'count_s("rtt_ms", 3.0) >= 3.0 && rtt_ms > 2.0 * mean_s("rtt_ms", 3.0)'
    assert holds(rule, [30.0, 30.0, 30.0, 30.0, 90.0]) is True
    assert holds(rule, [30.0, 30.0, None, 30.0, 90.0]) is False
    assert holds('count_s("rtt_ms", 2.0) == 0.0', [30.0, None, None, 90.0]) is True


def test_a_stale_series_is_not_known():
    made = samples([10.0, 20.0, 30.0])
    rule = Condition("rtt_ms > 1.0", SERIES)
    made.add(T0 + 5.0, {"state": "x"})
    assert rule.holds(made) is True
    made.add(T0 + 5.1, {"state": "x"})
    assert rule.holds(made) is None


@pytest.mark.parametrize(
    ("text", "said", "place"),
    [
        ('rtt_ms > "x"', "no matching overload", 7),
        ("rtt > 1.0", "undeclared reference", 0),
        ("rtt_ms > 2", "no matching overload", 7),
        ('mean("rtt", 5) > 1.0', "no series 'rtt'; did you mean 'rtt_ms'", 5),
        ("rtt_ms + 1.0", "type DOUBLE", 0),
        ("rtt_ms >", "Syntax error", 8),
    ],
)
def test_what_does_not_type_check_is_pointed_at(text, said, place):
    with pytest.raises(ConfigError, match=said.replace("(", "\\(")) as error:
        Condition(text, SERIES)
    last = str(error.value).splitlines()[-1]
    assert last == "  " + " " * place + "^"


@pytest.mark.parametrize("text", ["(" * 60 + "true" + ")" * 60, "true || " * 400 + "true"])
def test_expressions_are_bounded(text):
    with pytest.raises(ConfigError, match="2000 at most"):
        Condition(text, SERIES)


def events(trigger: dict, values, step_s=1.0) -> list[tuple[float, str]]:
    made = Trigger.model_validate({"name": "spike", "when": "rtt_ms > 100.0", **trigger})
    machine, known = Machine(made, SERIES), Samples()
    found = []
    for place, value in enumerate(values):
        known.add(T0 + step_s * place, {"rtt_ms": value})
        found += [(one.time_unix_s - T0, one.what) for one in machine.step(known)]
    return found


HIGH, LOW = 200.0, 50.0


def test_a_trigger_fires_once_and_again_when_it_was_armed():
    assert events({}, [LOW, HIGH, HIGH, LOW, HIGH]) == [
        (1.0, "fired"), (3.0, "rearmed"), (4.0, "fired"),
    ]  # fmt: skip


def test_for_means_without_a_break():
    values = [HIGH, HIGH, LOW, HIGH, HIGH, HIGH, HIGH]
    assert events({"for_s": 3.0}, values) == [
        (0.0, "pending"), (2.0, "withdrawn"), (3.0, "pending"), (6.0, "fired"),
    ]  # fmt: skip


def test_what_is_not_known_neither_fires_nor_arms():
    assert events({}, [None, HIGH, None, HIGH])[0] == (1.0, "fired")
    assert len(events({}, [None, HIGH, None, HIGH])) == 1
    assert events({"for_s": 2.0}, [HIGH, HIGH, None, HIGH, HIGH])[-1] == (3.0, "pending")


def test_hysteresis_and_cool_down():
    values = [HIGH, 90.0, HIGH, LOW, HIGH]
    assert events({"rearm": "rtt_ms < 60.0"}, values) == [
        (0.0, "fired"), (3.0, "rearmed"), (4.0, "fired"),
    ]  # fmt: skip
    assert [what for _, what in events({"cooldown_s": 60.0}, [HIGH, LOW] * 30)] == ["fired"]


def test_one_run_at_a_time_and_so_many_a_day():
    run = {"command": ["x"], "seconds": 5.0, "bytes": 100.0}
    assert [what for _, what in events({"run": run}, [HIGH, LOW, HIGH])] == [
        "fired", "rearmed", "held",
    ]  # fmt: skip
    for limit in ({"runs_per_day": 2}, {"bytes_per_day": 250.0}):
        found = events({"run": run, "limit": limit}, [HIGH, LOW] * 4, step_s=10.0)
        assert [what for _, what in found if what != "rearmed"] == [
            "fired", "fired", "limited", "limited",
        ]  # fmt: skip
    daily = events({"limit": {"runs_per_day": 1}}, [HIGH, LOW, HIGH], step_s=43_200.0)
    assert [what for _, what in daily] == ["fired", "rearmed", "fired"]


def test_starts_are_aligned_to_the_slot():
    assert aligned(T0 + 1.0, 2.0) == T0 + 2.0
    assert aligned(T0 + 2.0, 2.0) == T0 + 2.0
    assert aligned(T0 + 2.1, 2.0) == pytest.approx(T0 + 17.0)
    assert aligned(T0 + 2.1, None) == T0 + 2.1


TRIGGERS = """
[series]
rtt_ms = "number"
state = "text"

[[trigger]]
name = "spike"
when = 'rtt_ms > 2.0 * mean("rtt_ms", 5)'
cooldown_s = 20
align = "slot+2s"
run = { command = ["true"], seconds = 10 }
"""


def written(folder, text=TRIGGERS):
    file = folder / "triggers.toml"
    file.write_text(text)
    return file


def log(folder, texts=("CONNECTED",)):
    rows = ["time_unix_s,rtt_ms,state"]
    for place in range(120):
        rtt = 90 if place % 40 == 30 else 30
        rows.append(f'{T0 + place},{rtt},"{texts[place % len(texts)]}"')
    file = folder / "log.csv"
    file.write_text("\n".join(rows) + "\n")
    return file


def test_a_log_replays_to_the_same_firings(tmp_path):
    triggers = read_triggers(written(tmp_path))
    whole: list[Event] = []
    first = list(replay(triggers, read_log(log(tmp_path), triggers.series), whole.append))
    again = list(replay(triggers, read_log(log(tmp_path), triggers.series)))
    assert first == again
    fired = [one for one in first if one.what == "fired"]
    assert [one.time_unix_s - T0 for one in fired] == [30.0, 70.0, 110.0]
    assert [one.start_unix_s - T0 for one in fired] == [32.0, 77.0, 122.0]
    assert [one.time_unix_s for one in whole] == [one.time_unix_s for one in fired]
    times = [when - T0 for when, name, _ in whole[0].context if name == "rtt_ms"]
    assert times == [float(n) for n in range(61)]


INJECTIONS = [
    "; touch hit", "$(touch hit)", "`touch hit`", "| touch hit", "&& touch hit", "-oProxy=touch",
    "'; touch hit; '", "x\\ntouch hit", "%0atouch hit", "{trigger}", "${IFS}touch${IFS}hit",
    '" || true || "', "' + rtt_ms + '", "\\u0000", "../../hit", "__import__('os')", "&& true",
]  # fmt: skip


def test_values_are_data(tmp_path, monkeypatch):
    """Text in a sample neither decides a condition, nor becomes an argument, nor runs."""
    monkeypatch.chdir(tmp_path)
    seen = tmp_path / "seen.json"
    program = "import sys; open(sys.argv[1], 'w').write(sys.stdin.read() + repr(sys.argv[2:]))"
    run = Run(command=(sys.executable, "-c", program, str(seen), "; touch hit", "$(touch hit)"))
    series = TriggerFile.model_validate({
        "series": SERIES,
        "trigger": [{"name": "t", "when": 'state == "true" || rtt_ms > 80.0'}],
    })  # fmt: skip
    rows = [(T0 + n, {"rtt_ms": 30.0, "state": text}) for n, text in enumerate(INJECTIONS)]
    assert list(replay(series, rows)) == []
    (event,) = list(replay(series, [*rows, (T0 + 50, {"rtt_ms": 90.0, "state": "; touch hit"})]))
    assert carry_out(run, event).exit_code == 0
    assert seen.read_text().endswith("['; touch hit', '$(touch hit)']")
    assert sorted(one.name for one in tmp_path.iterdir()) == ["seen.json"]


def test_a_program_that_is_not_there_is_one_sentence():
    event = Event(T0, "t", "fired", T0)
    with pytest.raises(SkyweaveError, match="cannot be started"):
        carry_out(Run(command=("/nowhere/to be found",)), event)


def test_a_program_is_ended_when_its_time_is_over():
    run = Run(
        command=(sys.executable, "-c", "import threading; threading.Event().wait()"), seconds=0.1
    )
    assert carry_out(run, Event(T0, "t", "fired", T0)).exit_code is None


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"slot+2s"', '"slot+16s"', "below slot"),
        ("cooldown_s = 20", "cooldown = 20", "did you mean 'cooldown_s'"),
        ("cooldown_s = 20", "cooldown_s = nan", "cooldown_s"),
        ('["true"]', '"true; touch hit"', "command"),
        ('["true"]', "[]", "command"),
        ('"number"', '"float"', "series"),
        ("rtt_ms >", "rtt >", "undeclared reference"),
        ("[series]", "[series", "no TOML"),
    ],
)
def test_files_that_make_no_sense_are_refused(tmp_path, old, new, said):
    assert old in TRIGGERS
    with pytest.raises(ConfigError, match=said):
        read_triggers(written(tmp_path, TRIGGERS.replace(old, new, 1)))


BAD_LINES = [
    "", "{", "[1]", '{"time_unix_s": "x"}', '{"time_unix_s": 1e999}', '{"rtt_ms": 1}',
    '{"time_unix_s": 1, "rtt_ms": true}',
]  # fmt: skip


@pytest.mark.parametrize("line", BAD_LINES)
def test_rows_that_make_no_sense_are_refused(line):
    with pytest.raises(DataError, match="line 1"):
        list(read_lines([line], SERIES))


def test_logs_that_make_no_sense_are_refused(tmp_path):
    file = tmp_path / "log.csv"
    for text, said in [
        ("time_unix_s,rtt\n1,2\n", "rtt_ms"),
        ("time_unix_s,rtt_ms,state\n1,x,y\n", ":2"),
        ("time_unix_s,rtt_ms,state\n2,1,y\n1,1,y\n", ":3"),
    ]:
        file.write_text(text)
        with pytest.raises(DataError, match=said):
            list(read_log(file, SERIES))


def test_what_triggers_save():
    """S3-N2: 24 h at 40 Mbit/s are 3.456 Tbit, headers 138 Gbit; a tenth saves 3.11 and 124."""
    found = cost(24, 40, 0.1)
    assert found.bits == 3.456e12
    assert round(found.header_bits / 1e9) == 138
    assert found.saved_bits == pytest.approx(3.1104e12)
    assert round(found.saved_header_bits / 1e9) == 124
    with pytest.raises(ConfigError):
        cost(24, 40, 1.5)


def test_the_command_line(tmp_path):
    file, rows = written(tmp_path), log(tmp_path)
    run = CliRunner().invoke
    assert "spike: when" in run(cli.app, ["trigger", "check", str(file)]).stdout
    ran = run(cli.app, ["trigger", "replay", str(file), str(rows), "--out", str(tmp_path / "out")])
    assert ran.exit_code == 0, ran.output
    assert ran.stdout.count("spike fired") == 3
    assert len(list((tmp_path / "out").iterdir())) == 3
    assert "3.456 Tbit" in run(cli.app, ["trigger", "cost"]).stdout
    lines = "".join(
        f'{{"time_unix_s": {T0 + n}, "rtt_ms": {90 if n == 9 else 30}}}\n' for n in range(12)
    )
    ran = run(cli.app, ["trigger", "watch", str(file)], input=lines)
    assert ran.exit_code == 0, ran.output
    assert ran.stdout.count("fired") == 1
