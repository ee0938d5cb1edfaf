"""Sources say what they offer, refuse what they cannot be, and read what comes without trust."""

from __future__ import annotations

import json
import socket
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from skyweave.cli import app as cli
from skyweave.errors import ConfigError, DataError, SkyweaveError
from skyweave.orbit.catalogue import load_constellation
from skyweave.telemetry.probes.echo import EchoServer, listen
from skyweave.telemetry.probes.pinger import Sample
from skyweave.triggers import Machine, Samples, TriggerFile, read_triggers, replay
from skyweave.triggers import watch as watched
from skyweave.triggers.language import Condition
from skyweave.triggers.replay import as_line, read_log
from skyweave.triggers.sources import KINDS
from skyweave.triggers.sources import weather as module
from skyweave.triggers.sources.dish import turn_deg
from skyweave.triggers.sources.probes import Probes
from skyweave.triggers.sources.satellites import Satellites
from skyweave.triggers.sources.weather import Weather, parse
from skyweave.triggers.watch import Watch

T0 = 1_777_593_612.0
REPORT = Path(__file__).parent / "data" / "weather.json"
OPTIONS = {
    "probes": 'icmp = "100.64.0.1"',
    "dish": "",
    "movement": "",
    "serving": 'terminal = "seattle"\nconstellation = "starlink"',
    "satellites": 'terminal = "seattle"\nconstellation = "starlink"',
    "weather": 'file = "weather.json"',
}


def written(folder, source: str, when: str = "true") -> Path:
    file = folder / "triggers.toml"
    file.write_text(f"{source}\n[[trigger]]\nname = 'spike'\nwhen = '{when}'\n")
    return file


def test_each_kind_of_source_is_tried_here():
    assert list(OPTIONS) == list(KINDS)


@pytest.mark.parametrize("kind", OPTIONS)
def test_expressions_know_the_series_of_a_source(kind, tmp_path):
    table = f'[source.here]\nkind = "{kind}"\n{OPTIONS[kind]}\n'
    for name, offer in KINDS[kind].offers.items():
        value = "1.0" if offer.kind == "number" else '"x"'
        found = read_triggers(written(tmp_path, table, f"here_{name} == {value}"))
        assert found.known[f"here_{name}"] == offer.kind
    with pytest.raises(ConfigError, match="undeclared reference"):
        read_triggers(written(tmp_path, table, "here_nothing > 1.0"))
    listed = CliRunner().invoke(cli.app, ["trigger", "sources"])
    assert kind in listed.stdout


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ('kind = "sonar"', "kind"),
        ('kind = "probes"', "give one of icmp, udp, tcp and dns"),
        ('kind = "probes"\nicmp = "a"\ntcp = "b:1"', "give one of icmp, udp, tcp and dns"),
        ('kind = "probes"\nicmp = "a"\ninterval_s = 0.001', "interval_s"),
        ('kind = "probes"\nicmp = "a"\ninterval = 1', "did you mean 'interval_s'"),
        ('kind = "weather"', "either file or url"),
        ('kind = "weather"\nurl = "file:///etc/passwd"', "url"),
        ('kind = "satellites"\nterminal = "atlantis"\nconstellation = "starlink"', "atlantis"),
        ('kind = "serving"\nterminal = "seattle"', "constellation"),
    ],
)
def test_sources_that_make_no_sense_are_refused(table, said, tmp_path):
    with pytest.raises(ConfigError, match=said):
        read_triggers(written(tmp_path, f"[source.here]\n{table}\n"))


def test_a_name_with_a_hyphen_would_be_a_subtraction(tmp_path):
    with pytest.raises(ConfigError, match="source"):
        read_triggers(written(tmp_path, '[source.a-b]\nkind = "dish"\n'))


def test_a_probe_counts_when_it_is_known():
    source = Probes(kind="probes", icmp="192.0.2.1", timeout_s=2.0)
    name = "icmp:192.0.2.1"
    assert source.known(Sample(T0, name, 0, 250.0)) == (T0 + 0.25, {"rtt_ms": 250.0, "lost": 0.0})
    assert source.known(Sample(T0, name, 1, None)) == (T0 + 2.0, {"rtt_ms": None, "lost": 1.0})
    refused = source.known(Sample(T0, name, 2, None, "Network is unreachable"))
    assert refused == (T0, {"rtt_ms": None, "lost": None})


def test_what_is_in_view_depends_on_the_mask():
    sky = load_constellation("starlink")
    seen = [
        Satellites(
            kind="satellites", terminal="seattle", constellation="starlink", min_elevation_deg=mask
        )._seen(sky, T0)
        for mask in (10.0, 25.0, 60.0, 89.9)
    ]
    counts = [one["visible"] for one in seen]
    assert counts == sorted(counts, reverse=True)
    assert counts[0] > counts[2] > 0
    assert seen[0]["highest_deg"] == seen[2]["highest_deg"] > 60
    assert 500 < seen[0]["nearest_km"] < 700
    assert seen[-1] | {"age_days": 0} == {
        "visible": 0.0, "highest_deg": None, "nearest_km": None, "age_days": 0,
    }  # fmt: skip


def test_a_turn_is_the_angle_between_two_attitudes():
    level = (0.0, 2**-0.5, -(2**-0.5), 0.0)
    assert turn_deg(level, level) == pytest.approx(0.0, abs=1e-5)
    assert turn_deg((1.0, 0.0, 0.0, 0.0), (0.9961947, 0.0871557, 0.0, 0.0)) == pytest.approx(10.0)


