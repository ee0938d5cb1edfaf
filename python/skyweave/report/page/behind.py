"""What stands behind a headline: waits, what got worse, how many pairs, under which settings."""

from __future__ import annotations

import numpy as np

from skyweave.plotting.words import percent
from skyweave.report.numbers.namer import Namer
from skyweave.report.numbers.panel import Panel
from skyweave.results.pathset import PathSet

WAITS = ("in_order_wait_p50_ms", "in_order_wait_p99_ms", "in_order_wait_longest_ms")
"""How long bytes wait for earlier ones; the median over runs of each."""
_SHOWN = ("multipath", "mode", "scheduler", "congestion", "queue", "engine", "workload")
OFTEN = 0.05
"""A larger share of samples below the best path alone is worth an alert."""
_SLACK = 1.005
"""Less than half a percent is no change."""


def facts_of(panel: Panel, namer: Namer, cell: PathSet) -> list[str]:
    """Return sentences that belong to the headline about ``cell``, the best of its panel."""
    found = [
        _alert(panel, namer, cell),
        _waits(panel, cell),
        _worse(panel, cell),
        _pairs(panel, namer, cell),
    ]
    return [*filter(None, found), _settings(panel)]


def waits_ms(panel: Panel, cell: PathSet) -> list[float] | None:
    """Return p50, p99 and longest in-order wait (median over runs); None where none is known."""
    if any(name not in panel.others for name in WAITS):
        return None
    values = [panel.estimate(name, cell, "median").value for name in WAITS]
    return values if all(value == value for value in values) else None


def waits_words(waits: list[float] | None) -> str:
    """Return the three waits as a table shows them.

    >>> waits_words([0.0, 55.551, 1119.3]), waits_words(None)
    ('0 / 56 / 1119', 'none')
    """
    return "none" if waits is None else " / ".join(f"{wait:.0f}" for wait in waits)


def _alert(panel: Panel, namer: Namer, cell: PathSet) -> str:
    """Warn where the set is often below its best path alone, and say what bytes wait for."""
    below = [values < 0 for values in panel.binned("bonded_minus_max", cell)]
    share = float(np.mean(np.concatenate(below)))
    if share <= OFTEN:
        return ""
    said = f"In {percent(share)} of samples it is below the best of its networks alone"
    shares = {
        name: panel.estimate(quantity, cell, "mean").value
        for name in cell.names
        if (quantity := f"blocking_share@{name}") in panel.others
    }
    known = {name: value for name, value in shares.items() if value == value}
    if not known:
        return f"{said}; what bytes waited for is not known."
    most = max(known, key=lambda name: known[name])
    return f"{said}; {percent(known[most])} of in-order waits are for {namer.path(most)}."


def _waits(panel: Panel, cell: PathSet) -> str:
    waits = waits_ms(panel, cell)
    if waits is None:
        return ""
    return f"An in-order reader waits {waits[1]:.0f} ms at p99 and {waits[2]:.0f} ms at most."


def _worse(panel: Panel, cell: PathSet) -> str:
    """Say what is worse than on the best of the paths alone, each number on its own."""
    parts = []
    for words, statistic in (("25th percentile", "p25"), ("mean", "mean")):
        bonded = panel.estimate("goodput", cell, statistic).value
        best = max(panel.estimate("goodput", name, statistic).value for name in cell.alone)
        if bonded * _SLACK < best:
            parts.append(f"{words} {bonded:.2g} instead of {best:.2g} Mbit/s")
    bonded_waits = waits_ms(panel, cell)
    alone = [waits for name in cell.alone if (waits := waits_ms(panel, name)) is not None]
    for place, words in ((1, "in-order wait at p99"), (2, "longest in-order wait")):
        if bonded_waits and alone:
            least = min(waits[place] for waits in alone)
            if bonded_waits[place] > least * _SLACK:
                parts.append(f"{words} {bonded_waits[place]:.0f} instead of {least:.0f} ms")
    return f"Worse than on the better path alone: {'; '.join(parts)}." if parts else ""


def _pairs(panel: Panel, namer: Namer, cell: PathSet) -> str:
    """Say of how many sets this one is the best, and which are below their best path alone."""
    count = len(panel.comparable)
    below = [one for one in panel.comparable if panel.estimate("gain", one, "median").value < 1]
    losers = ", ".join(namer.cell(one) for one in below)
    said = f"{namer.cell(cell)} is the best of {count} sets by the median" if count > 1 else ""
    lost = f"{len(below)} of {count} below the best path alone: {losers}" if below else ""
    return "; ".join(filter(None, (said, lost))) + ("." if said or lost else "")


def _settings(panel: Panel) -> str:
    values = [
        f"{key} {panel.settings[key]}" for key in _SHOWN if panel.settings.get(key) is not None
    ]
    settings = panel.settings
    of_kernel = settings.get("engine") == "field" and settings.get("multipath") != "mpquic"
    buffers = None if of_kernel else panel.settings.get("send_buffer_mb")
    values += [f"send buffer {buffers:g} MB"] if buffers is not None else []
    runs = len(panel.names)
    return f"{runs} drive{'s' if runs != 1 else ''}, {', '.join(values)}."
