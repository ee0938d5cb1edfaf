"""Numbers in sentences: the headline of a report and the small phrases around figures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from skyweave.report.panel import Panel
from skyweave.report.style import roles


def seeds_text(seeds: Sequence[int]) -> str:
    """Return seeds in words.

    >>> seeds_text([1, 2, 3, 4]), seeds_text([7]), seeds_text([1, 5])
    ('seeds 1 to 4', 'seed 7', 'seeds 1, 5')
    """
    distinct = sorted(set(seeds))
    if len(distinct) == 1:
        return f"seed {distinct[0]}"
    if distinct == list(range(distinct[0], distinct[-1] + 1)):
        return f"seeds {distinct[0]} to {distinct[-1]}"
    return "seeds " + ", ".join(str(seed) for seed in distinct)


def mbps(value: float) -> str:
    """Return a rate as a person would say it.

    >>> mbps(123.4), mbps(12.34), mbps(1.234)
    ('123', '12', '1.2')
    """
    return f"{value:.0f}" if value >= 9.95 else f"{value:.1f}"


def percent(share: float) -> str:
    """Return a share as a person would say it.

    >>> percent(0.0), percent(0.0004), percent(0.034), percent(0.25)
    ('0 %', '0.04 %', '3.4 %', '25 %')
    """
    hundred = 100 * share
    if share == 0:
        return "0 %"
    digits = 2 if hundred < 0.1 else 1 if hundred < 9.95 else 0
    return f"{hundred:.{digits}f} %"


@dataclass(frozen=True)
class Namer:
    """Labels of drives and paths as the study gives them."""

    plan: dict[str, Any]

    def path(self, name: str) -> str:
        """Return a path's label, e.g. Starlink."""
        return str(self.plan["paths"].get(name, {}).get("label") or name)

    def role(self, name: str) -> str:
        """Return the colour role of a path."""
        return roles({key: str(spec["kind"]) for key, spec in self.plan["paths"].items()})[name]

    def cell(self, cell: str) -> str:
        """Return a path set's label, e.g. Starlink + AT&T."""
        return " + ".join(self.path(name) for name in cell.split("+"))

    def drives(self, name: str) -> str:
        """Return the label of a group of drives."""
        for source in self.plan["drives"]:
            if source["name"] == name:
                return str(source["label"] or name)
        return name


@dataclass(frozen=True)
class Answer:
    """What bonding gives on one panel: the best pair beside each of its paths alone."""

    place: str
    direction: str
    cell: str
    label: str
    median_mbps: float
    outage: float
    alone: list[tuple[str, float, float]]
    """For each path of the set: label, median in Mbit/s, share of seconds without data."""
    sentence: str


def foremost(panels: Iterable[Panel]) -> list[Panel]:
    """Return the first panel of each group of drives and direction: the settings that lead."""
    first: dict[tuple[str, str], Panel] = {}
    for panel in panels:
        first.setdefault((panel.drives, panel.direction), panel)
    return list(first.values())


def answers(panels: Iterable[Panel], namer: Namer) -> list[Answer]:
    """Return an answer for each group of drives and direction, with the settings that lead."""
    return [found for panel in foremost(panels) if (found := answer(panel, namer))]


def answer(panel: Panel, namer: Namer) -> Answer | None:
    """Return the answer of a panel, or None where nothing can be compared."""
    if not panel.comparable:
        return None
    cell = max(panel.comparable, key=lambda c: panel.estimate("goodput", c, "median").value)
    bonded, out = _numbers(panel, cell)
    alone = [(namer.path(name), *_numbers(panel, name)) for name in cell.split("+")]
    return Answer(
        place=namer.drives(panel.drives),
        direction=panel.direction,
        cell=cell,
        label=namer.cell(cell),
        median_mbps=bonded,
        outage=out,
        alone=alone,
        sentence=_sentence(panel, namer.cell(cell), bonded, out, alone),
    )


def _numbers(panel: Panel, cell: str) -> tuple[float, float]:
    median = panel.estimate("goodput", cell, "median").value
    return median, panel.estimate("goodput", cell, "zero_share").value


def _sentence(
    panel: Panel, label: str, bonded: float, out: float, alone: list[tuple[str, float, float]]
) -> str:
    """Say what bonding gives, whichever way it turned out."""
    way = "Downloading" if panel.direction == "down" else "Uploading"
    if panel.file_mib is not None:
        against = ", and ".join(_against(bonded, name, median) for name, median, _ in alone)
        size = f"{panel.file_mib:g} MiB"
        return (
            f"{way} {size} over {label} together, the median is {mbps(bonded)} Mbit/s: {against}."
        )
    parts = [_against(bonded, name, median) for name, median, _ in alone]
    best_out = min(share for _, _, share in alone)
    if out < best_out:
        left = percent(out) if out > 0 else "none"
        steadier = "the steadier of them"
        gaps = f"Time without data falls from {percent(best_out)} on {steadier} to {left}."
    elif out == best_out:
        gaps = f"Time without data stays at {percent(out)}."
    else:
        gaps = f"Time without data rises from {percent(best_out)} to {percent(out)}."
    return f"{way} over {label} together, the median is {mbps(bonded)} Mbit/s: " + (
        f"{', and '.join(parts)}. {gaps}"
    )


def _against(bonded: float, name: str, median: float) -> str:
    """Compare bonding with one path alone."""
    said = f"{name} alone ({mbps(median)})"
    if median <= 0:
        return f"{said} has nothing in its median second"
    change = bonded / median
    if change >= 1.995:
        return f"{change:.1f} times {said}"
    if change >= 1.005:
        return f"{100 * (change - 1):.0f} % more than {said}"
    if change > 0.995:
        return f"the same as {said}"
    return f"{100 * (1 - change):.0f} % less than {said}"
