"""When runs take place: once, periodically, by cron. All in UTC, in whole seconds."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Annotated, Literal, Self

from cronsim import CronSim, CronSimError
from pydantic import Field, StringConstraints, field_validator, model_validator

from skyweave.testbed.calendar.interval import Interval
from skyweave.testbed.wire.names import LONGEST_RUN_S, Message

HORIZON_S = 86_400
"""How far ahead promises become reservations."""
FOREVER = 253_402_300_800
"""The year 10000."""
MOST_OCCURRENCES = 100_000
LATEST = 32_503_680_000
"""The year 3000: nothing begins later."""
Start = Annotated[int, Field(ge=0, le=LATEST)]
Second = Annotated[int, Field(ge=0, le=FOREVER)]
Duration = Annotated[int, Field(ge=1, le=LONGEST_RUN_S)]


class Once(Message):
    """One run."""

    kind: Literal["once"] = "once"
    start: Start
    seconds: Duration

    def starts(self, since: int, until: int) -> Iterator[int]:
        """Yield the starts from ``since`` to before ``until``."""
        if since <= self.start < until:
            yield self.start


class Every(Message):
    """A run at ``start`` and after each ``period`` until ``until``, where none begins any more."""

    kind: Literal["every"] = "every"
    start: Start
    period: Annotated[int, Field(ge=2, le=366 * 86_400)]
    seconds: Duration
    until: Second = FOREVER

    @model_validator(mode="after")
    def _is_possible(self) -> Self:
        if self.seconds > self.period:
            raise ValueError(
                f"a run of {self.seconds} s each {self.period} s would overlap itself; "
                "make it shorter, or the period longer"
            )
        if self.until <= self.start:
            raise ValueError("it ends before it begins; choose a later 'until'")
        return self

    def starts(self, since: int, until: int) -> Iterator[int]:
        """Yield the starts from ``since`` to before ``until``."""
        first = self.start + max(0, -(-(since - self.start) // self.period)) * self.period
        yield from range(first, min(until, self.until), self.period)

    @property
    def last(self) -> int:
        """When the last run begins."""
        return self.start + (self.until - 1 - self.start) // self.period * self.period


class Cron(Message):
    """Runs by a cron expression of five fields (UTC), from ``start`` until ``until``."""

    kind: Literal["cron"] = "cron"
    expression: Annotated[str, StringConstraints(min_length=9, max_length=100)]
    seconds: Duration
    start: Start = 0
    until: Second = FOREVER

    @field_validator("expression")
    @classmethod
    def _is_cron(cls, value: str) -> str:
        if len(value.split()) != 5 or not value.isascii():
            raise ValueError("a cron expression has five fields, such as '*/15 * * * *'")
        try:
            next(CronSim(value, datetime(2024, 1, 1, tzinfo=UTC)))
        except (CronSimError, StopIteration, ValueError):
            raise ValueError(
                f"'{value}' is no cron expression with an occurrence; write one such as "
                "'*/15 * * * *'"
            ) from None
        return value

    @model_validator(mode="after")
    def _is_possible(self) -> Self:
        if self.until <= self.start:
            raise ValueError("it ends before it begins; choose a later 'until'")
        last = None
        for place, start in enumerate(self.starts(1_704_067_200, 1_704_067_200 + 366 * 86_400)):
            if (last is not None and start < last + self.seconds) or self.seconds > 86_400:
                raise ValueError(f"a run of {self.seconds} s would overlap the next one")
            last = start
            if place > 2000:
                break
        return self

    def starts(self, since: int, until: int) -> Iterator[int]:
        """Yield the starts from ``since`` to before ``until``."""
        begin = max(since, self.start)
        end = min(until, self.until)
        if begin >= end:
            return
        for when in CronSim(self.expression, datetime.fromtimestamp(begin - 1, UTC)):
            second = int(when.timestamp())
            if second >= end:
                return
            yield second


Timed = Annotated[Once | Every | Cron, Field(discriminator="kind")]
"""What reserves time in advance."""


def occurrences(schedule: Once | Every | Cron, since: int, until: int) -> Iterator[Interval]:
    """Yield the runs that share a second with [since, until), in order."""
    for start in schedule.starts(since - schedule.seconds + 1, until):
        yield Interval(start, start + schedule.seconds)
