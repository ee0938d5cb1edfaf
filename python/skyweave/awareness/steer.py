"""Linux' Multipath TCP by its path manager: a path is backup before an outage, and not after it.

A change of an endpoint's flag tells both ends of every connection (MP_PRIO, RFC 8684 §3.3.8). What
was set by hand as backup is left alone, and one path always stays in use.
"""

from __future__ import annotations

import re
import subprocess
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from skyweave.errors import ConfigError
from skyweave.forecast import ForecastFile

LOOK_S = 0.05
_ENDPOINT = re.compile(r"^\S+ id (\d{1,3})\b(.*)$")


@dataclass(frozen=True)
class Rule:
    """When a path is left."""

    lead_s: float = 0.5
    """How long before the outage: what is under way must have arrived."""
    least_probability: float = 0.5
    longest_s: float = 30.0
    """No path rests for longer at a time, whatever is foreseen."""


def leaving(
    forecasts: Mapping[str, ForecastFile], now_unix_s: float, rule: Rule = Rule()
) -> frozenset[str]:
    """Return the paths that should be backup now."""
    found = set()
    for path, known in forecasts.items():
        now_s = now_unix_s - known.start_unix_s
        outage = known.forecast.outage(now_s, rule.least_probability)
        if outage is not None and outage.start_s - rule.lead_s <= now_s < min(
            outage.end_s, outage.start_s + rule.longest_s
        ):
            found.add(path)
    return frozenset(found)


class Endpoints:
    """The endpoints of this network namespace that steer paths; put back at the end."""

    def __init__(
        self, paths: Mapping[str, int], change: Callable[[int, bool], None] | None = None,
        backups: frozenset[int] | None = None,
    ) -> None:  # fmt: skip
        """``paths``: name to the endpoint's identity. Those that are backup now stay as they are.

        Raises :class:`ConfigError` for an endpoint that is not there.
        """
        there = _endpoints() if backups is None else dict.fromkeys(paths.values(), False)
        for name, number in paths.items():
            if number not in there:
                raise ConfigError(
                    f"--endpoint {name}={number}: there is no such endpoint; see 'ip mptcp endpoint"
                    " show'"
                )
        kept = backups if backups is not None else {one for one, set_ in there.items() if set_}
        self._paths = {name: number for name, number in paths.items() if number not in kept}
        self._change = change or _change
        self.away: frozenset[str] = frozenset()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        self.follow(frozenset())

    def follow(self, leave: frozenset[str]) -> bool:
        """Make these paths backup and the others not; True if something changed.

        If all would be left, none is: a connection without paths is worse than one with bad ones.
        """
        wanted = leave & self._paths.keys()
        if wanted == self._paths.keys():
            wanted = frozenset()
        if wanted == self.away:
            return False
        for name in sorted(wanted ^ self.away):
            self._change(self._paths[name], name in wanted)
        self.away = frozenset(wanted)
        return True


def steer(
    endpoints: Endpoints, known: Callable[[], Mapping[str, ForecastFile]],
    clock: Callable[[], float], stop: threading.Event, rule: Rule = Rule(),
    say: Callable[[frozenset[str]], object] = lambda _: None,
) -> None:  # fmt: skip
    """Follow forecasts until told to stop; without valid ones all paths are in use."""
    while not stop.is_set():
        if endpoints.follow(leaving(known(), clock(), rule)):
            say(endpoints.away)
        stop.wait(LOOK_S)


def _endpoints() -> dict[int, bool]:
    """Return the endpoints of this namespace, and whether each is backup."""
    found = {}
    for line in _ip("show").splitlines():
        one = _ENDPOINT.match(line)
        if one:
            found[int(one[1])] = "backup" in one[2].split()
    return found


def _change(number: int, backup: bool) -> None:
    _ip("change", "id", str(number), "backup" if backup else "nobackup")


def _ip(*arguments: str) -> str:
    try:
        ran = subprocess.run(
            ["ip", "mptcp", "endpoint", *arguments], capture_output=True, text=True, check=False
        )
    except OSError:
        raise ConfigError("the program 'ip' is missing; install the package iproute2") from None
    if ran.returncode != 0:
        said = (ran.stderr.strip().splitlines() or ["no reason given"])[-1][:200]
        raise ConfigError(f"'ip mptcp endpoint {arguments[0]}' failed ({said}); run it as root")
    return ran.stdout
