"""A publisher serves who asks and who listens, and nobody who is slow makes others wait."""

from __future__ import annotations

import contextlib
import json
import random
import socket
import stat
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import skyweave as sw
from skyweave.awareness import Awareness, Publisher
from skyweave.awareness import reader as module
from skyweave.awareness.reader import Reader, row_of
from skyweave.errors import ConfigError
from skyweave.forecast import ForecastFile
from skyweave.model.forecast import Forecast
from skyweave.model.windows import ForecastWindow

START_S = 1000.0


def known(start_s: float = START_S, probability: float = 0.8) -> ForecastFile:
    outage = ForecastWindow(start_s=2.0, end_s=3.0, probability=probability)
    return ForecastFile(
        source="s", method="m", start_unix_s=start_s, end_unix_s=start_s + 60.0,
        forecast=Forecast(outages=(outage,)),
    )  # fmt: skip


@pytest.fixture
def publisher(tmp_path):
    with Publisher(tmp_path / "s") as made:
        yield made


@given(st.lists(st.integers(0, 40), max_size=60), st.integers(1, 30))
def test_what_a_reader_gets_is_whole_rows_in_order(takes, count):
    """However little it takes at a time, its stream is rows, and gaps are said where they are."""
    taken, left = bytearray(), iter(takes)

    def send(data: bytes) -> int:
        size = min(next(left, 0), len(data))
        taken.extend(data[:size])
        return size

    reader = Reader(send)
    rows = [row_of("samples", json.dumps({"n": number})) for number in range(count)]
    for row in rows:
        reader.push(row)
        reader.pump()
    reader._send = lambda data: taken.extend(data) or len(data)
    reader.pump()
    assert bytes(taken) == b"".join(rows)
    assert reader.lost_rows == 0


def test_a_reader_that_takes_nothing_loses_the_oldest(monkeypatch):
    monkeypatch.setattr(module, "MOST_ROWS", 10)
    taken = bytearray()
    able = [0]

    def send(data: bytes) -> int:
        taken.extend(data[: able[0]])
        return min(able[0], len(data))

    reader = Reader(send)
    for number in range(1000):
        reader.push(row_of("samples", str(number)))
    assert reader.lost_rows == 989
    able[0] = 10**9
    reader.pump()
    said = taken.decode().split("\n\n")
    assert said[0] == "event: samples\ndata: 0"  # it had begun to leave
    assert said[1] == 'event: lost\ndata: {"rows": 989}'
    assert said[2] == "event: samples\ndata: 990"
    assert said[-2] == "event: samples\ndata: 999"


def test_a_reader_says_once_that_it_begins_to_wait():
    """Where the socket is full, the row waits whole, and the thread is told of it one time."""
    full, taken = [True], bytearray()

    def send(data: bytes) -> int:
        if full[0]:
            raise BlockingIOError
        taken.extend(data)
        return len(data)

    reader = Reader(send)
    assert [reader.push(row) for row in (b"a", b"b", b"c")] == [True, False, False]
    reader.pump()
    assert (bytes(taken), reader.waits) == (b"", True)
    full[0] = False
    reader.pump()
    assert (bytes(taken), reader.waits) == (b"abc", False)
    assert reader.push(b"d") is False


def test_a_reader_is_bounded_in_bytes_too():
    reader = Reader(lambda _: 0)
    for _ in range(100):
        reader.push(b"x" * 100_000)
    assert reader._waiting_bytes <= module.MOST_BYTES


@pytest.mark.waits
def test_the_socket_is_for_owner_and_group(publisher):
    assert stat.S_IMODE(publisher.name.stat().st_mode) == 0o660
    with pytest.raises(ConfigError, match="another publisher"):
        Publisher(publisher.name)


@pytest.mark.waits
def test_a_dead_ones_socket_is_replaced_and_a_file_is_not(tmp_path):
    dead = socket.socket(socket.AF_UNIX)
    dead.bind(str(tmp_path / "s"))
    dead.close()
    with Publisher(tmp_path / "s"):
        assert Awareness(tmp_path / "s", 60.0).forecasts() == {}
    assert not (tmp_path / "s").exists()
    (tmp_path / "file").write_text("holiday")
    for place in ("file", "no/folder", "x" * 200):
        with pytest.raises(ConfigError, match="no socket can be there"):
            Publisher(tmp_path / place)
    assert (tmp_path / "file").read_text() == "holiday"


