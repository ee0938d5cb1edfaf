"""One run from its order to its end: files, waiting, settings, sandbox, watching, results."""

from __future__ import annotations

import contextlib
import json
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from skyweave.data.writers import drive_text
from skyweave.errors import SkyweaveError
from skyweave.testbed.errors import TestbedError
from skyweave.testbed.node import orders
from skyweave.testbed.node.beside import Beside
from skyweave.testbed.node.book import Book
from skyweave.testbed.node.dial import AwayError, Backoff, Link
from skyweave.testbed.node.gather import gather
from skyweave.testbed.node.policy import Policy
from skyweave.testbed.node.sandbox import Ground, Sandbox, brings_python, unpack
from skyweave.testbed.node.settings import Leases
from skyweave.testbed.node.settings.wanted import settings_of
from skyweave.testbed.node.tools import PATH
from skyweave.testbed.node.traffic import Traffic
from skyweave.testbed.node.yielding import Giving, Yielding
from skyweave.testbed.profiles import drive_of
from skyweave.testbed.wire import Finished, Frozen, RunSpecification
from skyweave.testbed.wire.events import Outcome
from skyweave.version import code_version

LOOK_S = 0.2
"""How often a run is looked at."""


@dataclass
class Node:
    """What all runs of a node share."""

    book: Book
    link: Link
    ground: Ground
    leases: Leases
    policy: Policy
    true_time: Callable[[], float] = time.time
    """The node's clock, corrected."""
    wake: Callable[[], object] = lambda: None
    """Called when there is something to tell."""
    say: Callable[[str], object] = lambda _: None
    stopping: threading.Event = field(default_factory=threading.Event)
    yielding: Callable[[], Yielding | None] = lambda: None
    """Returns what decides whether a run stands still for its owner; None: nothing does."""


@dataclass
class Going:
    """A run that a thread carries out; other threads end it."""

    what: RunSpecification
    ended: threading.Event = field(default_factory=threading.Event)
    outcome: Outcome = "cancelled"
    why: str = ""

    def end(self, outcome: Outcome, why: str) -> None:
        """End it; the first word counts."""
        if not self.ended.is_set():
            self.outcome, self.why = outcome, why
            self.ended.set()


def carry(node: Node, going: Going, accepted: bool = False) -> None:
    """Carry a run out, whatever happens; returns when nothing of it is left but its files.

    ``accepted``: its files are here, and it was said that it will begin: the node starts anew.
    """
    what = going.what
    limits, yields = orders.allowed(node.policy, what.limits), what.priority == "background"
    sandbox = Sandbox(node.ground, what.run, limits, yields)
    try:
        if not accepted and not _prepare(node, going, sandbox):
            return
        ready = _wait(node, going) and _equip(node, what, sandbox)
        if ready and orders.begin(node.book, what.run, node.true_time()):
            node.wake()
            _go(node, going, sandbox)
    except SkyweaveError as error:  # the book cannot be written, or the kernel does not obey
        node.say(f"run {what.run}: {error}")
    finally:
        _clear(node, what.run, sandbox)
        node.wake()


def crashed(node: Node, what: RunSpecification, started: float | None) -> None:
    """Say of a run that the node went down while it ran, with what it had written until then."""
    sandbox = Sandbox(node.ground, what.run, orders.allowed(node.policy, what.limits))
    said = Finished(
        run=what.run, fence=what.fence, outcome="crashed", started_unix_s=started,
        why="the node went down while it ran",
    )  # fmt: skip
    _finish(node, what, sandbox, said, {})


