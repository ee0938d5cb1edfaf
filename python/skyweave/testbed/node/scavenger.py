"""Background runs give way to the owner's traffic: the rule, without a clock or a counter.

What the owner carries is what the dish (or the uplink's device) counts less what the run counts.
More than 1 Mbit of that within a second, and the run stands still at once, however early in the
second that is; 10 s below 0.2 Mbit/s, and it goes on; still there after 30 s, and it is ended, to
be placed anew. A node that cannot see what its owner carries stands still as well.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Literal

Wish = Literal["go", "freeze", "kill"]


@dataclass(frozen=True)
class Rule:
    """When to stand still, to go on, to end."""

    busy_mbps: float = 1.0
    """Of the owner's traffic: its mean over :attr:`span_s`, by what was seen so far."""
    span_s: float = 1.0
    calm_mbps: float = 0.2
    calm_s: float = 10.0
    patience_s: float = 30.0
    blind_s: float = 5.0
    """How long nothing need be known of the owner's traffic."""


class Scavenger:
    """The rule over time; moments are seconds of any clock that does not go back."""

    def __init__(self, now: float, rule: Rule | None = None) -> None:
        self.rule = rule or Rule()
        self.wish: Wish = "go"
        self._seen_at = now
        self._seen: deque[tuple[float, float, float]] = deque()
        """Begin, end and rate of the stretches that reach into the last ``span_s``."""
        self._calm_since: float | None = None
        self._frozen_at = 0.0

    def step(self, now: float, user_mbps: float | None) -> Wish:
        """Take the owner's rate since the last step (None: not known); return what the run does.

        A rate may be below zero: a queue of the run's bytes before the device, which fills.
        """
        rule = self.rule
        if user_mbps is not None:
            self._seen.append((self._seen_at, now, user_mbps))
            self._seen_at = now
        mean = self._mean_mbps(now)
        is_blind = now - self._seen_at >= rule.blind_s
        if user_mbps is not None:
            self._calm_since = _since(self._calm_since, now, mean < rule.calm_mbps)
        if is_blind:
            self._calm_since = None
        if self.wish == "go":
            if is_blind or (user_mbps is not None and mean > rule.busy_mbps):
                self.wish, self._frozen_at, self._calm_since = "freeze", now, None
        elif self.wish == "freeze":
            if _lasted(self._calm_since, now, rule.calm_s):
                self.wish = "go"
            elif self._calm_since is None and now - self._frozen_at >= rule.patience_s:
                self.wish = "kill"
        return self.wish

    def _mean_mbps(self, now: float) -> float:
        """Return the owner's mean over the last ``span_s``; what was not seen counts as nothing."""
        begin = now - self.rule.span_s
        while self._seen and self._seen[0][1] <= begin:
            self._seen.popleft()
        carried = sum(rate * (end - max(start, begin)) for start, end, rate in self._seen)
        return carried / self.rule.span_s


class Share:
    """The owner's rate out of two counters that are read together: all bytes, and the run's."""

    def __init__(self) -> None:
        self._before: tuple[float, int, int] | None = None

    def rate_mbps(self, now: float, whole: int, own: int) -> float | None:
        """Return the owner's rate since the last look; None at the beginning.

        A counter that went back (a device that was replaced) begins anew.
        """
        before, self._before = self._before, (now, whole, own)
        if before is None or now <= before[0] or whole < before[1] or own < before[2]:
            return None
        return ((whole - before[1]) - (own - before[2])) * 8e-6 / (now - before[0])


class Lagging:
    """The owner's rate out of a dish's rate, which lags by a second and is smoothed.

    The most that the run carried in any second of late is taken off: a run that has just slowed
    down must not be taken for its owner. Of what is left the least of the last second counts: nor
    must one that has just begun.
    """

    def __init__(self, lag_s: float = 3.0) -> None:
        self._lag_s = lag_s
        self._seen: deque[tuple[float, int]] = deque()
        self._rates: deque[tuple[float, float]] = deque()

    def rate_mbps(self, now: float, dish_mbps: float | None, own: int) -> float | None:
        """Return the owner's rate; ``own`` is the run's counter of bytes, both directions."""
        self._seen.append((now, own))
        while self._seen[0][0] < now - self._lag_s - 1.0:
            self._seen.popleft()
        if dish_mbps is None:
            return None
        self._rates.append((now, max(0.0, dish_mbps - self._most_mbps())))
        while self._rates[0][0] < now - 1.0:
            self._rates.popleft()
        return min(rate for _, rate in self._rates)

    def _most_mbps(self) -> float:
        """Return the run's highest rate over a second, within the lag."""
        most, first = 0.0, 0
        seen = list(self._seen)
        for now, own in seen:
            while now - seen[first][0] > 1.0:
                first += 1
            then, before = seen[first]
            if now > then:
                most = max(most, (own - before) * 8e-6 / max(now - then, 1.0))
        return most


def _since(before: float | None, now: float, holds: bool) -> float | None:
    """Return since when something holds."""
    if not holds:
        return None
    return now if before is None else before


def _lasted(since: float | None, now: float, span_s: float) -> bool:
    return since is not None and now - since >= span_s
