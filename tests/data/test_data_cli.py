"""The data command, as people type it."""

import json

import pytest
from typer.testing import CliRunner

from skyweave.cli.data import data_app
from skyweave.cli.data_tables import duration, number, percent
from skyweave.data import load
from skyweave.errors import SkyweaveError
from skyweave.synthesis import load_preset
from skyweave.synthesis.preset import FOLDER


def run(*words):
    result = CliRunner().invoke(data_app, [str(word) for word in words])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.stdout


def refused(*words):
    with pytest.raises(SkyweaveError) as caught:
        run(*words)
    assert "\n" not in str(caught.value)
    return str(caught.value)


CSV = "time_s,starlink.downlink_mbps,att.downlink_mbps\n0,10,0\n1,0,0\n2,30,5\n3,20,1\n"


def test_list_and_info():
    listing = run("list")
    for name in ("satcell", "leocc_example", "sigmetrics26_alaska", "alaska", "midwest"):
        assert name in listing
    facts = run("info", "starlink_on_the_road")
    assert "CC BY-SA 4.0" in facts
    assert "6be9959c3e3ae9ee43483e8e4775fe3402771f9b" in facts
    assert "did you mean 'satcell'" in refused("info", "satcel")


def test_fetch_shows_the_licence_and_takes_the_local_folder(real):
    said = run("fetch", "leocc_example", "--data", real)
    assert "MIT" in said
    assert str(real / "leocc_example") in said.replace("\n", "")


def test_import_writes_every_drive_or_none(write, tmp_path):
    source = write("d.csv", CSV)
    run("import", source, "--out", tmp_path / "out")
    (back,) = load(tmp_path / "out" / "d.csv")
    assert back.paths["att"].downlink_mbps.values.tolist() == [0, 0, 5, 1]
    assert "is not an empty folder" in refused("import", source, "--out", tmp_path / "out")
    assert "cannot be written" in refused("import", source, "--out", source / "below")


def test_import_with_columns_and_format(write, tmp_path):
    source = write("log.csv", "t,rate\n0,1\n1,2\n")
    run("import", source, "--out", tmp_path / "o", "--column", "t=time_s",
        "--column", "rate=sl.downlink_mbps")  # fmt: skip
    assert load(tmp_path / "o" / "log.csv")[0].paths["sl"].downlink_mbps.values.tolist() == [1, 2]
    assert "is not OWN=PLAIN" in refused("import", source, "--out", tmp_path / "p", "--column", "t")
    assert "did you mean 'csv'" in refused("stats", source, "--format", "cvs")


def test_stats_as_table_and_json(write):
    source = write("d.csv", CSV)
    table = run("stats", source)
    assert "Downlink, Mbit/s" in table
    assert "Two paths at once" in table
    facts = json.loads(run("stats", source, "--json"))
    starlink = facts["series"][0]
    assert (starlink["path"], starlink["n"], starlink["median"]) == ("starlink", 4, 15)
    assert starlink["zero"] == 0.25
    assert facts["pairs"][0]["both_zero"] == 0.25


def test_json_has_no_nan(write):
    source = write("d.csv", "time_s,a.downlink_mbps,b.downlink_mbps\n0,1,1\n1,1,2\n")
    assert json.loads(run("stats", source, "--json"))["pairs"][0]["correlation"] is None


def test_stats_of_a_preset():
    facts = json.loads(run("stats", "alaska", "--json"))
    assert facts["synthetic"]
    assert facts["drives"] == 60
    assert {slot["path"]: slot["found"] for slot in facts["slots"]}["starlink"]


def test_stats_of_nothing_known():
    assert "did you mean 'alaska'" in refused("stats", "alaskas")


@pytest.mark.parametrize("place", ["satcell", "satcell/aligned_udp_dl_1s.csv.gz"])
def test_stats_of_satcell(real, place):
    said = run("stats", real / place)
    assert "16 drives" in said
    assert ":11, :26, :41, :56" in said
    assert "verizon" in said


def test_stats_of_a_set_by_name(real):
    facts = json.loads(run("stats", "satcell", "--data", real, "--json"))
    assert facts["drives"] == 16


def test_plot_of_measured_and_synthetic_drives(write, tmp_path):
    for source in (write("d.csv", CSV), "hawaii"):
        out = tmp_path / "p.png"
        run("plot", source, "--out", out)
        assert out.read_bytes().startswith(b"\x89PNG")
    said = refused("plot", write("d.csv", CSV), "--out", tmp_path / "x.png", "--drive", "e")
    assert "drive 'e' is not in there" in said
    assert "cannot be written" in refused("plot", "alaska", "--out", "/proc/nowhere/x.png")


def test_plot_of_satcell(real, tmp_path):
    out = tmp_path / "p.png"
    run("plot", real / "satcell", "--out", out, "--drive", "satcell-udp-37")
    assert out.stat().st_size > 20_000


def test_synthesise_is_the_same_twice(tmp_path):
    for name in ("a.csv", "b.csv"):
        run("synthesise", "alaska", "--seed", 5, "--duration-s", 30, "--out", tmp_path / name)
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    (back,) = load(tmp_path / "a.csv")
    assert back.synthetic
    assert back.duration_s == 30
    assert "did you mean" in refused("synthesise", "alasca", "--out", tmp_path / "c.csv")


def test_calibrate_prints_both_and_writes_a_preset(real, tmp_path):
    out = tmp_path / "midwest.toml"
    said = run("calibrate", "--data", real, "--repeats", 1, "--write", out)
    assert "synthetic" in said
    assert load_preset(out) == load_preset("midwest")
    assert "did you mean" in refused("calibrate", "--preset", "midwst")


@pytest.mark.parametrize("name", ["alaska", "hawaii"])
def test_calibrating_to_run_means_reproduces_the_committed_file(name, tmp_path):
    out = tmp_path / "again.toml"
    said = run("calibrate", "--preset", name, "--write", out)
    assert "quantiles over run means" in said
    assert "published" in said
    assert out.read_text() == (FOLDER / f"{name}.toml").read_text()


def test_numbers_for_people():
    assert [number(v) for v in (0, 0.05, 1.234, 12.34, 1234.5, float("nan"))] == [
        "0", "0.05", "1.23", "12.3", "1,234", "-",
    ]  # fmt: skip
    assert [percent(v) for v in (0, 0.00001, 0.012, 0.5)] == ["0 %", "< 0.01 %", "1.20 %", "50.0 %"]
    assert [duration(v) for v in (90, 600, 9672)] == ["90 s", "10 min", "2 h 41 min"]
