"""One recorder serves its files and all sources of triggers; no reader makes it wait."""

from __future__ import annotations

import json
import math
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skyweave.errors import ConfigError
from skyweave.telemetry.address import listen_locally
from skyweave.telemetry.dish import feed as module
from skyweave.telemetry.dish.client import Dish as Client
from skyweave.telemetry.dish.feed import FED, Feed, Tee, fed
from skyweave.telemetry.dish.record import Options, Recorder
from skyweave.telemetry.dish.status import PLACE
from skyweave.telemetry.store import Store, read
from skyweave.triggers import read_triggers
from skyweave.triggers.sources import Dish

T0 = 1_777_593_612.0
HELLO = b'{"feed": "skyweave-dish", "pixels": false}\n'


@pytest.fixture(autouse=True)
def here(monkeypatch):
    """Clocks stand where a test puts them, and nobody waits before trying again."""
    monkeypatch.setattr(module, "MOST_OFF_S", math.inf)
    monkeypatch.setattr(module, "RETRY_S", 0.0)


def line(time_s: object, kind: str = "status", **said: object) -> bytes:
    return json.dumps({"kind": kind, "row": {"time_unix_s": time_s, **said}}).encode() + b"\n"


@contextmanager
def saying(name: Path, *connections: bytes) -> Iterator[None]:
    """Be a recorder that says so much in each connection, and then is gone."""

    def serve() -> None:
        with listener:
            for said in connections:
                end, _ = listener.accept()
                with end, suppress(BrokenPipeError):
                    end.sendall(said)

    listener = listen_locally(name)
    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield
    finally:
        thread.join()


def connected(name: Path) -> socket.socket:
    end = socket.socket(socket.AF_UNIX)
    end.connect(str(name))
    return end


@pytest.mark.waits
def test_what_is_fed_is_what_is_stored_but_the_location(fake, clock, tmp_path):
    began, heard = clock.now, b""
    dish, store = fake(), Store(tmp_path / "dish")
    with (
        Feed(tmp_path / "s", pixels=True) as feed,
        connected(feed.name) as end,
        Client(dish.host, timeout_s=60) as client,
    ):
        recorder = Recorder(client, Tee(feed.take, store), Options(True, location=True))
        for half in range(60):
            clock.now = began + half / 2
            recorder.tick(half / 2, clock.now)
            heard += end.recv(10**6) if half % 2 == 0 else b""
        recorder.finish(30.0, clock.now)
    stop, found = threading.Event(), []
    with saying(tmp_path / "again", heard):
        for kind, row in fed(tmp_path / "again", stop, lambda _: stop.set(), pixels=True):
            found.append((kind, row))
    for kind in FED:
        rows = [row for said, row in found if said == kind]
        kept = read(tmp_path / "dish", kind, FED[kind]).head(len(rows))
        assert len(rows) >= 29 if kind == "status" else len(rows) > 0
        assert pl.DataFrame(rows, schema=FED[kind]).equals(kept)
    assert not set(PLACE) & set(FED["status"])
    assert not feed.name.exists()


@pytest.mark.waits
def test_a_source_is_fed_and_says_what_one_that_asks_would(tmp_path):
    """Its samples are those of the rows, and an interruption is no turn."""
    stop, said = threading.Event(), []
    source = Dish(kind="dish", feed=str(tmp_path / "s"))

    def keep(time_s, row):
        said.append((time_s, dict(row)))
        if len(said) == 2:
            stop.set()

    rows = line(T0, ping_latency_ms=31.5), line(T0 + 1, state="NO_SATS")
    with saying(tmp_path / "s", HELLO + rows[0] + rows[1]):
        source.run(keep, stop, lambda _: None)
    nothing = dict.fromkeys(Dish.offers)
    assert said == [
        (T0, nothing | {"ping_latency_ms": 31.5}), (T0 + 1, nothing | {"state": "NO_SATS"}),
    ]  # fmt: skip


