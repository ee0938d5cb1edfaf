"""Numbers in sentences: the headline of a report and the small phrases around figures."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from skyweave.plotting.words import mbps, percent
from skyweave.report.numbers.namer import Namer
from skyweave.report.numbers.panel import Panel
from skyweave.report.numbers.stats import Estimate
from skyweave.report.page.behind import facts_of
from skyweave.results.pathset import PathSet


@dataclass(frozen=True)
class Answer:
    """What bonding gives on one panel: the best pair beside each of its paths alone."""

    place: str
    direction: str
    cell: PathSet
    label: str
    median_mbps: float
    outage: float
    alone: list[tuple[str, float, float]]
    """For each path of the set: label, median in Mbit/s, share of seconds without data."""
    sentence: str
    facts: list[str]
    """How long a reader waits, what got worse, which pairs lose, under which settings."""


def foremost(panels: Iterable[Panel]) -> list[Panel]:
    """Return the first panel of each group of drives and direction: the settings that lead.

    Probes have no rates, and lead nothing.
    """
    first: dict[tuple[str, str], Panel] = {}
    for panel in panels:
        if panel.is_probed:
            continue
        first.setdefault((panel.drives, panel.direction), panel)
    return list(first.values())


def answers(panels: Iterable[Panel], namer: Namer) -> list[Answer]:
    """Return an answer for each group of drives and direction, with the settings that lead."""
    return [found for panel in foremost(panels) if (found := answer(panel, namer))]


def differing(panel: Panel, panels: Iterable[Panel]) -> str:
    """Return the settings in which panels of the same drives and direction differ.

    A setting that only some transports have is none: its absence is no value.
    """
    alike = [p for p in panels if (p.drives, p.direction) == (panel.drives, panel.direction)]
    return ", ".join(
        f"{key.replace('_', ' ')} {value}"
        for key, value in panel.settings.items()
        if value is not None
        and len({str(p.settings[key]) for p in alike if p.settings[key] is not None}) > 1
    )


def answer(panel: Panel, namer: Namer) -> Answer | None:
    """Return the answer of a panel, or None where nothing can be compared."""
    if not panel.comparable:
        return None
    cell = max(panel.comparable, key=lambda c: panel.estimate("goodput", c, "median").value)
    bonded, out = _numbers(panel, cell)
    alone = [(namer.path(name), *_numbers(panel, name)) for name in cell.alone]
    return Answer(
        place=namer.drives(panel.drives),
        direction=panel.direction,
        cell=cell,
        label=namer.cell(cell),
        median_mbps=bonded,
        outage=out,
        alone=alone,
        sentence=_sentence(panel, namer, cell),
        facts=facts_of(panel, namer, cell),
    )


def _numbers(panel: Panel, cell: PathSet) -> tuple[float, float]:
    median = panel.estimate("goodput", cell, "median").value
    return median, panel.estimate("goodput", cell, "zero_share").value


def _sentence(panel: Panel, namer: Namer, cell: PathSet) -> str:
    """Say what bonding gives, whichever way it turned out."""
    way = "Downloading" if panel.direction == "down" else "Uploading"
    if panel.file_mib is not None:
        way = f"{way} {panel.file_mib:g} MiB"
    bonded, out = _numbers(panel, cell)
    against = ", and ".join(_against(panel, namer, cell, name) for name in cell.alone)
    said = (
        f"{way} over {namer.cell(cell)} together, the median is {mbps(bonded)} Mbit/s: {against}."
    )
    if panel.file_mib is not None:
        return said
    best_out = min(_numbers(panel, name)[1] for name in cell.alone)
    if out < best_out:
        left = percent(out) if out > 0 else "none"
        steadier = "the steadier of them"
        gaps = f"Time without data falls from {percent(best_out)} on {steadier} to {left}."
    elif out == best_out:
        gaps = f"Time without data stays at {percent(out)}."
    else:
        gaps = f"Time without data rises from {percent(best_out)} to {percent(out)}."
    return f"{said} {gaps}"


def _against(panel: Panel, namer: Namer, cell: PathSet, name: PathSet) -> str:
    """Compare bonding with one path alone: the ratio of medians, drives paired."""
    alone = panel.estimate("goodput", name, "median")
    said = f"{namer.path(name)} alone ({mbps(alone.value)})"
    if alone.value <= 0:
        return f"{said} has nothing in its median second"
    return f"{_times(panel.estimate('goodput', cell, 'median').over(alone))} {said}"


def _times(ratio: Estimate) -> str:
    """Return a ratio with its 95 % interval, where there is one."""
    value = f"{ratio.value:.2f} times"
    if ratio.low != ratio.low:
        return value
    return f"{value} [{ratio.low:.2f}, {ratio.high:.2f}]"
