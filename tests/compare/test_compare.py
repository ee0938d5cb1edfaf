"""``skyweave compare``: two logs in, a study, a table and a report out."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
from made_logs import START, UNIX_S, write_log
from typer.testing import CliRunner

from skyweave.cli.app import app
from skyweave.comparison import Choices, Reading, gather, network_of, prepare, study_text
from skyweave.errors import ConfigError, DataError, SkyweaveError
from skyweave.study.language.plan import load_plan
from skyweave.study.run.session import StudyOptions
from skyweave.study.run.session import prepare as prepare_study

STEADY = [3.0] * 30


@pytest.fixture
def log(tmp_path):
    return lambda name, mbps, at_s=UNIX_S: write_log(tmp_path / name, mbps, at_s)


def run(*words):
    result = CliRunner().invoke(app, ["compare", *map(str, words)], env={"COLUMNS": "100"})
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.stdout


def test_two_logs_give_an_answer_with_one_command(log, tmp_path):
    files = [log("starlink.csv", [4.0] * 20), log("verizon.csv", [2.0] * 25)]
    out = tmp_path / "out"
    said = run(*files, "--out", out, "--rtt", "40,60", "--congestion", "bbr")
    for part in (
        "starlink.csv, verizon.csv: 'timestamp' is Unix time in s; 'mbps' is downlink in mbps",
        "Starlink + Verizon",
        "mptcp upstream, upstream, bbr",
        "mpquic, weave, bbr",
        "more than Starlink alone",
        "Preliminary: 1 piece",
        str(out / "report.html"),
    ):
        assert part in said
    assert "Starlink" in (out / "report.html").read_text()
    plan = load_plan(out / "study.toml")
    assert [spec.rtt_ms for spec in plan.paths.values()] == [40, 60]
    assert [spec.kind for spec in plan.paths.values()] == ["satellite", "cellular"]
    assert plan.settings.air == ("both",)
    again = prepare_study(out / "study.toml", StudyOptions(out=tmp_path / "again"))
    assert {job.key for job in again.jobs} == {one.name for one in (out / "records").iterdir()}


def test_the_air_is_off_where_one_says_so(log):
    gathered = gather([log("starlink.csv", STEADY * 3), log("verizon.csv", STEADY * 3)])
    assert 'air = "both"' in study_text(gathered, Choices())
    without = study_text(gathered, Choices(air=False))
    assert 'air = "none"' in without
    assert "Nothing is lost on the air" in without


def test_logs_are_laid_over_each_other_by_their_utc(log):
    files = [log("starlink.csv", range(100)), log("verizon.csv", range(100), UNIX_S + 30)]
    (drive,) = gather(files).drives
    assert drive.start == START + timedelta(seconds=30)
    assert drive.duration_s == 70
    assert drive.paths["SL"].downlink_mbps.values.tolist() == list(range(30, 100))
    assert drive.paths["VZ"].downlink_mbps.values.tolist() == list(range(70))


def test_a_shift_corrects_a_clock(log):
    files = [log("starlink.csv", range(100)), log("verizon.csv", range(100), UNIX_S + 3600)]
    with pytest.raises(DataError, match="never logged at the same time"):
        gather(files)
    (drive,) = gather(files, Reading(shift_s=(3600.0, 0.0))).drives
    assert drive.duration_s == 100


def test_logs_without_a_date_are_aligned_only_when_that_is_wanted(log):
    files = [log("starlink.csv", range(70), 5), log("verizon.csv", range(70), 0)]
    with pytest.raises(DataError, match=r"starlink\.csv: has no absolute time.*--align start"):
        gather(files)
    (drive,) = gather(files, Reading(align="start")).drives
    assert drive.start is None
    assert drive.paths["SL"].downlink_mbps.values[0] == 0


def test_short_gaps_are_not_logged_and_long_ones_end_a_drive(tmp_path, log):
    seconds = [*range(100), *range(110, 200), *range(400, 500)]
    rows = "".join(f"{UNIX_S + second},5\n" for second in seconds)
    gappy = tmp_path / "starlink.csv"
    gappy.write_text("timestamp,mbps\n" + rows)
    found = gather([gappy, log("verizon.csv", [5.0] * 500)])
    assert [drive.duration_s for drive in found.drives] == [200, 100]
    values = found.drives[0].paths["SL"].downlink_mbps
    assert np.isnan(values.values[100])
    assert values.times_s[100] == 100
    assert "1 gap in the log, 10 s in all" in found.notes[0]
    assert "1 gap in the log, 200 s in all" in found.notes[1]


def test_the_study_says_what_it_was_made_from(log, tmp_path):
    files = [log("starlink.csv", [50.0] * 600), log("mydish.csv", [40.0] * 600)]
    found = gather(files, Reading(kinds=("satellite", "satellite")))
    text = study_text(found, Choices(schedulers=("upstream", "blest"), transports=("mptcp",)))
    assert "max_segments" in text
    assert "not measured: Starlink on the Road" in text
    assert text.index('mode = "upstream"') < text.index('mode = "v0.96"')
    everything = study_text(found, Choices(pieces=0))
    assert "max_segments" not in everything
    assert '"mydish"' in everything


def test_names_of_files_are_data(log, tmp_path):
    odd = log('star"link]\x1b[2J\n.csv', STEADY)
    prepare(gather([odd, log("verizon.csv", STEADY)]), tmp_path / "out", Choices())
    plan = load_plan(tmp_path / "out" / "study.toml")
    assert len(plan.paths) == 2
    assert "\x1b" not in (tmp_path / "out" / "study.toml").read_text()


def test_another_study_in_the_folder_is_not_written_over(log, tmp_path):
    found = gather([log("starlink.csv", STEADY), log("verizon.csv", STEADY)])
    out = tmp_path / "out"
    prepare(found, out, Choices())
    prepare(found, out, Choices())
    edited = (out / "study.toml").read_text() + "# mine\n"
    (out / "study.toml").write_text(edited)
    with pytest.raises(
        ConfigError, match=r"holds another study \(study\.toml\); give another --out"
    ):
        prepare(found, out, Choices())
    assert (out / "study.toml").read_text() == edited
    prepare(found, out, Choices(), restart=True)
    assert "# mine" not in (out / "study.toml").read_text()


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--rtt", "44"], "--rtt: has 1 values for 2"),
        (["--rtt", "fast,slow"], "--rtt fast,slow: must be numbers"),
        (["--kind", "starlink,cellular"], "--kind starlink: is unknown"),
        (["--transport", "udp"], "--transport udp: is unknown"),
        (["--congestion", "cubik"], "no congestion control is called 'cubik'"),
        (["--scheduler", "blast"], "no scheduler is called 'blast'"),
        (["--shift", "1"], "--shift: has 1 values for 2"),
        (["--shift", "nan,0"], "--shift nan,0: must be numbers"),
        (["--shift", "1e30,0"], "--shift 1e30,0: must be numbers"),
        (["--piece-s", "1e9"], "--piece-s 1e+09: must be from 1 s to a week"),
        (["--column", "mbps"], "--column mbps: is not OWN=PLAIN"),
    ],
)
def test_bad_options_are_refused(log, tmp_path, words, complaint):
    files = [log("starlink.csv", STEADY), log("verizon.csv", STEADY)]
    with pytest.raises(SkyweaveError) as caught:
        run(*files, "--out", tmp_path / "out", *words)
    assert complaint in str(caught.value)


def test_one_network_has_nothing_to_be_compared_with(log):
    with pytest.raises(DataError, match="alone has nothing to be compared with"):
        gather([log("starlink.csv", STEADY)])


@pytest.mark.parametrize(
    ("name", "key", "kind"),
    [
        ("starlink_2024-06-01", "SL", "satellite"),
        ("AT&T-log", "AT", "cellular"),
        ("t-mobile_dl", "TM", "cellular"),
        ("my 5G modem", "my-5g-modem", "cellular"),
        ("\x00<b>", "b", "other"),
        ("2024", "2024", "other"),
    ],
)
def test_networks_are_known_by_their_names(name, key, kind):
    assert (network_of(name).key, network_of(name).kind) == (key, kind)


def test_paths_of_drives_are_absolute_nowhere(log, tmp_path):
    found = gather([log("starlink.csv", STEADY), log("verizon.csv", STEADY)])
    prepare(found, tmp_path / "out", Choices())
    text = (tmp_path / "out" / "study.toml").read_text()
    assert str(Path(tmp_path)) not in text
