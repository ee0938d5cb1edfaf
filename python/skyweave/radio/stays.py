"""Interfaces at cells as paths: those that come and go, and links that are down at times.

MPQUIC-LTE says of a handover of MPTCP that the link goes down at the bottleneck; whether anybody
learns of it is left open. :data:`Handover` has both readings.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from skyweave.errors import ConfigError
from skyweave.model.drive import Drive, PathTrace
from skyweave.model.windows import OutageWindow, UpWindow, union
from skyweave.radio.cases import WAIT_S, Case, interfaces
from skyweave.radio.cells import Integers
from skyweave.radio.delay import DelayRule
from skyweave.radio.offer import Offer
from skyweave.radio.paths import PathsOf, best_of_each, trace_of

Bools = npt.NDArray[np.bool_]
GAP_S = 0.05
"""Ours: how long an interface has no service when it changes its cell; LTE allows tens of
milliseconds. What is on its way then is lost: the two carriers may be of different operators."""

Handover = Literal["interface", "link"]
"""What a change of cell is to the transport: the interface at the client goes and comes back, so
that both ends learn of it; or the link to one carrier goes down and that to another comes up, and
neither end is notified."""


class Rules(NamedTuple):
    """How delay follows capacity, seconds of patience, seconds without service at a change, and
    what a change is."""

    delay: DelayRule = "power"
    wait_s: int = WAIT_S
    gap_s: float = GAP_S
    handover: Handover = "interface"


PLAIN = Rules()


def stays_drive(
    offered: Offer, name: str, origin: str, cases: Sequence[PathsOf], rules: Rules = PLAIN
) -> Drive:
    """A drive with the interfaces of several cases side by side.

    ``operators`` are paths named after them, each at its best cell. ``sp`` is one path throughout:
    the handover that nobody notices. Case k has interfaces named ``ck``, or ``cka``, ``ckb`` …; at
    every change of cell one goes and comes back at once (``present``), after a gap without service.
    Where handovers are of links, case k has a path for each carrier instead, ``lka``, ``lkb`` …,
    which is out while no interface would be there. Raises :class:`ConfigError` for a negative gap.
    """
    if rules.gap_s < 0:
        raise ConfigError(f"gap_s {rules.gap_s:g}: a handover takes no time (0) or some")
    traces: dict[str, PathTrace] = {}
    for case in cases:
        if case == "operators":
            best = best_of_each(offered)
            traces |= {operator: trace_of(rate, rules.delay) for operator, rate in best.items()}
        elif case != "sp" and rules.handover == "link":
            traces |= _links(offered, case, rules)
        else:
            traces |= _interfaces(offered, case, rules)
    return Drive(name=name, origin=origin, paths=traces, start=offered.start, synthetic=True)


def _interfaces(offered: Offer, case: Case, rules: Rules) -> dict[str, PathTrace]:
    """The paths of a case whose interfaces come and go; ``sp`` has one that does not."""
    traces = {}
    carriers, rates = interfaces(offered, case, rules.wait_s)
    for number, (carrier, rate) in enumerate(zip(carriers, rates, strict=True)):
        trace = trace_of(rate, rules.delay)
        if case != "sp":
            trace = _handed_over(trace, _changes(offered, carrier), rules.gap_s)
        traces[interface_name(case, number)] = trace
    return traces


def _links(offered: Offer, case: Case, rules: Rules) -> dict[str, PathTrace]:
    """A path for each carrier, out while no interface of the case would be at it.

    Those at which interfaces begin come first: a connection opens on the first path.
    """
    held, _ = interfaces(offered, case, rules.wait_s)
    begins = [int(carrier) for carrier in held[:, 0] if carrier >= 0]
    traces = {}
    for number, carrier in enumerate(dict.fromkeys([*begins, *range(len(offered.carriers))])):
        in_use = np.any(held == carrier, axis=0)
        alone = np.full(in_use.shape, carrier, np.int64)
        moved = [at for at in _changes(offered, alone) if in_use[int(at)] and in_use[int(at) - 1]]
        rate = np.where(offered.known, np.nan_to_num(offered.capacity_mbps[carrier]), np.nan)
        trace = trace_of(rate, rules.delay)
        traces[f"l{case}{'abcd'[number]}"] = PathTrace(
            downlink_mbps=trace.downlink_mbps,
            rtt_ms=trace.rtt_ms,
            outages=_outages(in_use, moved, rules.gap_s),
        )
    return traces


def _outages(in_use: Bools, moved: Sequence[float], gap_s: float) -> tuple[OutageWindow, ...]:
    """While a link is not in use, and for a gap whenever it comes up or its cell changes."""
    end = len(in_use)
    bounds = [0, *(np.flatnonzero(np.diff(in_use)) + 1).tolist(), end]
    unused = [
        OutageWindow(start_s=start, end_s=until + (gap_s if until < end else 0.0))
        for start, until in pairwise(bounds)
        if not in_use[start]
    ]
    gaps = [OutageWindow(start_s=at, end_s=at + gap_s) for at in moved if gap_s > 0]
    return union([*unused, *gaps])


def _changes(offered: Offer, carrier: Integers) -> list[float]:
    """The seconds in which an interface at these carriers is served by another cell than before.

    A cell has an address of its own, so each change is a handover. A cell that is not heard for a
    while and then again is the same one.
    """
    at = np.arange(len(carrier))
    cell = np.where(carrier < 0, -1, offered.pci[carrier, at])
    last_heard = np.maximum.accumulate(np.where(cell < 0, 0, at))
    moved = (np.diff(cell[last_heard]) != 0) | (np.diff(carrier) != 0)
    return [float(second) for second in np.flatnonzero(moved) + 1]


def interface_name(case: Case, number: int) -> str:
    """The name of the path of an interface, counted from 0.

    >>> interface_name("sp", 0), interface_name("1", 0), interface_name("3", 2)
    ('sp', 'c1', 'c3c')
    """
    if case == "sp":
        return "sp"
    return f"c{case}" + ("" if case == "1" else "abcd"[number])


def _handed_over(trace: PathTrace, changes: Sequence[float], gap_s: float) -> PathTrace:
    """The trace of an interface that changes its carrier at these seconds.

    A gap that lasts beyond the next change ends with it, because outages must not overlap: the
    next one begins there.
    """
    ends = [*changes, None]
    stays = tuple(
        UpWindow(start_s=start, end_s=end) for start, end in zip([0.0, *changes], ends, strict=True)
    )
    nexts = [*changes[1:], float("inf")]
    gaps = tuple(
        OutageWindow(start_s=at, end_s=min(at + gap_s, following))
        for at, following in zip(changes, nexts, strict=False)
        if gap_s > 0
    )
    return PathTrace(
        downlink_mbps=trace.downlink_mbps, rtt_ms=trace.rtt_ms, present=stays, outages=gaps
    )