def test_a_report_of_the_weather_is_read():
    assert parse(REPORT.read_bytes(), "here") == {
        "temperature_c": 11.4, "precipitation_mm": 1.2, "rain_mm": 1.2, "snowfall_cm": 0.0,
        "cloud_percent": 100.0, "wind_kmh": 14.8,
    }  # fmt: skip


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b"null", b'{"current": 3}', b'{"current": []}', b"\xff" * 9, b"[" * 90_000,
     b" " * 300_000],
)  # fmt: skip
def test_what_is_no_report_is_one_sentence(body):
    with pytest.raises(DataError, match="is no weather report"):
        parse(body, "here")


def test_values_that_are_no_numbers_are_null():
    rain = {"rain": "1; touch hit", "precipitation": True, "snowfall": None, "cloud_cover": 10**400}
    found = parse(json.dumps({"current": rain}).encode() + b" ", "here")
    assert set(found.values()) == {None}
    assert parse(b'{"current": {"rain": NaN}}', "here")["rain_mm"] is None


@given(st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(
        st.sampled_from(["current", "rain", "cloud_cover", "x"]), inner, max_size=4),
))  # fmt: skip
def test_a_report_is_numbers_or_refused(content):
    try:
        found = parse(json.dumps(content).encode(), "here")
    except DataError:
        return
    assert list(found) == list(Weather.offers)
    assert all(value is None or abs(value) < float("inf") for value in found.values())


def test_a_file_that_is_not_there_is_warned_of(tmp_path):
    with pytest.raises(DataError, match="no weather available"):
        Weather(kind="weather", file=str(tmp_path / "none.json")).read()


@pytest.mark.waits
def test_the_weather_of_a_server(monkeypatch):
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = REPORT.read_bytes() if self.path == "/now" else b"x" * 2_000_000
            self.send_response(200)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None: ...

    monkeypatch.setattr(module, "TIMEOUT_S", 60.0)
    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_address[1]}"
        try:
            assert Weather(kind="weather", url=f"{url}/now").read()["rain_mm"] == 1.2
            with pytest.raises(DataError, match="is no weather report"):
                Weather(kind="weather", url=f"{url}/long").read()
        finally:
            server.shutdown()


def test_an_hour_of_samples_costs_a_window_no_more():
    samples, rule = Samples(), Condition('mean_s("rtt_ms", 5.0) == 7.0', {"rtt_ms": "number"})
    for number in range(40_000):
        samples.add(T0 + number / 10, {"rtt_ms": 7.0 if number >= 39_900 else 1e9})
    assert rule.holds(samples)
    assert len(samples.within("rtt_ms", 5.0)) == 50


def loopback_triggers(folder, port: int) -> TriggerFile:
    (folder / "weather.json").write_bytes(REPORT.read_bytes())
    text = f"""
[source.own]
kind = "probes"
udp = "127.0.0.1:{port}"
interval_s = 0.02

[source.sky]
kind = "weather"
file = "{folder / "weather.json"}"

[[trigger]]
name = "answered"
when = 'own_rtt_ms > 0.0 && sky_rain_mm > 1.0'
rearm = 'false'
"""
    file = folder / "triggers.toml"
    file.write_text(text)
    return read_triggers(file)


@pytest.mark.waits
def test_sources_run_side_by_side_and_their_log_replays(tmp_path):
    bell, rope = socket.socketpair()
    with bell, rope, listen("127.0.0.1", 0) as mine:
        server = threading.Thread(target=EchoServer().serve, args=(mine, bell))
        server.start()
        triggers = loopback_triggers(tmp_path, mine.getsockname()[1])
        stop, rows, first = threading.Event(), [], []
        machine, samples = Machine(triggers.trigger[0], triggers.known), Samples()
        for row in Watch(triggers, stop).rows():
            rows.append(row)
            samples.add(*row)
            first += machine.step(samples)
            if first and len(rows) > 50:
                stop.set()
        rope.send(b"!")
        server.join()
    times = [when for when, _ in rows]
    assert times == sorted(times)
    log = tmp_path / "log.jsonl"
    log.write_text("".join(as_line(row) + "\n" for row in rows))
    again = list(replay(triggers, read_log(log, triggers.known)))
    assert [one.what for one in again] == ["fired"]
    assert again == first


@pytest.mark.waits
def test_samples_that_nobody_looks_at_are_counted_and_said(tmp_path, monkeypatch):
    """A source that is faster than what looks at its samples fills no memory."""
    monkeypatch.setattr(watched, "MOST_WAITING", 10)
    (tmp_path / "weather.json").write_bytes(REPORT.read_bytes())

    def flood(self, keep, stop, warn) -> None:
        for number in range(1000):
            keep(T0 + number, {"rain_mm": 1.0})
        done.set()

    done, stop, said = threading.Event(), threading.Event(), []
    monkeypatch.setattr(Weather, "run", flood)
    source = '[source.sky]\nkind = "weather"\nfile = "weather.json"\n'
    watch = Watch(read_triggers(written(tmp_path, source)), stop, said.append)
    rows = watch.rows()
    next(rows)
    done.wait()
    stop.set()
    list(rows)
    assert 900 < watch.lost < 1000
    assert said == [f"{watch.lost} samples came faster than they could be looked at: lost"]


@pytest.mark.waits
def test_a_source_that_can_never_work_ends_the_watch(tmp_path):
    source = '[source.own]\nkind = "probes"\nudp = "no such name.invalid:1"\n'
    triggers = read_triggers(written(tmp_path, source))
    with pytest.raises(SkyweaveError, match="the name is not known"):
        list(Watch(triggers, threading.Event()).rows())