@pytest.mark.waits
def test_forecasts_are_those_that_hold_now(publisher):
    publisher.foresee("starlink", known())
    publisher.foresee("old", known(start_s=900.0))
    client = Awareness(publisher.name, 60.0)
    found = client.forecasts(START_S + 1)
    assert list(found) == ["starlink"]
    assert found["starlink"] == known()
    assert client.forecasts(START_S - 1) != found  # the one that held then
    assert client.forecasts(START_S + 60) == {}


@pytest.mark.waits
def test_levels_are_listened_to_apart(tmp_path):
    """Three readers, each with a level of its own, and one with all, in order."""
    wanted = [["samples"], ["firings"], ["forecasts"], ["samples", "firings", "forecasts"]]
    got: list[list] = [[] for _ in wanted]

    def listen(place: int) -> None:
        for one in Awareness(tmp_path / "s", 60.0).events(wanted[place]):
            got[place].append(one)

    threads = [threading.Thread(target=listen, args=(place,)) for place in range(len(wanted))]
    with Publisher(tmp_path / "s") as publisher:
        for one in threads:
            one.start()
        while publisher.readers < len(wanted):
            pass
        publisher.publish("samples", {"rtt_ms": 1.0})
        publisher.publish("firings", {"trigger": "spike"})
        publisher.foresee("starlink", known())
        while not (all(got[:3]) and len(got[3]) == 3):
            pass
    for one in threads:
        one.join()
    assert [level for level, _ in got[3]] == ["samples", "firings", "forecasts"]
    for place, level in enumerate(("samples", "firings", "forecasts")):
        assert [one for one, _ in got[place]] == [level]
    assert got[2][0][1]["path"] == "starlink"


@pytest.mark.waits
def test_who_never_reads_makes_nobody_wait(publisher):
    """A deaf reader loses rows; another one gets every one that it was quick enough for."""
    deaf = socket.socket(socket.AF_UNIX)
    deaf.connect(str(publisher.name))
    deaf.sendall(b"GET /events?levels=samples HTTP/1.1\r\n\r\n")
    stream = Awareness(publisher.name, 60.0).events(["samples"])
    first = threading.Thread(target=lambda: got.append(next(stream)))
    got: list = []
    first.start()
    while publisher.readers < 2:
        pass
    publisher.publish("samples", {"n": 0, "text": ""})
    first.join()
    for number in range(1, 4000):
        publisher.publish("samples", {"n": number, "text": "x" * 1000})
        level, facts = next(stream)
        assert (level, facts["n"]) == ("samples", number)
    assert publisher.lost_rows > 1000
    deaf.close()


@pytest.mark.waits
@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (b"GET /forecast HTTP/1.1\r\n\r\n", b"200"),
        (b"GET /nothing HTTP/1.1\r\n\r\n", b"404"),
        (b"POST /forecast HTTP/1.1\r\n\r\n", b"405"),
        (b"GET /events?levels=secrets HTTP/1.1\r\n\r\n", b"400"),
        (b"\x00\xff\r\n\r\n", b"400"),
        (b"GET http://[ HTTP/1.1\r\n\r\n", b"400"),
        (b"x" * 5000, b"431"),
    ],
)
def test_requests_get_an_answer_and_an_end(publisher, request_, status):
    with socket.socket(socket.AF_UNIX) as end:
        end.connect(str(publisher.name))
        end.sendall(request_)
        said = b""
        while more := end.recv(65_536):
            said += more
    head, _, body = said.partition(b"\r\n\r\n")
    assert head.split()[1] == status
    assert f"Content-Length: {len(body)}".encode() in head