def _prepare(node: Node, going: Going, sandbox: Sandbox) -> bool:
    """Fetch and read its files, then accept it; False: it is refused, or was stopped."""
    what, backoff = going.what, Backoff()
    sandbox.forget()
    while what.input is not None and not sandbox.tree.exists():
        try:
            packed = node.link.input(what.input.sha256)
            unpack(packed, what.input.sha256, sandbox.tree)
        except AwayError as error:
            left = what.latest_start_unix_s - node.true_time()
            if left <= 0:
                return _refuse(node, what, "input", f"its files could not be fetched: {error}")
            going.ended.wait(min(backoff.failed(), left))
            if going.ended.is_set():
                return False
        except (TestbedError, OSError) as error:
            return _refuse(node, what, "input", str(error))
    brings = what.work.kind == "study" and brings_python(sandbox.tree, what.work.file)
    why = orders.forbidden(node.book, node.policy, what, brings)
    if why is not None:
        return _refuse(node, what, "policy", why)
    done = orders.accept(node.book, what.run, node.true_time())
    node.wake()
    return done


def _wait(node: Node, going: Going) -> bool:
    """Wait for its time; False: it was stopped, or its time is past."""
    what = going.what
    while (left := what.start_unix_s - node.true_time()) > 0:
        if going.ended.wait(min(left, 3600.0)):
            return False
    if going.ended.is_set():
        return False
    late = node.true_time() - what.latest_start_unix_s
    return late <= 0 or _refuse(node, what, "late", f"its latest start was {late:.1f} s ago")


def _equip(node: Node, what: RunSpecification, sandbox: Sandbox) -> bool:
    """Make its sandbox and settings; False: that could not be, and it is refused."""
    try:
        sandbox.prepare()
    except (TestbedError, OSError) as error:
        return _refuse(node, what, "sandbox", str(error))
    try:
        wanted = settings_of(what.settings, list(sandbox.devices))
        node.leases.apply(what.run, wanted, sandbox.network.namespace)
    except (TestbedError, OSError) as error:
        return _refuse(node, what, "settings", str(error))
    return True


def _go(node: Node, going: Going, sandbox: Sandbox) -> None:
    """Run it to its end and say how that was."""
    what, traffic = going.what, Traffic()
    far_end = None if what.far_end is None else what.far_end.address
    beside = Beside(sandbox.network.namespace, sandbox.devices, far_end)
    giving, started, code = None, node.true_time(), None
    outcome: Outcome = "failed"
    try:
        sandbox.start(_argv(what), _environment(what, sandbox))
        giving = _give_way(node, going, sandbox)
        outcome, code, why = _watch(going, sandbox, traffic)
    except (TestbedError, OSError) as error:
        why = str(error)
    finally:
        if giving is not None:
            giving.close()
        sandbox.kill()
        beside.close()
    traffic.end(time.time(), sandbox.network.by_link())
    sent, received = sandbox.traffic()
    said = Finished(
        run=what.run, fence=what.fence, outcome=outcome, why=why[:500],
        exit_code=None if code is None else max(-255, min(code, 255)),
        started_unix_s=started, sent_bytes=sent, received_bytes=received,
    )  # fmt: skip
    _finish(node, what, sandbox, said, _measured(what, traffic, beside))


def _give_way(node: Node, going: Going, sandbox: Sandbox) -> Giving | None:
    """Let a background run stand still, and end, for its owner."""
    yielding = node.yielding() if going.what.priority == "background" else None
    if yielding is None:
        return None
    run = going.what.run

    def tell(frozen: bool) -> None:
        row = node.book.run(run)
        fence = going.what.fence if row is None else row.fence
        node.book.tell(Frozen(run=run, fence=fence, frozen=frozen), node.true_time())
        node.wake()

    def end(fault: str | None) -> None:
        if fault is None:
            going.end("preempted", "the owner's traffic did not end")
        else:
            going.end("failed", fault)

    return Giving(sandbox, yielding, tell, end)


def _measured(what: RunSpecification, traffic: Traffic, beside: Beside) -> dict[str, bytes]:
    """Return what the node measured beside a run, as files: counters, round trips, a drive."""
    found = {"traffic.csv": traffic.csv(), "round-trips.csv": beside.csv()}
    origin = f"testbed run {what.run} on {what.node}, {what.kind}"
    drive = drive_of(traffic.rows, beside.probes, f"{what.node}-{what.run[-6:]}", origin)
    with contextlib.suppress(SkyweaveError):
        if drive is not None:
            found["drive.csv"] = drive_text(drive).encode()
    return found


