"""``mm-link``, ``mm-delay`` and ``mm-loss``: mahimahi's names, each in front of the next.

``mm-delay 20 mm-link up.trace down.trace mm-loss uplink 0.01 COMMAND`` is one emulated path: what
is nested adds up before anything starts, as constant delays may be summed and independent losses
multiplied wherever they stand around one bottleneck. Two ``mm-link`` would be two bottlenecks.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from skyweave.cli.app import guarded
from skyweave.data import traces
from skyweave.errors import ConfigError
from skyweave.live.shell import run_shell
from skyweave.live.world.addresses import SERVER
from skyweave.live.world.control import VARIABLE
from skyweave.model import config
from skyweave.model.steps import UNLIMITED_MBPS

USAGE = {
    "mm-link": "mm-link [--uplink-queue=KIND] [--uplink-queue-args=KEY=VALUE,…] "
    "[--downlink-queue=KIND] [--downlink-queue-args=…] UPLINK DOWNLINK [COMMAND…]",
    "mm-delay": "mm-delay MILLISECONDS [COMMAND…]",
    "mm-loss": "mm-loss uplink|downlink RATE [COMMAND…]",
}
QUEUES: dict[str, dict[str, str]] = {
    "infinite": {},
    "droptail": {"packets": "packets", "bytes": "bytes"},
    "codel": {"packets": "packets", "target": "target_ms", "interval": "interval_ms"},
}
"""The kinds of queues, and what mahimahi calls their numbers."""
_COUNT = re.compile(r"[1-9][0-9]{0,11}")
OWN = "--server-run="
"""Our one option beside mahimahi's: a command line for the server, at any of the three names."""


@dataclass(frozen=True)
class Chain:
    """What a chain of these names makes of the path, and what runs behind it."""

    delay_ms: float = 0.0
    kept: dict[str, float] = field(default_factory=lambda: {"up": 1.0, "down": 1.0})
    links: dict[str, tuple[config.Capacity, config.Queue]] = field(default_factory=dict)
    server_run: tuple[str, ...] = ()
    command: tuple[str, ...] = ()

    def path(self) -> config.Path:
        """The one path; without ``mm-link`` it has no bottleneck."""
        free = (config.ConstantRate(mbps=UNLIMITED_MBPS), config.InfiniteQueue())

        def link(way: str) -> config.Link:
            capacity, queue = self.links.get(way, free)
            ratio = 1 - self.kept[way]
            return config.Link(
                capacity=capacity,
                queue=queue,
                delay=config.ConstantDelay(ms=self.delay_ms),
                loss=config.Bernoulli(ratio=ratio) if ratio else config.NoLoss(),
            )

        return config.Path(name="link", down=link("down"), up=link("up"))


def parse(words: list[str]) -> Chain:
    """What ``NAME ARGUMENT… [NAME ARGUMENT…] COMMAND…`` means.

    Raises :class:`ConfigError` with the usage of the name that is not understood.
    """
    chain, rest = Chain(), list(words)
    while rest and (name := Path(rest[0]).name) in USAGE:
        options, rest = _options(rest[1:])
        own = tuple(one.removeprefix(OWN) for one in options if one.startswith(OWN))
        chain = replace(chain, server_run=(*chain.server_run, *own))
        chain, rest = _PARTS[name](chain, [o for o in options if not o.startswith(OWN)], rest)
        if rest[:1] == ["--"]:
            rest = rest[1:]
    return replace(chain, command=tuple(rest))


def main(name: str) -> None:
    """Run what stands on the command line behind ``name``; exit with the command's code."""
    guarded(lambda: sys.exit(_run([name, *sys.argv[1:]])), name)


def mm_link() -> None:
    """``mm-link``."""
    main("mm-link")


def mm_delay() -> None:
    """``mm-delay``."""
    main("mm-delay")


def mm_loss() -> None:
    """``mm-loss``."""
    main("mm-loss")


def _run(words: list[str]) -> int:
    if words[1:2] in (["--help"], ["-h"]):
        raise _misused(words[0], "runs a command behind an emulated link (docs/live.md)")
    if VARIABLE in os.environ:
        raise ConfigError(
            f"{words[0]}: this is inside an emulated host already; nest on one line, as in "
            "'mm-delay 20 mm-link UP DOWN COMMAND'"
        )
    chain = parse(words)
    return run_shell(
        [chain.path()],
        chain.command,
        server_run=chain.server_run,
        environment={"MAHIMAHI_BASE": SERVER},
        summary=False,
    )