@pytest.mark.waits
def test_a_recorder_that_comes_back_leaves_a_gap(tmp_path):
    stop, warned = threading.Event(), []
    with saying(tmp_path / "s", HELLO + line(T0), HELLO + line(T0 + 9) + line(T0 + 10)):
        rows = fed(tmp_path / "s", stop, warned.append)
        gaps = [row["gap_s"] for _, row in islice(rows, 3)]
        stop.set()
        assert list(rows) == []
    assert gaps == [None, 9.0, None]
    assert "no recorder feeds it" in warned[0]


@pytest.mark.waits
def test_a_recorder_without_a_map_is_said_to_who_needs_one(tmp_path):
    for pixels, sentences in ((True, 1), (False, 0)):
        stop, warned = threading.Event(), []
        with saying(tmp_path / "s", HELLO + line(T0)):
            rows = fed(tmp_path / "s", stop, warned.append, pixels)
            next(rows)
            stop.set()
        assert sum("--satellites" in one for one in warned) == sentences


@pytest.mark.waits
@pytest.mark.parametrize(
    "bad",
    [
        b"\n", b"{\n", b"[]\n", b"[" * 90_000 + b"\n", b"\xff\xfe\n", b'{"kind": []}\n',
        b'{"kind": "status", "row": 3}\n', b'{"kind": "history", "row": {}}\n',
        line("now"), line(None), line(True), line(10**400), line(float("nan")),
    ],
)  # fmt: skip
def test_what_is_no_row_is_left_out(bad, tmp_path):
    stop = threading.Event()
    with saying(tmp_path / "s", bad + line(T0)):
        kind, row = next(fed(tmp_path / "s", stop, lambda _: None))
    assert (kind, row["time_unix_s"]) == ("status", T0)


@pytest.mark.waits
def test_a_line_without_an_end_ends_the_connection(tmp_path):
    stop = threading.Event()
    with saying(tmp_path / "s", b"x" * 300_000, line(T0)):
        assert next(fed(tmp_path / "s", stop, lambda _: None))[1]["time_unix_s"] == T0


def test_rows_of_another_time_are_left_out(monkeypatch):
    monkeypatch.setattr(module, "MOST_OFF_S", 60.0)
    facts = json.loads(line(T0))
    assert module._row(facts, T0 + 60) is not None
    assert module._row(facts, T0 + 61) is None


@given(st.dictionaries(
    st.sampled_from([*FED["status"], "x"]),
    st.none() | st.booleans() | st.floats() | st.integers() | st.text() | st.lists(st.integers()),
))  # fmt: skip
def test_a_row_has_its_columns_and_their_types(said):
    row = module._row({"kind": "status", "row": said | {"time_unix_s": T0}}, T0)
    assert list(row) == list(FED["status"])
    pl.DataFrame([row], schema=FED["status"], strict=True)


def test_a_reader_that_does_not_read_is_let_go(tmp_path):
    with Feed(tmp_path / "s", pixels=False) as feed:
        with connected(feed.name), connected(feed.name) as good:
            for number in range(5000):
                feed.take("status", {"time_unix_s": T0 + number, "alerts": "x" * 1000})
                assert good.recv(10**6)
            assert len(feed._readers) == 1
        feed.take("status", {"time_unix_s": T0})
        assert feed._readers == []


def test_two_recorders_do_not_share_a_socket(tmp_path):
    with (
        Feed(tmp_path / "s", pixels=False),
        pytest.raises(ConfigError, match="another publisher is there"),
    ):
        Feed(tmp_path / "s", pixels=False)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ('kind = "dish"\nhost = "a:1"', "leave out host"),
        ('kind = "movement"\nkeep = "x"', "leave out keep"),
        ('kind = "serving"\nterminal = "seattle"\nconstellation = "starlink"\nclear_map_s = 60',
         "leave out clear_map_s"),
    ],
)  # fmt: skip
def test_a_source_that_is_fed_asks_no_dish(options, said, tmp_path):
    file = tmp_path / "triggers.toml"
    file.write_text(
        f'[source.here]\n{options}\nfeed = "dish.sock"\n[[trigger]]\nname = "a"\nwhen = "true"\n'
    )
    with pytest.raises(ConfigError, match=said):
        read_triggers(file)
