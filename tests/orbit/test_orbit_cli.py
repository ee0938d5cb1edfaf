"""``skyweave orbit``, as people type it."""

import csv
import io
import json

import numpy as np
import pytest
from typer.testing import CliRunner

from skyweave._skyweave import Constellation
from skyweave.cli.orbit import orbit_app
from skyweave.data.traces import read_delay
from skyweave.errors import SkyweaveError
from skyweave.orbit import OrbitSpec, orbit_path
from skyweave.orbit.moment import moment
from skyweave.orbit.path import serve_config
from skyweave.orbit.tables import out_within

TLE = """VANGUARD 1
1 00005U 58002B   00179.78495062  .00000023  00000-0  28098-4 0  4753
2 00005  34.2682 348.7242 1859667 331.7664  19.3264 10.82419157413667
"""
BENT = ("--terminal", "seattle", "--gateway", "47.6,-121", "--constellation", "starlink-53")
ISL = ("--terminal", "chicago", "--to", "tokyo")
POLE = ("--terminal", "90,0", "--gateway", "89,0", "--constellation", "starlink-53")
LIGHT_KM_PER_MS = 299.792458


def invoke(*words):
    result = CliRunner().invoke(orbit_app, [str(word) for word in words])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def run(*words):
    result = invoke(*words)
    assert result.exit_code == 0, result.output
    return result.stdout


def refused(*words):
    with pytest.raises(SkyweaveError) as caught:
        run(*words)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def rows(text):
    return list(csv.DictReader(io.StringIO(text)))


def bent(**change):
    fields = {"terminal": "seattle", "gateways": ["47.6,-121"], "constellation": "starlink-53"}
    return OrbitSpec.model_validate({**fields, **change})


def test_passes_are_those_of_the_core():
    said = run("passes", "--terminal", "chicago", "--constellation", "oneweb", "--first", 5,
               "--start", "2025-01-01T06:00:00", "--duration", 1200)  # fmt: skip
    lines = said.splitlines()
    assert lines[0].startswith("Chicago, 2025-01-01 06:00:00 to 2025-01-01 06:20:00 UTC, above 25°")
    table = [line.split() for line in lines[2:7]]
    constellation = Constellation.built_in("oneweb", 1735689600.0)
    for name, rise, top, azimuth, elevation, gone in table:
        index = constellation.names.index(name)
        assert rise <= top <= gone
        hours, minutes, seconds = (int(part) for part in top.split(":"))
        at = 1735689600 + 3600 * hours + 60 * minutes + seconds
        look = constellation.look_angles(at + 0.5, (41.88, -87.63, 0.0))
        assert look["elevation_deg"][index] == pytest.approx(float(elevation[:-1]), abs=0.1)
        assert look["azimuth_deg"][index] == pytest.approx(float(azimuth[:-1]), abs=1.0)
    assert "more; see --first." in lines[-1]


def test_a_schedule_as_table_csv_and_json(tmp_path):
    words = ("schedule", *BENT, "--gap", 0.2, "--duration", 300)
    said = run(*words, "--first", 3)
    path = orbit_path(bent(gap_s=0.2, step_s=15), 300)
    assert f"{len(path.handovers)} handovers" in said
    assert path.serving[0] in said
    run(*words, "--out", tmp_path / "s.csv")
    table = rows((tmp_path / "s.csv").read_text())
    assert [row["satellite"] for row in table] == list(path.serving)
    assert [float(row["time_s"]) for row in table] == path.serving_times_s.tolist()
    assert table[1]["utc"] == "2025-01-01T00:00:12Z"
    assert sum(int(row["handover"]) for row in table) == len(path.handovers)
    out_s = sum(one.end_s - one.start_s for one in path.outages)
    assert sum(float(row["outage_s"]) for row in table) == pytest.approx(out_s)
    run(*words, "--out", tmp_path / "s.json")
    facts = json.loads((tmp_path / "s.json").read_text())
    assert [one["satellite"] for one in facts["serving"]] == list(path.serving)
    assert len(facts["outages"]) == len(path.outages)
    assert facts["start"] == "2025-01-01T00:00:00Z"


def test_a_day_is_what_a_schedule_covers(tmp_path):
    out = tmp_path / "day.csv"
    run("schedule", *BENT, "--out", out)
    assert len(rows(out.read_text())) == 5761
    assert "exclude each other" in refused("schedule", *BENT, "--hours", 1, "--duration", 60)


def test_no_outage_falls_between_rows():
    path = orbit_path(bent(gap_s=0.2, step_s=7), 300)
    total_s = sum(one.end_s - one.start_s for one in path.outages)
    for begins in ([0.0], path.times_s.tolist(), [0.0, path.outages[0].start_s + 0.05]):
        shares = out_within(path, begins)
        assert sum(share for share, _ in shares) == pytest.approx(total_s)
    assert shares[0] == (pytest.approx(0.05), "handover")
    assert out_within(path, [0.0, path.outages[0].start_s])[0] == (0.0, "")


