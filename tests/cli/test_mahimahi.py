"""mahimahi's names: nested arguments become one path."""

from __future__ import annotations

from pathlib import Path

import pytest

from skyweave.cli.mahimahi import parse
from skyweave.errors import SkyweaveError
from skyweave.model import config


@pytest.fixture
def traces(tmp_path: Path) -> list[str]:
    for name, line in (("up", "12"), ("down", "3")):
        (tmp_path / name).write_text(f"{line}\n")
    return [str(tmp_path / "up"), str(tmp_path / "down")]


def test_what_is_nested_adds_up(traces: list[str]) -> None:
    words = ["mm-delay", "20", "mm-link", *traces, "--", "/usr/bin/mm-loss", "uplink", "0.1"]
    chain = parse([*words, "mm-delay", "5", "mm-loss", "uplink", "0.5", "ls", "-l", "--all"])
    path = chain.path()
    assert chain.command == ("ls", "-l", "--all")
    assert path.up.delay == path.down.delay == config.ConstantDelay(ms=25)
    assert isinstance(path.up.loss, config.Bernoulli)
    assert path.up.loss.ratio == pytest.approx(1 - 0.9 * 0.5)
    assert path.down.loss == config.NoLoss()
    assert path.up.capacity == config.Opportunities(times_ms=(12,))
    assert path.down.capacity == config.Opportunities(times_ms=(3,))
    assert path.up.queue == path.down.queue == config.InfiniteQueue()


def test_queues_are_named_before_or_behind_the_traces(traces: list[str]) -> None:
    before = ["--uplink-queue=droptail", '--uplink-queue-args="packets=30, bytes=9000"']
    behind = ["--downlink-queue=codel", "--downlink-queue-args=target=7,interval=90,packets=20"]
    chain = parse(["mm-link", *before, *traces, *behind, "--server-run=iperf3 -s", "--", "true"])
    path = chain.path()
    assert path.up.queue == config.DropTail(packets=30, bytes=9000)
    assert path.down.queue == config.CoDel(target_ms=7, interval_ms=90, packets=20)
    assert (chain.server_run, chain.command) == (("iperf3 -s",), ("true",))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["mm-delay"], "arguments are missing; usage: mm-delay"),
        (["mm-delay", "soon", "ls"], "'soon' is not a number"),
        (["mm-delay", "nan"], "'nan' is not a number"),
        (["mm-loss", "up", "0.1"], "neither uplink nor downlink"),
        (["mm-loss", "uplink", "5"], "is a share"),
        (["mm-link", "UP", "--", "ls"], "arguments are missing"),
        (["mm-link", "--meter-all", "UP", "DOWN"], "'--meter-all' is not one of its options"),
        (["mm-link", "--uplink-queue=pie", "UP", "DOWN"], "queue 'pie' is none of"),
        (["mm-link", "--uplink-queue=droptail", "UP", "DOWN"], "needs packets"),
        (["mm-link", "UP", "DOWN", "mm-link", "UP", "DOWN"], "two bottlenecks"),
        (["mm-link", "missing", "DOWN"], "no such file"),
    ],
)
def test_what_is_wrong_is_said(words: list[str], said: str, traces: list[str]) -> None:
    files = dict(zip(("UP", "DOWN"), traces, strict=True))
    with pytest.raises(SkyweaveError, match=said):
        parse([files.get(word, word) for word in words])
