"""A calendar as it stands: reservations of resources, what clashes with them, where a gap is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from skyweave.testbed.calendar.interval import Interval, Timeline
from skyweave.testbed.calendar.rule import blocks
from skyweave.testbed.wire.run import Priority


class Reservation(NamedTuple):
    """A resource that is taken."""

    resource: str
    when: Interval
    priority: Priority


class Book:
    """Reservations, by resource and class; made anew from rows, never changed."""

    def __init__(self, reservations: Iterable[Reservation]) -> None:
        by: dict[str, dict[Priority, list[Interval]]] = {}
        for one in reservations:
            by.setdefault(one.resource, {}).setdefault(one.priority, []).append(one.when)
        self._by: Mapping[str, Mapping[Priority, list[Interval]]] = by
        self._timelines: dict[tuple[frozenset[str], Priority], Timeline] = {}

    def timeline(self, resources: frozenset[str], wanted: Priority) -> Timeline:
        """Return when any of the resources is taken for a run of class ``wanted``."""
        key = resources, wanted
        if key not in self._timelines:
            self._timelines[key] = Timeline(
                one
                for resource in resources
                for there, intervals in self._by.get(resource, {}).items()
                if blocks(there, wanted)
                for one in intervals
            )
        return self._timelines[key]

    def hit(self, resources: frozenset[str], when: Interval, wanted: Priority) -> Interval | None:
        """Return what is in the way of a run; None if all its resources are free."""
        return self.timeline(resources, wanted).hit(when)

    def nearest(
        self, resources: frozenset[str], seconds: int, wanted: Priority, after: int, before: int
    ) -> int | None:
        """Return the earliest start from ``after`` at which all resources are free.

        The run ends by ``before``; None if there is no such gap.
        """
        return self.timeline(resources, wanted).gap(seconds, after, before)