def test_rtt_as_csv_trace_and_figure(tmp_path):
    words = ("rtt", *BENT, "--gap", 0.2, "--duration", 90, "--extra-rtt", 20)
    table = rows(run(*words))
    path = orbit_path(bent(gap_s=0.2, extra_rtt_ms=20), 90)
    assert [float(row["rtt_ms"]) for row in table] == pytest.approx(path.rtt_ms.tolist(), abs=1e-4)
    marked = [float(row["time_s"]) for row in table if row["outage"] == "handover"]
    assert marked == [one.time_s for one in path.handovers]
    trace, out, figure = (tmp_path / name for name in ("t.txt", "r.csv", "r.png"))
    result = invoke(*words, "--trace", trace, "--out", out, "--figure", figure)
    assert result.exit_code == 0
    assert "a delay trace knows no outages" in result.stderr
    delay = read_delay(trace)
    assert len(trace.read_text().splitlines()) == 9000
    at = np.searchsorted(delay.times_s, 40.5, side="right") - 1
    assert delay.ms[at] == pytest.approx(path.rtt_ms[40] / 2, abs=1e-5)
    assert rows(out.read_text()) == table
    assert figure.read_bytes().startswith(b"\x89PNG")


def test_a_trace_is_as_long_as_the_run(tmp_path):
    run("rtt", *BENT, "--step", 7, "--duration", 20, "--trace", tmp_path / "t.txt")
    assert len((tmp_path / "t.txt").read_text().splitlines()) == 2000


def test_the_way_is_as_long_as_the_rtt_says():
    spec = OrbitSpec.model_validate(
        {"terminal": "chicago", "to": "tokyo", "via": "isl", "policy": "shortest-path"}
    )
    found = moment(spec)
    at = found.unix_s
    over = found.constellation.ecef_km(at)[list(found.way)]
    ends = [
        found.constellation.look_angles(at, place.coordinates)["range_km"][satellite]
        for place, satellite in ((spec.terminal, found.way[0]), (spec.to, found.way[-1]))
    ]
    length_km = sum(ends) + np.linalg.norm(np.diff(over, axis=0), axis=1).sum()
    assert len(found.way) > 3
    assert 2 * length_km / LIGHT_KM_PER_MS == pytest.approx(found.rtt_ms, abs=1e-6)
    config = serve_config(spec, found.at, 15.0)
    assert found.constellation.way(config, 10**6, 0.0) == []


def test_the_landing_is_the_nearest_gateway_in_reach():
    spec = bent(gateways=["0,0", "47.6,-119", "47.6,-121"])
    found = moment(spec)
    landing = found.landing()
    one_way_km = sum(
        found.constellation.look_angles(found.unix_s, p.coordinates)["range_km"][found.way[0]]
        for p in (spec.terminal, landing)
    )
    assert 2 * one_way_km / LIGHT_KM_PER_MS == pytest.approx(found.rtt_ms, abs=1e-6)


@pytest.mark.parametrize("command", ["map", "sky"])
@pytest.mark.parametrize("words", [BENT, ISL, POLE, ("--terminal", "singapore")])
def test_pictures_are_written_whole(command, words, tmp_path):
    out = tmp_path / "p.png"
    said = run(command, *words, "--gso-avoidance", 15, "--out", out)
    assert out.read_bytes().startswith(b"\x89PNG")
    assert ("Outage: no satellite in view." in said) == (words is POLE)
    assert list(tmp_path.iterdir()) == [out]


def test_a_picture_as_svg_is_the_same_twice(tmp_path):
    for name in ("a.svg", "b.svg"):
        run("sky", *BENT, "--out", tmp_path / name)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


def test_without_anybody_in_view_every_row_says_so(tmp_path):
    result = invoke("rtt", *POLE, "--duration", 30, "--step", 10, "--figure", tmp_path / "f.png")
    assert "no path at any time: no satellite in view" in result.stderr
    assert "1 outage: 30 s in all (100 %)" in result.stdout
    table = rows(run("rtt", *POLE, "--duration", 30, "--step", 10))
    assert [tuple(row.values()) for row in table] == [
        (time_s, "", "", "10", "no-satellite") for time_s in ("0", "10", "20")
    ]
    assert "0 passes" in run("passes", *POLE[:2], *POLE[4:])
    assert "cannot say that" in refused("rtt", *POLE, "--duration", 30, "--trace", tmp_path / "t")
    assert not (tmp_path / "t").exists()


def test_a_gateway_out_of_reach_is_an_outage_with_its_reason():
    words = ("--terminal", "seattle", "--gateway", "berlin", "--duration", 30, "--step", 10)
    assert {row["outage"] for row in rows(run("rtt", *words))} == {"no-gateway"}
    said = run("schedule", *words)
    assert "no gateway in reach of a satellite in view" in said


