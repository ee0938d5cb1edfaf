"""What probes say, as page and terminal print it."""

from __future__ import annotations

from typing import NamedTuple

from skyweave.plotting.words import percent
from skyweave.report.numbers.namer import Namer
from skyweave.report.numbers.panel import Panel
from skyweave.results.pathset import PathSet


class Probed(NamedTuple):
    """The probes over one path set: round trips in ms, and the share that was lost."""

    place: str
    network: str
    least: str
    median: str
    p95: str
    lost: str


def probed(panel: Panel, namer: Namer) -> list[Probed]:
    """Return a row for each path set of a panel of probes; none for another."""
    if not panel.is_probed:
        return []
    return [
        Probed(
            namer.drives(panel.drives),
            namer.cell(cell),
            _ms(panel, cell, "p5"),
            _ms(panel, cell, "median"),
            _ms(panel, cell, "p95"),
            percent(panel.estimate("lost_share", cell, "mean").value),
        )
        for cell in panel.goodput
    ]


def _ms(panel: Panel, cell: PathSet, statistic: str) -> str:
    return f"{panel.estimate('probe_ms', cell, statistic).value:.1f}"