def _options(rest: list[str]) -> tuple[list[str], list[str]]:
    count = next((n for n, one in enumerate(rest) if not one.startswith("--") or one == "--"), None)
    count = len(rest) if count is None else count
    return rest[:count], rest[count:]


def _delay(chain: Chain, options: list[str], rest: list[str]) -> tuple[Chain, list[str]]:
    _none_of(options, "mm-delay")
    (delay,), rest = _taken(rest, 1, "mm-delay")
    return replace(chain, delay_ms=chain.delay_ms + _number(delay, "mm-delay")), rest


def _loss(chain: Chain, options: list[str], rest: list[str]) -> tuple[Chain, list[str]]:
    _none_of(options, "mm-loss")
    (way, rate), rest = _taken(rest, 2, "mm-loss")
    if way not in ("uplink", "downlink"):
        raise _misused("mm-loss", f"'{way}' is neither uplink nor downlink")
    ratio = _number(rate, "mm-loss")
    if ratio > 1:
        raise _misused("mm-loss", f"'{rate}' is a share, 0 to 1")
    key = way.removesuffix("link")
    return replace(chain, kept={**chain.kept, key: chain.kept[key] * (1 - ratio)}), rest


def _link(chain: Chain, options: list[str], rest: list[str]) -> tuple[Chain, list[str]]:
    if chain.links:
        raise ConfigError("mm-link: two of them would be two bottlenecks; one is emulated")
    (up, down), rest = _taken(rest, 2, "mm-link")
    later, rest = _options(rest)  # mahimahi takes them behind the traces as well
    own = tuple(one.removeprefix(OWN) for one in later if one.startswith(OWN))
    told = _told([*options, *(one for one in later if not one.startswith(OWN))])
    links: dict[str, tuple[config.Capacity, config.Queue]] = {
        way: (
            traces.read_capacity(Path(file)),
            _queue(told.get(f"{way}link-queue", "infinite"), told.get(f"{way}link-queue-args", "")),
        )
        for way, file in (("up", up), ("down", down))
    }
    return replace(chain, links=links, server_run=(*chain.server_run, *own)), rest


_PARTS: dict[str, Callable[[Chain, list[str], list[str]], tuple[Chain, list[str]]]] = {
    "mm-link": _link,
    "mm-delay": _delay,
    "mm-loss": _loss,
}


def _told(options: list[str]) -> dict[str, str]:
    known = {f"{way}link-queue{more}" for way in ("up", "down") for more in ("", "-args")}
    told = {}
    for option in options:
        key, equals, value = option.removeprefix("--").partition("=")
        if key not in known or not equals:
            raise _misused("mm-link", f"'{option}' is not one of its options here")
        told[key] = value.strip("\"'")
    return told


def _queue(kind: str, arguments: str) -> config.Queue:
    if kind not in QUEUES:
        raise _misused("mm-link", f"queue '{kind}' is none of {', '.join(QUEUES)}")
    numbers: dict[str, int] = {}
    for part in filter(None, arguments.replace(" ", ",").split(",")):
        key, _, value = part.partition("=")
        if key not in QUEUES[kind] or not _COUNT.fullmatch(value):
            raise _misused("mm-link", f"'{part}' is no argument of a {kind} queue")
        numbers[QUEUES[kind][key]] = int(value)
    if kind == "infinite":
        return config.InfiniteQueue()
    if kind == "codel":
        return config.CoDel.model_validate(numbers)
    if not numbers:
        raise _misused("mm-link", "a droptail queue needs packets=… or bytes=…")
    return config.DropTail.model_validate(numbers)


def _taken(rest: list[str], count: int, name: str) -> tuple[list[str], list[str]]:
    if len(rest) < count or "--" in rest[:count]:
        raise _misused(name, "arguments are missing")
    return rest[:count], rest[count:]


def _none_of(options: list[str], name: str) -> None:
    if options:
        raise _misused(name, f"'{options[0]}' is none of its options")


def _number(text: str, name: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number < float("inf"):
        raise _misused(name, f"'{text}' is not a number from 0")
    return number


def _misused(name: str, what: str) -> ConfigError:
    return ConfigError(f"{what}; usage: {USAGE[name]}")
