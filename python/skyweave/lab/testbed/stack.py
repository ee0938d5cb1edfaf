"""What went through the lab's stack, counted by what its programs wrote: T3P's Fig. 8, but alive.

Telemetry, triggers and predictors stand on the node; runs, a transport and an application use them.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from skyweave.lab.testbed.aware import CAMERA, HEARD
from skyweave.lab.testbed.places import ADMIN, PREDICTED, SPIKE
from skyweave.lab.testbed.start import Lab

LOST = "own_lost"
MOST_RUNS = 500


def stack_of(lab: Lab) -> dict[str, Any]:
    """Return all counts of a lab that is still up."""
    return {
        **heard(lab.town.folder / f"{HEARD}.log"),
        "camera": camera(lab.town.folder / f"{CAMERA}.log"),
        "runs": _runs(lab),
        "links": {
            name: {"bytes": one["delivered_bytes"], "packets": one["delivered_packets"]}
            for name, one in sorted(lab.town.carried().items())
        },
    }


def heard(log: Path) -> dict[str, Any]:
    """Return what the node published: samples by source, firings, forecasts.

    Who listens begins some seconds after the node, so a firing may be missing here that the
    orchestrator has heard.
    """
    found: Counter[str] = Counter()
    for row in lines(log):
        if row["level"] == "samples":
            found["probes_answered"] += row.get(PREDICTED) is not None
            found["probes_lost"] += row.get(LOST) == 1.0
            found["dish_statuses"] += "dish_state" in row
        found["firings"] += row["level"] == "firings" and row["trigger"] == SPIKE
        found["forecasts"] += row["level"] == "forecasts"
    names = ("probes_answered", "probes_lost", "dish_statuses", "firings", "forecasts")
    return {name: found[name] for name in names}


def camera(log: Path) -> dict[str, int]:
    """Return what the camera sent, what it knew then, and what arrived through the tunnel."""
    rows = list(lines(log))
    sent = [row for row in rows if "sent_bytes" in row]
    return {
        "groups": len(sent),
        "with_a_forecast": sum(row["knows"] for row in sent),
        "held_back": sum(row["held_back"] for row in sent),
        "arrived": sum(row.get("arrived", 0) for row in rows),
        "bytes": sum(row["sent_bytes"] for row in sent),
        "broken": sum("broken" in row for row in rows),
    }


def _runs(lab: Lab) -> dict[str, Any]:
    """Return runs by state, and of those that fired: what they carried and left."""
    with lab.people.as_(ADMIN) as admin:
        rows = admin.runs(limit=MOST_RUNS)
        states = Counter(row["state"] for row in rows if row["state"] != "reserved")
        fired = [row for row in rows if row["experiment"] == lab.triggered]
        carried = files = size = 0
        for row in fired:
            details = admin.run(row["id"])
            report = details["report"] or {}
            carried += report.get("sent_bytes", 0) + report.get("received_bytes", 0)
            stored = [one["artefact"] for one in details["artefacts"] if one["stored"]]
            files, size = files + len(stored), size + sum(one["bytes"] for one in stored)
    return {
        "states": dict(states), "triggered": len(fired),
        "triggered_done": sum(row["state"] == "done" for row in fired),
        "triggered_carried_bytes": carried, "files": files, "file_bytes": size,
    }  # fmt: skip


def lines(log: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects of a log; its last line may be half there."""
    with log.open() as file:
        for line in file:
            try:
                row = json.loads(line)
            except ValueError:
                continue
            if isinstance(row, dict):
                yield row


LINKS = (
    ("probes_answered", "no probe was answered"), ("dish_statuses", "the dish said nothing"),
    ("forecasts", "nothing was foreseen"),
)  # fmt: skip


def broken(found: dict[str, Any]) -> list[str]:
    """Return which link of the stack carried nothing, in sentences; empty: all of them did."""
    said = [sentence for name, sentence in LINKS if not found[name]]
    runs, seen = found["runs"], found["camera"]
    if not runs["triggered"]:  # each firing is a run, be it skipped
        said.append("nothing fired")
    if not runs["triggered_done"]:
        said.append("no run that a firing started was done")
    if not runs["files"]:
        said.append("no file of such a run was stored")
    if not seen["with_a_forecast"]:
        said.append("the application had no forecast")
    if not seen["held_back"]:
        said.append("the application did nothing because of a forecast")
    if not seen["arrived"]:
        said.append("nothing arrived through the transport")
    return said
