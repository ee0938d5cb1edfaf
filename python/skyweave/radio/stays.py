"""Interfaces as paths that come and go: a path for each stay of an interface at a cell."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from skyweave.errors import ConfigError
from skyweave.model.drive import Drive, PathTrace
from skyweave.model.windows import OutageWindow, UpWindow
from skyweave.radio.cases import WAIT_S, Case, interfaces
from skyweave.radio.cells import Integers
from skyweave.radio.delay import DelayRule
from skyweave.radio.offer import Offer
from skyweave.radio.paths import PathsOf, best_of_each, trace_of

GAP_S = 0.05
"""Ours: how long an interface has no service when it changes its cell; LTE allows tens of
milliseconds. What is on its way then is lost: the two carriers may be of different operators."""


def stays_drive(
    offered: Offer,
    name: str,
    origin: str,
    cases: Sequence[PathsOf],
    rules: tuple[DelayRule, int, float] = ("power", WAIT_S, GAP_S),
) -> Drive:
    """A drive with the interfaces of several cases side by side.

    ``operators`` are paths named after them, each at its best cell. ``sp`` is one path throughout:
    the handover that nobody notices. Case k has interfaces named ``ck``, or ``cka``, ``ckb`` …; at
    every change of cell one goes and comes back at once
    (``present``), after a gap without service. ``rules``: how delay follows capacity, the seconds
    of patience and the gap. Raises :class:`ConfigError` for a negative gap.
    """
    delay, wait_s, gap_s = rules
    if gap_s < 0:
        raise ConfigError(f"gap_s {gap_s:g}: a handover takes no time (0) or some")
    traces: dict[str, PathTrace] = {}
    for case in cases:
        if case == "operators":
            best = best_of_each(offered)
            traces |= {operator: trace_of(rate, delay) for operator, rate in best.items()}
            continue
        carriers, rates = interfaces(offered, case, wait_s)
        for number, (carrier, rate) in enumerate(zip(carriers, rates, strict=True)):
            trace = trace_of(rate, delay)
            if case != "sp":
                trace = _handed_over(trace, _changes(offered, carrier), gap_s)
            traces[interface_name(case, number)] = trace
    return Drive(name=name, origin=origin, paths=traces, start=offered.start, synthetic=True)


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
