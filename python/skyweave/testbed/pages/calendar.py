"""The calendar: what is reserved of each node and server in 24 hours, and one's own promises."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Annotated, NamedTuple

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse

from skyweave.testbed.api import nodes as nodes_api
from skyweave.testbed.api.experiments import all_experiments
from skyweave.testbed.api.experiments import calendar as taken_times
from skyweave.testbed.api.guards import office_of
from skyweave.testbed.api.views import ExperimentView, Taken
from skyweave.testbed.calendar import occurrences
from skyweave.testbed.pages.guards import Visitor, sees
from skyweave.testbed.pages.render import page
from skyweave.testbed.pages.words import clock

router = APIRouter()
HOUR_S, DAY_S = 3600, 86_400
MOST_PROMISES = 500
"""Of an experiment; a run each three minutes."""
LEAST_PERCENT = 0.25
"""The least width of a bar: a run of 10 s would be invisible."""


class Bar(NamedTuple):
    """A reservation on the axis, in percent of the day."""

    left: float
    width: float
    taken: Taken
    promise: str = ""
    """The title of an experiment, if it is not reserved yet but will be an hour before."""


class Tick(NamedTuple):
    """An hour on the axis."""

    left: float
    text: str
    is_minor: bool


@router.get("/calendar")
def a_day(
    request: Request, since: Annotated[int | None, Query(ge=0, le=10**11)] = None,
    visitor: Visitor = sees("calendar.see"),
) -> HTMLResponse:  # fmt: skip
    """Show 24 hours, from an hour before now or from ``since``."""
    now = office_of(request).now()
    begin = int(now) // HOUR_S * HOUR_S - HOUR_S if since is None else since // HOUR_S * HOUR_S
    found = taken_times(request, begin, begin + DAY_S, asker=visitor.asker)
    nodes = [one for one in nodes_api.all_nodes(request) if not one.revoked]
    rows: dict[str, list[Bar]] = {one.name: [] for one in nodes}
    for one in found:
        rows.setdefault(one.resource, []).append(_bar(one, begin))
    if (asker := visitor.asker_for("experiments.see")) is not None:
        known = {(one.resource, one.start_unix_s) for one in found}
        for view in all_experiments(request, asker):
            for one in _promises(view, max(begin, int(now)), begin + DAY_S):
                if (one.resource, one.start_unix_s) not in known:
                    bar = _bar(one, begin)._replace(promise=view.plan.title)
                    rows.setdefault(one.resource, []).append(bar)
    return page(
        request, "calendar", visitor, begin=begin, rows=rows,
        bars=sorted((one for row in rows.values() for one in row), key=_start),
        kinds={one.name: one.kind for one in nodes}, ticks=[_tick(begin, n) for n in range(24)],
        line=_percent(now, begin) if begin <= now < begin + DAY_S else None, day_s=DAY_S,
    )  # fmt: skip


def _start(bar: Bar) -> tuple[int, str]:
    return bar.taken.start_unix_s, bar.taken.resource


def _promises(view: ExperimentView, since: int, until: int) -> Iterator[Taken]:
    """Yield what an experiment will take of each of its nodes and servers."""
    claimed = view.plan.claimed()
    if claimed is None or view.ended_unix_s is not None or since >= until:
        return
    for start, end in islice(occurrences(claimed, since, until), MOST_PROMISES):
        for resource in view.plan.resources:
            yield Taken(
                resource=resource, start_unix_s=start, end_unix_s=end,
                priority=view.plan.priority, run=None, owner=view.owner,
            )  # fmt: skip


def _percent(when: float, begin: int) -> float:
    return 100 * (when - begin) / DAY_S


def _bar(taken: Taken, begin: int) -> Bar:
    left = max(0.0, _percent(taken.start_unix_s, begin))
    right = min(100.0, _percent(taken.end_unix_s, begin))
    width = max(right - left, LEAST_PERCENT)
    return Bar(round(min(left, 100 - width), 3), round(width, 3), taken)


def _tick(begin: int, hour: int) -> Tick:
    text = clock(begin + hour * HOUR_S).strftime("%H")
    return Tick(round(100 * hour / 24, 3), text, hour % 4 != 0)