@pytest.mark.waits
def test_no_request_ends_a_publisher(tmp_path):
    """Random bytes, cut and glued: whoever asks properly after them is answered."""
    seed = random.Random(7)
    pieces = [b"GET ", b"/events", b"?levels=", b"samples", b",", b" HTTP/1.1", b"\r\n",
              b"\r\n\r\n", b"\x00", b"\xff" * 50, b"%", b"[", b"http://", b"x" * 3000,
              b"\n\n"]  # fmt: skip
    with Publisher(tmp_path / "s") as publisher:
        publisher.foresee("starlink", known())
        for _ in range(300):
            with socket.socket(socket.AF_UNIX) as end:
                end.connect(str(tmp_path / "s"))
                with contextlib.suppress(OSError):
                    end.sendall(b"".join(seed.choices(pieces, k=seed.randrange(12))))
            publisher.publish("samples", {"n": 1.0})
        while publisher._peers:
            pass
        assert list(Awareness(tmp_path / "s", 60.0).forecasts(START_S)) == ["starlink"]


@pytest.mark.waits
def test_more_readers_than_there_may_be_are_hung_up_on(publisher, monkeypatch):
    from skyweave.awareness import publisher as served

    monkeypatch.setattr(served, "MOST_READERS", 3)
    ends = []
    for _ in range(5):
        end = socket.socket(socket.AF_UNIX)
        end.connect(str(publisher.name))
        ends.append(end)
    assert ends[3].recv(1) == b""
    assert ends[4].recv(1) == b""
    for end in ends:
        end.close()
    while publisher._peers:
        pass
    assert Awareness(publisher.name, 60.0)._known() == {}


def stub(name: Path, answer: bytes) -> threading.Thread:
    """A publisher that says whatever it likes, once."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(name))
    listener.listen()

    def serve() -> None:
        with listener:
            end, _ = listener.accept()
            with end:
                end.recv(4096)
                end.sendall(answer)

    thread = threading.Thread(target=serve)
    thread.start()
    return thread


OK = b"HTTP/1.1 200 OK\r\n\r\n"
GARBAGE = [
    b"", b"\xff" * 100, OK, OK + b"{", OK + b"[]", OK + b'{"forecasts": 3}',
    OK + b'{"forecasts": {"a": 3, "b": {"kind": "skyweave-forecast"}}}', OK + b"[" * 100_000,
    b"HTTP/1.1 500 No\r\n\r\n" + json.dumps({"forecasts": {}}).encode(),
    OK + json.dumps({"forecasts": {"a": known(start_s=0.0).model_dump(mode="json")}}).encode(),
]  # fmt: skip


@pytest.mark.waits
@pytest.mark.parametrize("answer", GARBAGE)
def test_a_run_with_bad_hints_is_the_run_without_any(answer, tmp_path):
    """Stale, garbage, absent: the same bytes come of the same transfer."""
    thread = stub(tmp_path / "s", answer)
    hinted = Awareness(tmp_path / "s", 60.0).forecasts(START_S)
    thread.join()
    assert hinted == {}
    assert Awareness(tmp_path / "none").forecasts(START_S) == {}
    assert list(Awareness(tmp_path / "none").events()) == []
    assert goodput(hinted) == goodput({})


@pytest.mark.waits
def test_a_run_with_a_true_hint_is_another_one(tmp_path):
    with Publisher(tmp_path / "s") as made:
        made.foresee("starlink", known())
        hinted = Awareness(tmp_path / "s", 60.0).forecasts(START_S)
    assert goodput(hinted) != goodput({})


def goodput(hinted: dict[str, ForecastFile]) -> tuple[float, int]:
    """A transfer over two paths, one with an outage that ALCS heeds if it is foreseen."""

    def path(name: str, outages: tuple = ()) -> sw.Path:
        link = sw.Link(capacity=sw.ConstantRate(mbps=10.0), delay=sw.ConstantDelay(ms=20.0))
        link = link.model_copy(update={"outages": outages})
        made = sw.Path(name=name, down=link, up=link)
        if name not in hinted:
            return made
        foreseen, updates = hinted[name].of_run(START_S, 30.0)
        return made.model_copy(update={"forecast": foreseen, "forecast_updates": updates})

    outage = sw.OutageWindow(start_s=2.0, end_s=3.0)
    record = sw.simulate(
        paths=[path("starlink", (outage,)), path("lte")],
        connections=[sw.Connection(scheduler="alcs", workload=sw.Bulk(bytes=8_000_000))],
    )
    found = record.totals["connections"][0]
    return found["goodput_mbps"], record.totals["link_packets"]
