"""Windows of time, and the one way in which they are merged (in Rust: ``units::Window``)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, Self, TypeVar

from pydantic import model_validator

from skyweave.model.base import Model, Ratio, Seconds


class Window(Model):
    """The time from ``start_s`` up to ``end_s``, which is no longer part of it."""

    start_s: Seconds
    end_s: Seconds

    def joined(self, later: Self) -> Self:
        """Return one window in place of this one and of one that begins in it or at its end."""
        return self.model_copy(update={"end_s": max(self.end_s, later.end_s)})


AnyWindow = TypeVar("AnyWindow", bound=Window)


def union(windows: Iterable[AnyWindow]) -> tuple[AnyWindow, ...]:
    """Return windows in order of time; those that overlap or touch become one.

    >>> union([Window(start_s=4, end_s=5), Window(start_s=1, end_s=2), Window(start_s=2, end_s=3)])
    (Window(start_s=1.0, end_s=3.0), Window(start_s=4.0, end_s=5.0))
    """
    merged: list[AnyWindow] = []
    for one in sorted(windows, key=lambda window: window.start_s):
        if merged and one.start_s <= merged[-1].end_s:
            merged[-1] = merged[-1].joined(one)
        else:
            merged.append(one)
    return tuple(merged)


class OutageWindow(Window):
    """No service in [start, end); what is in flight is dropped, or held until the end."""

    in_flight: Literal["drop", "hold"] = "drop"

    def joined(self, later: Self) -> Self:
        """Return both as one; if either drops what is in flight, it does."""
        one = super().joined(later)
        same = self.in_flight == later.in_flight
        return one if same else one.model_copy(update={"in_flight": "drop"})


class ForecastWindow(Window):
    """An outage as it is foreseen, true or not: [start, end), and how likely it comes."""

    probability: Ratio = 1.0

    @model_validator(mode="after")
    def _rising(self) -> Self:
        if self.end_s <= self.start_s:
            raise ValueError(
                f"a foreseen outage from {self.start_s:g} s to {self.end_s:g} s: end_s must be "
                "after start_s"
            )
        return self

    def joined(self, later: Self) -> Self:
        """Return both as one, as likely as the likelier of them."""
        probability = max(self.probability, later.probability)
        return super().joined(later).model_copy(update={"probability": probability})


class UpWindow(Model):
    """The interface exists in [start, end); both ends learn when it comes and goes."""

    start_s: Seconds
    end_s: Seconds | None = None