def test_stale_elements_are_said_and_old_ones_refused(tmp_path):
    (tmp_path / "old.tle").write_text(TLE)
    words = ("passes", "--terminal", "lagos", "--constellation", tmp_path / "old.tle")
    result = invoke(*words, "--start", "2000-07-20", "--duration", 7200)
    assert result.exit_code == 0
    assert "1 of 1 satellites have elements more than 14 days" in result.stderr
    assert "--start" not in result.stdout
    assert "raise max_age_days" in refused(*words, "--start", "2025-01-01")
    assert "between 1971 and 2200" in refused("map", *BENT, "--start", "1970-01-01")


def test_bad_files_are_refused(tmp_path):
    def said(name, text):
        (tmp_path / name).write_text(text)
        return refused("passes", "--terminal", "lagos", "--constellation", tmp_path / name)

    assert "bad.tle:3: the checksum" in said("bad.tle", TLE.replace("34.2682", "34.2692"))
    assert "the file is empty" in said("empty.tle", "")
    assert "empty.json" in said("empty.json", "[]")
    assert "empty.csv" in said("empty.csv", "OBJECT_NAME,NORAD_CAT_ID\n")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("rtt", "--terminal", "chicago"), "give --gateway PLACE"),
        (("rtt", "--terminal", "chicgo", "--to", "tokyo"), "--terminal: no place .*'chicago'"),
        (("rtt", "--terminal", "chicago", "--gateway", "osol"), "--gateway: no place .*'oslo'"),
        (("rtt", *ISL, "--gateway", "oslo"), "exclude each other"),
        (("rtt", *BENT, "--gateways", "x.csv"), "--gateway and --gateways exclude"),
        (("rtt", *ISL, "--via", "gateway"), "--to is the far end of isl"),
        (("rtt", "--terminal", "chicago", "--via", "isl"), "--via isl needs the far end"),
        (("rtt", *ISL[:2], "--gateways", "x.kml"), "is no CSV file; .*--gateway PLACE"),
        (("rtt", *ISL[:2], "--gateways", "x.csv"), "x.csv: no such file"),
        (("sky", *ISL, "--constellation", "starlnk"), "did you mean 'starlink'"),
        (("sky", *ISL, "--min-elevation", "95"), r"--min-elevation: .* 90 \(found '95.0'\)"),
        (("sky", *ISL, "--terminal", "91,0"), "--terminal: .* 90 "),
        (("rtt", *ISL, "--slot", "abc"), r"--slot: .*\(found 'abc'\)"),
        (("rtt", *ISL, "--start", "soon"), "--start: is no date .* 2026-05-15T12:00:00"),
        (("rtt", *ISL, "--duration", "-5"), "duration_s = -5"),
        (("passes", *ISL, "--duration", "nan"), "--duration nan"),
        (("schedule", *ISL, "--out", "s.txt"), "are .csv or .json"),
        (("map", *ISL, "--out", "m.pdf"), "are .png or .svg"),
        (("map", *BENT, "--out", "/proc/none/m.png"), "cannot be written"),
        (("rtt", *BENT, "--duration", "5", "--out", "/proc/none/r.csv"), "cannot be written"),
    ],
)
def test_what_makes_no_sense_is_one_sentence(words, sentence):
    with pytest.raises(SkyweaveError, match=sentence) as caught:
        run(*words)
    assert "\n" not in str(caught.value)


def test_what_is_missing_or_unknown_exits_with_2():
    assert invoke("rtt").exit_code == 2
    assert invoke("rtt", *ISL, "--policy", "best").exit_code == 2


def test_defaults_follow_the_other_end(tmp_path):
    run("schedule", *ISL, "--duration", 30, "--out", tmp_path / "s.json")
    orbit = json.loads((tmp_path / "s.json").read_text())["orbit"]
    assert (orbit["via"], orbit["policy"], orbit["step_s"]) == ("isl", "shortest-path", 15)
    run("schedule", *BENT, "--slot", "none", "--duration", 30, "--out", tmp_path / "s.json")
    orbit = json.loads((tmp_path / "s.json").read_text())["orbit"]
    assert (orbit["policy"], orbit["slot_s"], orbit["step_s"]) == ("highest-elevation", None, 1)


def test_real_satellites_and_gateways(real, tmp_path):
    words = ("--constellation", real / "tle_snapshots" / "starlink_15-05-2026.tle.gz",
             "--terminal", "chicago", "--gateways",
             real / "gateways_pops" / "starlink_gateways_pops_2023-10-10.csv")  # fmt: skip
    for command in ("map", "sky"):
        said = run(command, *words, "--gso-avoidance", 18, "--out", tmp_path / "p.png")
        assert "RTT 6.5 ms down to Broadview, IL." in said
        assert "27 of them too close to the GSO arc" in said
