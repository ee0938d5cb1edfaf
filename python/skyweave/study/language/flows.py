"""Competing flows: groups of connections that share the links of one run."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field, field_validator

from skyweave.algorithms.catalogue import Choice, label, name_of, parameters_of
from skyweave.model.validated import Amount, StudyModel
from skyweave.study.language.choices import checked, spread

MOST_FLOWS = 10_000
"""The most connections of one group."""
ALONE = "one"
"""What the report calls the flows of a run with a single connection."""
MIXED = "mixed"
"""What the report calls the congestion control of a run with several groups."""


class FlowGroup(StudyModel):
    """``count`` equal connections: a list of congestion controls expands into several runs."""

    congestion: tuple[Choice, ...] = Field(min_length=1)
    count: Annotated[int, Field(ge=1, le=MOST_FLOWS)] = 1
    start_s: Amount = 0.0
    stagger_s: Amount = 0.0
    """Connections of the group open this far apart."""

    @field_validator("congestion", mode="before")
    @classmethod
    def _lists(cls, value: Any) -> Any:
        return spread(value)

    @field_validator("congestion")
    @classmethod
    def _controllers(cls, value: tuple[Choice, ...]) -> tuple[Choice, ...] | None:
        return checked("congestion", value)


@dataclass(frozen=True)
class Flow:
    """One group of a run: ``count`` connections under one congestion control."""

    congestion: Choice
    count: int = 1
    start_s: float = 0.0
    stagger_s: float = 0.0

    def starts_s(self) -> list[float]:
        """When each connection of the group opens, in seconds since the run began."""
        return [self.start_s + number * self.stagger_s for number in range(self.count)]


Mix = tuple[Flow, ...]


def mixes(groups: Sequence[FlowGroup]) -> list[Mix]:
    """Return each combination of the groups' congestion controls."""
    choices = itertools.product(*(group.congestion for group in groups))
    return [
        tuple(
            Flow(congestion, group.count, group.start_s, group.stagger_s)
            for congestion, group in zip(chosen, groups, strict=True)
        )
        for chosen in choices
    ]


def mix_labels(mix: Mix) -> dict[str, Any]:
    """Return what the report knows the flows of a run by.

    >>> mix_labels((Flow("cubic", 8), Flow("bbr", 8)))["flows"]
    '8 cubic + 8 bbr'
    """
    if len(mix) == 1 and mix[0].count == 1:
        return {"flows": ALONE, "flow_counts": [1], **_control(mix[0].congestion)}
    return {
        "flows": " + ".join(f"{flow.count} {label(flow.congestion)}" for flow in mix),
        "flow_counts": [flow.count for flow in mix],
        **_control(mix[0].congestion if len(mix) == 1 else MIXED),
    }


def _control(choice: Choice) -> dict[str, Any]:
    """Return a control by what reports call it, and as the value it is."""
    value = {"name": name_of(choice), **parameters_of(choice)}
    return {"congestion": label(choice), "control": value}
