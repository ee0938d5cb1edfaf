"""When a trigger fires: idle, pending, firing, cooling, by the time of the samples alone.

Nothing here reads a clock, so a log replays to the same firings. What is not known neither fires
nor re-arms; a pending trigger whose condition is not known begins anew.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from skyweave.triggers.language import Condition, Kind
from skyweave.triggers.samples import SLOT_OFFSET_S, SLOT_S, Samples, Value
from skyweave.triggers.spec import Trigger

State = Literal["idle", "pending", "cooling"]
What = Literal["pending", "withdrawn", "fired", "limited", "held", "rearmed"]
CONTEXT_S = 30.0
DAY_S = 86_400


@dataclass(frozen=True)
class Event:
    """A change of a trigger; ``held``: a run is open, ``limited``: the day's limit is used."""

    time_unix_s: float
    trigger: str
    what: What
    start_unix_s: float | None = None
    """When a run starts: at once, or where ``align`` says."""
    context: tuple[tuple[float, str, Value], ...] = ()
    """Samples of the 30 s before a firing; those after it follow in :meth:`Machine.contexts`."""


@dataclass
class _Day:
    day: int = -1
    runs: int = 0
    bytes: float = 0.0


class Machine:
    """One trigger; give it all samples by :meth:`step`."""

    def __init__(self, trigger: Trigger, series: Mapping[str, Kind]) -> None:
        self.trigger = trigger
        self.state: State = "idle"
        self._since_s = 0.0
        self._open_until_s = float("-inf")
        self._day = _Day()
        self._after: deque[Event] = deque()
        self._when = Condition(trigger.when, series)
        self._rearm = None if trigger.rearm is None else Condition(trigger.rearm, series)

    def step(self, samples: Samples) -> list[Event]:
        """Look at the samples of a moment; return what changed."""
        now, holds = samples.now_s, self._when.holds(samples)
        events: list[Event] = []
        if self.state == "cooling" and self._is_armed(samples, holds):
            self.state = "idle"
            events.append(Event(now, self.trigger.name, "rearmed"))
        if self.state == "idle" and holds:
            self.state, self._since_s = "pending", now
            if self.trigger.for_s > 0:
                events.append(Event(now, self.trigger.name, "pending"))
        if self.state == "pending":
            if not holds:
                self.state = "idle"
                events.append(Event(now, self.trigger.name, "withdrawn"))
            elif now - self._since_s >= self.trigger.for_s:
                events.append(self._fire(samples))
                self.state, self._since_s = "cooling", now
        return events

    def contexts(self, samples: Samples, all_over: bool = False) -> list[Event]:
        """Return the firings whose 30 s after are there, with samples before and after."""
        whole = []
        while self._after and (all_over or samples.now_s >= self._after[0].time_unix_s + CONTEXT_S):
            one = self._after.popleft()
            span = (one.time_unix_s - CONTEXT_S, one.time_unix_s + CONTEXT_S)
            context = tuple(samples.window(*span))
            whole.append(Event(one.time_unix_s, one.trigger, one.what, one.start_unix_s, context))
        return whole

    def _is_armed(self, samples: Samples, holds: bool | None) -> bool:
        if samples.now_s - self._since_s < self.trigger.cooldown_s:
            return False
        return holds is False if self._rearm is None else self._rearm.holds(samples) is True

    def _fire(self, samples: Samples) -> Event:
        """Fire, unless a run is open or the day's limit is used."""
        now, limit, run = samples.now_s, self.trigger.limit, self.trigger.run
        if now < self._open_until_s:
            return Event(now, self.trigger.name, "held")
        day, size = int(now // DAY_S), run.bytes if run is not None else 0.0
        if day != self._day.day:
            self._day = _Day(day)
        if self._day.runs >= limit.runs_per_day or self._day.bytes + size > limit.bytes_per_day:
            return Event(now, self.trigger.name, "limited")
        self._day.runs += 1
        self._day.bytes += size
        start = aligned(now, self.trigger.align_s)
        self._open_until_s = start + run.seconds if run is not None else now
        before = tuple(samples.window(now - CONTEXT_S, now))
        event = Event(now, self.trigger.name, "fired", start, before)
        self._after.append(event)
        return event


def aligned(time_s: float, align_s: float | None) -> float:
    """Return the next moment that is ``align_s`` after a slot edge; the moment itself without."""
    if align_s is None:
        return time_s
    return time_s + (align_s + SLOT_OFFSET_S - time_s) % SLOT_S
