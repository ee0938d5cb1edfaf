"""What a whole report stands on, in sentences that page and terminal print alike."""

from __future__ import annotations

from collections.abc import Sequence

from skyweave.report.criteria.qualified import ENOUGH
from skyweave.report.numbers.panel import Panel, Results

UNHELD_MODE = "v0.96"
"""A mode of Multipath TCP that was never held against its kernel."""


def caveats_of(results: Results, panels: Sequence[Panel]) -> list[str]:
    """Return sentences on made-up drives, few drives, and a mode that was never validated."""
    found = (_synthetic(panels), _few(panels), _mode(results), _real(results))
    return [one for one in found if one]


def _synthetic(panels: Sequence[Panel]) -> str:
    made_up = [panel.synthetic for panel in panels]
    if not any(made_up):
        return ""
    return (
        f"{'All' if all(made_up) else 'Some'} drives are synthetic: drawn from statistics of "
        "single networks or described in the study, not recorded on a road. What is said here "
        "about networks together on them is a prediction."
    )


def _few(panels: Sequence[Panel]) -> str:
    counts = {len(panel.names) for panel in panels if len(panel.names) < ENOUGH}
    if not counts:
        return ""
    if counts == {1} and all(len(panel.names) == 1 for panel in panels):
        return "One drive: its numbers have no interval, and say nothing about another drive."
    fewest = min(counts)
    return (
        f"Preliminary: {fewest} drive{'s' if fewest > 1 else ''} where {ENOUGH} are wanted"
        f"{'' if len(counts) == 1 else ', or a few more'}."
    )


def _real(results: Results) -> str:
    if all(labels["engine"] != "field" for _, labels in results.runs):
        return ""
    return (
        "Real networks cannot be repeated: another hour gives other numbers. Buffers of TCP and "
        "Multipath TCP were the machines' own."
    )


def _mode(results: Results) -> str:
    if all(labels["mode"] != UNHELD_MODE for _, labels in results.runs):
        return ""
    return (
        f"Runs of Multipath TCP in mode {UNHELD_MODE} follow the sources of multipath-tcp.org; "
        "that mode was never held against a kernel. Mode upstream was, against Linux 6.18."
    )
