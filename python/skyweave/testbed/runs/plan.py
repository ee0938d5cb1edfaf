"""A plan: what a researcher submits. When, where, what, and how much it may use."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from skyweave.testbed.calendar import Cron, Every, Once
from skyweave.testbed.calendar.schedule import Duration, Second
from skyweave.testbed.wire import Command, Input, KernelSettings, Limits, Message, Study
from skyweave.testbed.wire.names import Name
from skyweave.testbed.wire.run import Kind, Priority, Service


class Soon(Message):
    """One run, in the nearest gap."""

    kind: Literal["soon"] = "soon"
    seconds: Duration
    before: Second | None = None
    """It has to end by then."""


class OnTrigger(Message):
    """A run each time a trigger fires; nothing is reserved before that."""

    kind: Literal["trigger"] = "trigger"
    seconds: Duration
    policy: Literal["skip", "wait", "pre-empt"] = "skip"
    """If something is in the way: no run, the nearest gap, or to stop what is in the background."""
    wait_s: Annotated[int, Field(ge=1, le=86_400)] = 60
    """For ``wait``: how much later it may begin."""
    runs_per_day: Annotated[int, Field(ge=1, le=10_000)] = 100


class Plan(Message):
    """An experiment: one node, perhaps a server, and when to run what there."""

    title: Annotated[str, StringConstraints(min_length=1, max_length=200)]
    node: Name
    server: Name | None = None
    services: Annotated[tuple[Service, ...], Field(max_length=4)] = ()
    kind: Kind
    priority: Priority = "exclusive"
    when: Annotated[Once | Every | Cron | Soon | OnTrigger, Field(discriminator="kind")]
    tolerance_s: Annotated[int, Field(ge=0, le=3600)] = 2
    """How much later than planned a run may begin; it is reserved, too."""
    work: Annotated[Study | Command, Field(discriminator="kind")]
    input: Input | None = None
    limits: Limits = Limits()
    settings: KernelSettings = KernelSettings()

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if bool(self.server) != bool(self.services):
            raise ValueError("a server and the services it runs are given together, or neither")
        if self.server == self.node:
            raise ValueError("node and server are the same; give two")
        if self.work.kind == "study" and self.input is None:
            raise ValueError("a study needs an input: upload its folder first")
        if self.priority == "background" and isinstance(self.when, Every | Cron):
            raise ValueError(
                "what is in the background has no fixed times; use 'soon' or 'trigger'"
            )
        return self

    @property
    def resources(self) -> frozenset[str]:
        """What a run takes."""
        return frozenset({self.node} | ({self.server} if self.server else set()))

    @property
    def reserved_s(self) -> int:
        """Whole seconds that a run takes of the calendar."""
        return self.when.seconds + self.tolerance_s

    def claimed(self) -> Once | Every | Cron | None:
        """Return the schedule as it is reserved, tolerance included; None if nothing is."""
        if isinstance(self.when, Soon | OnTrigger):
            return None
        wide = self.when.model_dump() | {"seconds": self.reserved_s}
        return type(self.when).model_validate(wide)