def _watch(going: Going, sandbox: Sandbox, traffic: Traffic) -> tuple[Outcome, int | None, str]:
    """Return how a run ended: by itself, by order or for its owner, or by its limits."""
    what, end = going.what, time.monotonic() + going.what.seconds
    while True:
        code = sandbox.wait(LOOK_S)
        if code is not None:
            return ("done" if code == 0 else "failed"), code, ""
        traffic.look(time.time(), sandbox.network.by_link())
        if going.ended.is_set():
            return going.outcome, None, going.why
        if time.monotonic() >= end:
            return "timed-out", None, f"it was not over after {what.seconds:g} s"
        if (why := sandbox.excess()) is not None:
            return "over-limit", None, why


def _finish(
    node: Node, what: RunSpecification, sandbox: Sandbox, said: Finished,
    measured: dict[str, bytes],
) -> None:  # fmt: skip
    """Restore the settings, gather the files, say that it is over."""
    restored = node.leases.restore(what.run)
    record = sandbox.record() | {
        "skyweave": code_version(),
        "specification": what.model_dump(mode="json", exclude={"far_end": {"token"}}),
        "outcome": said.outcome, "settings_left": restored,
    }  # fmt: skip
    own = {"record.json": json.dumps(record, indent=1).encode(), **measured}
    files, out = gather(
        sandbox.folder, own, orders.allowed(node.policy, what.limits).artefact_bytes
    )
    short = {name: record[name] for name in ("kernel", "isolation", "skyweave", "warnings")}
    whole = said.model_copy(
        update={
            "settings_restored": not restored,
            "record_json": json.dumps(short)[:20_000],
            "why": "; ".join(one for one in (said.why, out) if one)[:500],
        }
    )
    backoff = Backoff()
    while True:
        try:
            orders.finish(node.book, whole, tuple(files), node.true_time())
            return
        except TestbedError as error:  # a full disk: it is over, and that must not be lost
            node.say(f"run {what.run}: {error}")
            if node.stopping.wait(backoff.failed()):
                raise


def _clear(node: Node, run: str, sandbox: Sandbox) -> None:
    """Leave nothing of a run but files that have to be sent."""
    with contextlib.suppress(SkyweaveError):
        node.leases.restore(run)
    try:
        sandbox.close()
    except SkyweaveError as error:
        node.say(f"run {run}: {error}")
    there = node.book.run(run)
    over = there is None or there.state == "over"
    if over and not any(one == run for one, _ in node.book.files()):
        sandbox.forget()


def _refuse(node: Node, what: RunSpecification, reason: orders.Reason, why: str) -> bool:
    orders.refuse(node.book, what.run, reason, why, node.true_time())
    return False


def _argv(what: RunSpecification) -> list[str]:
    if what.work.kind == "command":
        return list(what.work.argv)
    study = f"/experiment/{what.work.file}"
    return [sys.executable, "-I", "-m", "skyweave.cli", "run", study, "--out", "/results/study"]


def _environment(what: RunSpecification, sandbox: Sandbox) -> dict[str, str]:
    """Return what a run may know of itself."""
    found = {
        "PATH": f"{Path(sys.prefix, 'bin')}:{PATH}",
        "SKYWEAVE_RUN": what.run,
        "SKYWEAVE_SECONDS": f"{what.seconds:g}",
        "SKYWEAVE_UPLINKS": ",".join(sandbox.devices),
        "SKYWEAVE_CONTEXT": what.origin.context_json or "{}",
    }
    if what.far_end is not None:
        ports: dict[Any, int] = dict(what.far_end.ports)
        found |= {
            "SKYWEAVE_SERVER": what.far_end.address,
            "SKYWEAVE_PORTS": ",".join(f"{name}={port}" for name, port in ports.items()),
            "SKYWEAVE_TOKEN": what.far_end.token,
        }
    return found
