"""Multipath TCP leaves a path before its outage and comes back, and without hints nothing moves."""

from __future__ import annotations

import json
import sys
import threading
import time

import pytest

from skyweave.awareness import Publisher
from skyweave.awareness.steer import Endpoints, Rule, leaving, steer
from skyweave.errors import ConfigError
from skyweave.forecast import ForecastFile
from skyweave.live.check import MPTCP
from skyweave.live.world import addresses
from skyweave.live.world.world import World, obstacle
from skyweave.model import config
from skyweave.model.forecast import Forecast
from skyweave.model.windows import ForecastWindow

START_S = 1000.0


def known(start_s: float, *outages: tuple[float, float, float]) -> ForecastFile:
    windows = tuple(
        ForecastWindow(start_s=begin, end_s=end, probability=one) for begin, end, one in outages
    )
    return ForecastFile(
        source="s", method="m", start_unix_s=start_s, end_unix_s=start_s + 600.0,
        forecast=Forecast(outages=windows),
    )  # fmt: skip


def test_a_path_is_left_before_its_outage_and_taken_back_after():
    hints = {"a": known(START_S, (10.0, 12.0, 0.9)), "b": known(START_S, (11.0, 12.0, 0.3))}
    rule = Rule(lead_s=0.5, least_probability=0.5)
    at = {
        since: sorted(leaving(hints, START_S + since, rule))
        for since in (0.0, 9.4, 9.5, 11.9, 12.0)
    }
    assert at == {0.0: [], 9.4: [], 9.5: ["a"], 11.9: ["a"], 12.0: []}
    assert sorted(leaving(hints, START_S + 11.0, Rule(0.5, 0.2))) == ["a", "b"]


def test_no_path_rests_for_long_whatever_is_foreseen():
    hints = {"a": known(START_S, (10.0, 500.0, 1.0))}
    assert leaving(hints, START_S + 39.0, Rule())
    assert not leaving(hints, START_S + 40.0, Rule())


def test_one_path_is_always_left_and_all_is_put_back():
    done: list[tuple[int, bool]] = []
    with Endpoints({"a": 1, "b": 2, "c": 3}, lambda *one: done.append(one), frozenset({3})) as ends:
        assert ends.follow(frozenset({"a"}))
        assert not ends.follow(frozenset({"a", "unknown", "c"}))  # c was backup by hand
        assert ends.follow(frozenset({"a", "b"}))  # all that are in use: none is left
        assert ends.follow(frozenset({"b"}))
    assert done == [(1, True), (1, False), (2, True), (2, False)]


def test_without_hints_nothing_is_changed():
    done: list[tuple[int, bool]] = []
    stop, looks = threading.Event(), iter(range(3))

    def nothing() -> dict[str, ForecastFile]:
        if next(looks, None) is None:
            stop.set()
        return {}

    steer(
        Endpoints({"a": 1, "b": 2}, lambda *one: done.append(one), frozenset()), nothing,
        lambda: START_S, stop,
    )  # fmt: skip
    assert done == []


def test_an_endpoint_that_is_not_there_is_one_sentence(monkeypatch):
    from skyweave.awareness import steer as module

    monkeypatch.setattr(module, "_ip", lambda *_: "10.0.0.1 id 1 subflow backup dev a\n")
    with pytest.raises(ConfigError, match="there is no such endpoint"):
        Endpoints({"a": 2})
    assert Endpoints({"a": 1})._paths == {}  # backup by hand


SINK = """
import socket
with socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262) as door:
    door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    door.bind(("0.0.0.0", 5001))
    door.listen()
    end, _ = door.accept()
    while end.recv(1 << 20): pass
"""
SOURCE = """
import socket, time
while True:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262) as end:
        if end.connect_ex((%r, 5001)):
            time.sleep(0.01)  # the sink, which began before, is not there yet
            continue
        while True: end.sendall(bytes(1 << 16))
"""


class Carried:
    """What the links to the server have carried since it was asked last."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._last = self._now()

    def _now(self) -> dict[str, int]:
        said = json.loads(self._world.ask_links({"do": "statistics"})["statistics"])["links"]
        return {name: said[f"{name}.up"]["delivered_bytes"] for name in ("a", "b")}

    def until(self, enough: int) -> dict[str, int]:
        """Return what each carried while both together carried that much."""
        while True:
            now = self._now()
            moved = {name: now[name] - self._last[name] for name in now}
            if sum(moved.values()) >= enough:
                self._last = now
                return moved


def carried_until(world: World, wanted) -> dict[str, int]:
    """Look at one megabyte after the other until one is as wanted."""
    carried = Carried(world)
    while not wanted(moved := carried.until(1_000_000)):
        pass
    return moved


def link(name: str) -> config.Path:
    both = config.Link(
        capacity=config.ConstantRate(mbps=20.0), delay=config.ConstantDelay(ms=10.0),
        queue=config.DropTail(packets=60),
    )  # fmt: skip
    return config.Path(name=name, down=both, up=both)


@pytest.mark.waits
def test_a_connection_leaves_a_path_before_its_outage_and_comes_back(tmp_path):
    reason = obstacle()
    if reason is not None or not MPTCP.exists():
        pytest.skip(f"no world with Multipath TCP here: {reason or 'this kernel has none'}")
    with Publisher(tmp_path / "s") as publisher, World([link("a"), link("b")], apart=True) as world:
        world.start(1000)
        steering = [sys.executable, "-m", "skyweave.cli", "awareness", "steer", "--socket",
                    str(tmp_path / "s"), "--endpoint", "a=1", "--endpoint", "b=2"]  # fmt: skip
        programs = (
            (world.server, [sys.executable, "-c", SINK]),
            (world.client, [sys.executable, "-c", SOURCE % addresses.SERVER]),
            (world.client, steering),
        )
        for side, argv in programs:
            world.ask(side, {"do": "spawn", "argv": argv, "cwd": str(tmp_path),
                             "log": str(tmp_path / "log")})  # fmt: skip
        carried_until(world, lambda moved: min(moved.values()) > 100_000)  # both are used

        def rests(moved: dict[str, int]) -> bool:
            """Foresee it again, as a publisher does: no outage is heeded for more than 30 s."""
            publisher.foresee("a", known(time.time() - 1.0, (0.0, 500.0, 1.0)))
            return moved["a"] < 20_000

        moved = carried_until(world, rests)
        assert moved["b"] > 900_000
        publisher.foresee("a", known(time.time() - 1.0))
        carried_until(world, lambda moved: min(moved.values()) > 100_000)
