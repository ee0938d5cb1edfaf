"""The states of a run: what may follow what, and what is to be done. No clock, no database.

    reserved -> serving -> ordered -> accepted -> running -> collecting -> done, failed, ...
                                          any of them -> stopping -> cancelled, preempted

Each function takes the situation of a run and what happened, and returns the step to take, or None
if nothing follows. It is asked in a transaction that writes the step, so the same news twice, or
news that comes late, changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, get_args

State = Literal[
    "reserved", "serving", "ordered", "accepted", "running", "stopping", "collecting",
    "done", "failed", "preempted", "cancelled", "refused", "skipped", "lost",
]  # fmt: skip
FINAL: frozenset[str] = frozenset(
    {"done", "failed", "preempted", "cancelled", "refused", "skipped", "lost"}
)
STATES: tuple[str, ...] = get_args(State)
ON_NODE = frozenset({"ordered", "accepted", "running", "stopping"})
"""The node may be doing it."""
LEAD_S = 30.0
"""How long before its start a run is ordered: longer than a terminal is usually gone."""
AWAY_S = 7 * 86_400.0
"""How long a node may be away with a run before that counts as lost."""
ENDS: dict[str, State] = {
    "done": "done", "preempted": "preempted", "cancelled": "cancelled", "failed": "failed",
    "timed-out": "failed", "over-limit": "failed", "crashed": "failed",
}  # fmt: skip
"""What the node calls the end, and the state that it is."""
Do = Literal["serve", "start", "stop", "release"]


@dataclass(frozen=True)
class Situation:
    """What of a run decides."""

    state: State
    start: float
    latest: float
    seconds: float
    has_server: bool = False
    outcome: str | None = None

    @property
    def away(self) -> float:
        """From when on a run without news is lost."""
        return self.latest + self.seconds + AWAY_S


@dataclass(frozen=True)
class Step:
    """What follows: the new state, whom to tell what, when to look again without news."""

    state: State
    due: float | None = None
    do: tuple[Do, ...] = ()
    why: str = ""
    outcome: str | None = None
    late: bool = False
    """Whether it did not begin because its time was past: another may do as well."""

    @property
    def is_final(self) -> bool:
        """Whether nothing can follow."""
        return self.state in FINAL


def reserved(start: float) -> Step:
    """Return the first step of a run that has its place."""
    return Step("reserved", start - LEAD_S)


def on_time(run: Situation, now: float) -> Step | None:
    """Return what the time alone brings."""
    if run.state == "reserved":
        if now > run.latest:
            return Step("skipped", why="its time passed before it could be ordered", late=True)
        if now < run.start - LEAD_S:
            return None
        return Step("serving", run.latest, ("serve",)) if run.has_server else _order(run)
    if run.state == "serving" and now > run.latest:
        return Step("skipped", do=("release",), why="its server was not ready in time")
    if run.state in ON_NODE and now >= run.away:
        return _over(run, "lost", "its node did not come back within 7 days")
    if run.state == "collecting" and now >= run.away:
        return Step(ENDS[run.outcome or "crashed"], why="some of its files never came")
    return None


def on_ready(run: Situation) -> Step | None:
    """The server answers for it."""
    return _order(run) if run.state == "serving" else None


def on_accepted(run: Situation) -> Step | None:
    """The node will do it."""
    return Step("accepted", run.away) if run.state == "ordered" else None


def on_started(run: Situation) -> Step | None:
    """The node does it."""
    return Step("running", run.away) if run.state in ("ordered", "accepted") else None


def on_refused(
    run: Situation, why: str, *, by_server: bool, late: bool = False
) -> Step | None:  # fmt: skip
    """Its server, or its node, does not do it and never began; ``late``: its time was past."""
    if by_server:
        if run.state != "serving":
            return None
        return Step("skipped", do=("release",), why=f"its server refused: {why}")
    if run.state == "stopping":
        return _over(run, ENDS[run.outcome or "cancelled"], why)
    if run.state not in ("ordered", "accepted"):
        return None
    return replace(_over(run, "refused", why), late=late)


def on_finished(run: Situation, outcome: str, files: int, why: str) -> Step | None:
    """The node is through with it; the files that it left are still to come."""
    if run.state not in ON_NODE:
        return None
    do: tuple[Do, ...] = ("release",) if run.has_server else ()
    if files:
        return Step("collecting", run.away, do, why, outcome)
    return Step(ENDS[outcome], None, do, why, outcome)


def on_files(run: Situation) -> Step | None:
    """All files are in."""
    return Step(ENDS[run.outcome or "crashed"]) if run.state == "collecting" else None


def on_stop(run: Situation, outcome: Literal["cancelled", "preempted"], why: str) -> Step | None:
    """Somebody wants it to end, or never to begin."""
    if run.state == "reserved":
        return Step(outcome, why=why)
    if run.state == "serving":
        return Step(outcome, do=("release",), why=why)
    if run.state in ("ordered", "accepted", "running"):
        return Step("stopping", run.away, ("stop",), why, outcome)
    return None


def on_revoked(run: Situation) -> Step | None:
    """Its node does not belong to the testbed any more."""
    if run.state in FINAL:
        return None
    if run.state in ON_NODE | {"collecting"}:
        return _over(run, "lost", "its node was revoked")
    return _over(run, "cancelled", "its node was revoked")


def _order(run: Situation) -> Step:
    return Step("ordered", run.away, ("start",))


def _over(run: Situation, state: State, why: str) -> Step:
    return Step(state, do=("release",) if run.has_server else (), why=why)
