"""What a node makes of its orders: takes or refuses runs, begins, ends and tells them.

Nothing here reads a clock or starts anything. Each function is one transaction of the book, so an
order that comes twice, late or out of turn changes nothing, and no run is ended twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from skyweave.testbed.node.book import OPEN, Book, Kept
from skyweave.testbed.node.policy import Asked, Policy, Taken, day_of, refusal
from skyweave.testbed.wire import (
    Accepted,
    Artefact,
    Clock,
    Finished,
    Limits,
    Numbered,
    Refused,
    RunSpecification,
    Start,
    Started,
    Stop,
)

Reason = Literal["policy", "late", "clock", "busy", "settings", "sandbox", "input", "other"]
StopOutcome = Literal["cancelled", "preempted"]


@dataclass(frozen=True)
class Prepare:
    """A run to get ready for: fetch its files, then :func:`accept` or :func:`refuse`."""

    specification: RunSpecification


@dataclass(frozen=True)
class End:
    """A run that has to end, or that no longer waits for its time."""

    run: str
    outcome: StopOutcome
    why: str


def take(
    book: Book, policy: Policy, numbered: Numbered, now: float, clock: Clock
) -> Prepare | End | None:
    """Take an order, once; return what there is to do. ``now`` is the true time."""
    with book.turn():
        if numbered.sequence <= book.newest_order:
            return None
        book.note("order", str(numbered.sequence))
        order = numbered.order
        if isinstance(order, Start):
            return _start(book, policy, order.specification, now, clock)
        if isinstance(order, Stop):
            return _stop(book, order, now)
        return None


def accept(book: Book, run: str, now: float) -> bool:
    """Its files are here and allowed: say that it will begin. False: it was stopped meanwhile."""
    with book.turn():
        if not book.change(run, ("taken",), "accepted"):
            return False
        book.tell(Accepted(run=run, fence=_fence(book, run)), now)
        return True


def refuse(book: Book, run: str, reason: Reason, why: str, now: float) -> bool:
    """Say that a run which has not begun never will. False: it was stopped, or has begun."""
    with book.turn():
        if not book.change(run, ("taken", "accepted"), "over"):
            return False
        book.tell(_refused(run, _fence(book, run), reason, why), now)
        return True


def begin(book: Book, run: str, now: float) -> bool:
    """Say that a run begins, before it does. False: it was stopped meanwhile."""
    with book.turn():
        if not book.change(run, ("accepted",), "running", started=now):
            return False
        book.tell(Started(run=run, fence=_fence(book, run)), now)
        return True


def finish(book: Book, said: Finished, files: tuple[Artefact, ...], now: float) -> bool:
    """Say that a run is over, and what it left. False: that was said before."""
    with book.turn():
        if not book.change(said.run, ("running",), "over"):
            return False
        book.carry(_carried(book, said), now)
        whole = said.model_copy(update={"fence": _fence(book, said.run), "artefacts": files})
        book.keep_files(said.run, files)
        book.tell(whole, now)
        return True


def allowed(policy: Policy, limits: Limits) -> Limits:
    """Return limits within those of the policy."""
    most = policy.most
    return limits.model_copy(
        update={
            "memory_bytes": min(limits.memory_bytes, most.memory_bytes),
            "processes": min(limits.processes, most.processes),
            "cpu_share": min(limits.cpu_share, most.cpu_share),
            "artefact_bytes": min(limits.artefact_bytes, most.artefact_bytes),
        }
    )


def forbidden(
    book: Book, policy: Policy, what: RunSpecification, brings_python: bool
) -> str | None:
    """Return why the owner's policy forbids a run; ``None``: it does not."""
    asked = Asked(
        user=what.origin.user, kind=what.kind, start_unix_s=what.start_unix_s,
        seconds=what.seconds, network_bytes=what.limits.network_bytes,
        brings_python=brings_python, is_command=what.work.kind == "command",
    )  # fmt: skip
    return refusal(policy, asked, _taken(book, policy, what))


def _start(
    book: Book, policy: Policy, what: RunSpecification, now: float, clock: Clock
) -> Prepare | None:
    there = book.run(what.run)
    if there is not None and there.fence >= what.fence:
        return None
    if there is not None and there.state == "running":
        book.tell(_refused(what.run, what.fence, "busy", "this run is under way already"), now)
        return None
    book.put(what.run, what.fence, "taken", what)
    tolerance = what.latest_start_unix_s - what.start_unix_s
    says_code = what.work.kind == "study" and what.work.code
    if clock.error_s > tolerance:
        why = f"the clock is known to {clock.error_s:.3g} s, and {tolerance:.3g} s are tolerated"
        refuse(book, what.run, "clock", why, now)
    elif now > what.latest_start_unix_s:
        late = now - what.latest_start_unix_s
        refuse(book, what.run, "late", f"the order came {late:.1f} s after its latest start", now)
    elif (why_not := forbidden(book, policy, what, says_code)) is not None:
        refuse(book, what.run, "policy", why_not, now)
    else:
        return Prepare(what)
    return None


def _stop(book: Book, order: Stop, now: float) -> End | None:
    there = book.run(order.run)
    if there is None:  # a start that is still under way, with a lower fence, comes too late
        book.put(order.run, order.fence, "over", None)
        why = "stopped before it was heard of"
        book.tell(_refused(order.run, order.fence, "other", why), now)
        return None
    if order.fence < there.fence or there.state == "over":
        return None
    book.fence(order.run, order.fence)
    if there.state != "running":
        refuse(book, order.run, "other", order.why or "stopped before it began", now)
    return End(order.run, order.outcome, order.why)


def _taken(book: Book, policy: Policy, what: RunSpecification) -> Taken:
    """Return what other runs have of the day and of the time of a run."""
    begin, end = day_of(policy, what.start_unix_s)
    size, at_once = book.carried(begin, end), 0
    for one in book.runs(*OPEN):
        if one.run != what.run and one.specification is not None:
            size += _promised(one, begin, end)
            at_once += _meets(one.specification, what)
    return Taken(size, at_once)


def _promised(one: Kept, begin: float, end: float) -> int:
    assert one.specification is not None
    in_day = begin <= one.specification.start_unix_s < end
    return one.specification.limits.network_bytes if in_day else 0


def _meets(one: RunSpecification, other: RunSpecification) -> bool:
    """Tell whether two runs would be under way at the same time."""
    return (
        one.start_unix_s < other.start_unix_s + other.seconds
        and other.start_unix_s < one.start_unix_s + one.seconds
    )


def _carried(book: Book, said: Finished) -> int:
    """Return what counts of a run: what it carried; all that it might have, if nobody saw."""
    there = book.run(said.run)
    if said.outcome == "crashed" and there is not None and there.specification is not None:
        return there.specification.limits.network_bytes
    return said.sent_bytes + said.received_bytes


def _fence(book: Book, run: str) -> int:
    there = book.run(run)
    assert there is not None
    return there.fence


def _refused(run: str, fence: int, reason: Reason, why: str) -> Refused:
    return Refused(run=run, fence=fence, reason=reason, why=why[:500])


__all__ = [
    "OPEN", "End", "Prepare", "accept", "allowed", "begin", "finish", "forbidden", "refuse", "take",
]  # fmt: skip
