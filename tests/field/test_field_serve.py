"""The far end by itself: who is let in, what is refused, what is kept for a broken conversation."""

from __future__ import annotations

import gc
import json
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from skyweave.errors import ConfigError
from skyweave.field.client import RefusedError, Talk
from skyweave.field.errors import FieldError
from skyweave.field.far import FarEnd
from skyweave.field.line import Line
from skyweave.field.serve import MOST_TRIES, FieldServer
from skyweave.field.uplinks import Uplink
from skyweave.field.words import FarFlow
from skyweave.live.traffic.ends import Ends
from skyweave.live.traffic.kernel import own_congestion

pytestmark = pytest.mark.waits
TOKEN = "t" * 43
HERE = {"a": Uplink("a", "lo", "127.0.0.1", True)}


@pytest.fixture
def server() -> Iterator[FieldServer]:
    made = FieldServer("127.0.0.1", [0, *free_ports(2)], TOKEN)
    yield made
    made.close()


def free_ports(count: int) -> list[int]:
    taken = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in taken]
    for one in taken:
        one.close()
    return ports


def said_to(server: FieldServer, words: bytes) -> bytes:
    """Return all that a server says to some bytes."""
    with socket.create_connection(("127.0.0.1", server.port)) as end:
        end.settimeout(60)
        end.sendall(words)
        end.shutdown(socket.SHUT_WR)
        heard = b""
        try:
            while more := end.recv(1000):
                heard += more
        except ConnectionResetError:
            pass
        return heard


def talk(server: FieldServer) -> Talk:
    return Talk(FarEnd("127.0.0.1", server.port, TOKEN), HERE)


def flow(**more: Any) -> FarFlow:
    plain = {"transport": "tcp", "sends": False, "size_bytes": 5000, "start_ns": 0,
             "end_ns": 20_000_000_000}  # fmt: skip
    return FarFlow.model_validate(plain | more)


def test_nothing_is_said_to_who_does_not_know_the_token(server: FieldServer) -> None:
    wrong = json.dumps({"token": TOKEN[:-1]}).encode()
    for words in (b"", b"\n", b"{}\n", wrong + b"\n", b"x" * 5000, b'{"token": 7}\n', b"[" * 900):
        assert said_to(server, words) == b""
    said = said_to(server, json.dumps({"token": TOKEN}).encode() + b"\n")
    assert json.loads(said)["you"] == "127.0.0.1"


def test_guessing_shuts_the_door_to_newcomers(server: FieldServer) -> None:
    server._tries = MOST_TRIES
    with pytest.raises(FieldError, match="does not answer"):
        talk(server)


def test_what_is_no_word_is_refused_and_the_conversation_goes_on(server: FieldServer) -> None:
    with socket.create_connection(("127.0.0.1", server.port)) as end:
        line = Line(end)
        line.send({"token": TOKEN}, 10)
        line.receive(10, 10_000)
        for word, why in (
            ({"do": "reboot"}, "no such word"), ({}, "no such word"),
            ({"do": "go", "run": "a" * 32, "epoch_ns": 1, "interval_ns": 10**8}, "nothing is list"),
            ({"do": "listen", "flows": []}, "not understood"),
            ({"do": "listen", "flows": [{"transport": "tcp", "server": ["0.0.0.0", 22]}]}, "not u"),
            ({"do": "clock", "more": 1}, "not understood"),
        ):  # fmt: skip
            line.send(word, 10)
            assert line.receive(10, 10_000)["error"].startswith(why)
        line.send({"do": "clock"}, 10)
        assert line.receive(10, 10_000)["now_ns"] <= time.monotonic_ns()


def test_more_connections_than_ports_and_unknown_controls_are_refused(server: FieldServer) -> None:
    with talk(server) as one:
        with pytest.raises(RefusedError, match="has 2 ports"):
            one.listen([flow()] * 3)
        with pytest.raises(RefusedError):
            one.listen([flow(congestion="nosuch")])
        with pytest.raises(RefusedError):
            one.listen([flow(transport="mpquic", behaviour={"scheduler": "nosuch"})])
        with pytest.raises(RefusedError):
            one.listen([flow(workload={"kind": "nosuch"})])


def carried(one: Talk) -> int:
    """Send 5,000 bytes through a conversation; return the moment of its beginning."""
    found = one.listen([flow()])
    epoch_ns = time.monotonic_ns() + 200_000_000
    one.begin(epoch_ns, 50_000_000)
    order = {
        "place": 0, "transport": "tcp", "server": ("127.0.0.1", found.ports[0]), "sends": True,
        "start_ns": epoch_ns, "end_ns": epoch_ns + 20 * 10**9, "size_bytes": 5000,
        "workload": None, "congestion": own_congestion(), "source": "127.0.0.1",
    }  # fmt: skip
    (seen,) = Ends().carry([order], epoch_ns, 50_000_000)
    assert seen["bytes"] == 5000
    return epoch_ns


def test_a_conversation_that_breaks_is_taken_up_again(server: FieldServer) -> None:
    with talk(server) as one:
        carried(one)
        assert one._line is not None
        one._line.close()
        (seen,) = one.answer(20.0)
    assert seen.bytes == 5000
    assert seen.completed_ns is not None
    assert seen.congestion == own_congestion()


def test_an_answer_is_for_its_own_run_and_one_run_is_carried_at_a_time(server: FieldServer) -> None:
    with talk(server) as one, talk(server) as other:
        carried(one)
        assert one.answer(20.0)[0].bytes == 5000
        assert other._ask({"do": "collect", "run": "b" * 32}, 10, 10_000) == {}
        one.listen([flow()])
        with server.turn():
            one.begin(time.monotonic_ns(), 50_000_000)
            with pytest.raises(RefusedError, match="another run"):
                one.answer(20.0)
        carried(one)  # the ports are free again
        assert one.answer(20.0)[0].bytes == 5000


def test_a_server_that_lies_is_not_believed(server: FieldServer) -> None:
    with talk(server) as one:
        carried(one)
        assert one.answer(20.0)
        server.keep(one._run, {"transfers": [{"place": 0, "bytes": "many"}]})
        one.close()
        with pytest.raises(FieldError, match=r"transfers.0.bytes"):
            one.answer(0.0)


def test_a_port_that_is_taken_is_said() -> None:
    with socket.create_server(("127.0.0.1", 0)) as there:
        port = there.getsockname()[1]
        with pytest.raises(ConfigError, match=f"127.0.0.1:{port} is not available"):
            FieldServer("127.0.0.1", [port, port + 1], TOKEN)


def descriptors() -> int:
    """How many this process has, without cycles that nobody collected yet."""
    gc.collect()
    return len(list(Path("/proc/self/fd").iterdir()))


@pytest.mark.alone
def test_the_server_closes_what_it_opened(server: FieldServer) -> None:
    with talk(server) as one:
        carried(one)
        one.answer(20.0)
        before = descriptors()
        for _ in range(3):
            carried(one)
            one.answer(20.0)
        assert descriptors() <= before
