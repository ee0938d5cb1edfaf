"""Why runs did not end as done, out of an orchestrator's tables: one by one, and in groups."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import select

from skyweave.testbed.store import Database
from skyweave.testbed.store.tables import events, runs, transitions

NEAR_S = 60.0
"""A kill that long before a run's end, or later, may be its cause."""
SHOWN = 5
_CHANGING = re.compile(r"\b[0-9a-f]{12,}\b|\d+(\.\d+)?")


class Kill(NamedTuple):
    """A process that was killed (-9), and when."""

    unix_s: float
    who: str


def causes(url: str, kills: Sequence[Kill] = ()) -> list[dict[str, Any]]:
    """Return each run that is not done: its states, what was said of it, and kills near its end."""
    database, found = Database(url), []
    with database.read() as connection:
        rows = connection.execute(runs.select().where(runs.c.state != "done")).all()
        for row in rows:
            of_run = transitions.c.run == row.id
            steps = connection.execute(
                select(transitions).where(of_run).order_by(transitions.c.number)
            ).all()
            told = connection.execute(
                select(events).where(events.c.run == row.id).order_by(events.c.time)
            ).all()
            found.append(_cause(row, steps, [(one, json.loads(one.body)) for one in told], kills))
    database.close()
    return found


def _cause(row: Any, steps: Sequence[Any], told: Sequence[Any], kills: Sequence[Kill]) -> dict:
    last = {body["kind"]: body for _, body in told}
    said = last.get("refused") or last.get("finished") or {}
    end = row.ended if row.ended is not None else float("inf")
    whole = row.why or next((one.why for one in reversed(steps) if one.why), "")
    return {
        "run": row.id, "node": row.node, "server": row.server, "start": row.start,
        "state": row.state, "outcome": row.outcome, "reason": said.get("reason"),
        "exit_code": said.get("exit_code"), "why": whole, "said": said.get("why", ""),
        "states": [f"{one.state} {one.at - row.start:+.1f} s" for one in steps],
        "told": [f"{one.node}: {one.kind} {one.time - row.start:+.1f} s" for one, _ in told],
        "kills": [
            f"{one.who} {one.unix_s - row.start:+.1f} s" for one in kills
            if row.start - NEAR_S <= one.unix_s <= min(end, row.start + NEAR_S)
        ],
    }  # fmt: skip


def grouped(found: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the groups of runs with one cause, numbers and names of runs aside; largest first."""
    groups: dict[tuple[str, str, str], list[Mapping[str, Any]]] = defaultdict(list)
    for one in found:
        kind = (one["reason"] if one["state"] == "refused" else one["outcome"]) or ""
        groups[one["state"], kind, _CHANGING.sub("N", one["why"])].append(one)
    return [
        {
            "state": state, "kind": kind, "why": why, "count": len(some),
            "with_a_kill_nearby": sum(bool(one["kills"]) for one in some),
            "runs": [one["run"] for one in some[:SHOWN]],
        }
        for (state, kind, why), some in sorted(groups.items(), key=lambda one: -len(one[1]))
    ]  # fmt: skip
