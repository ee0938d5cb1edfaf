"""What commands about studies say: the numbers a person wants, and how long runs take."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer
from rich.table import Table

from skyweave.console import Console
from skyweave.plotting.words import mbps, percent
from skyweave.report.criteria.artefacts import Graded, tally, tally_words
from skyweave.report.numbers.namer import Namer
from skyweave.report.numbers.panel import Panel
from skyweave.report.page.behind import waits_ms, waits_words
from skyweave.report.page.probed import probed
from skyweave.report.page.render import Rendered
from skyweave.report.page.words import foremost
from skyweave.results.pathset import PathSet

Jobs = Annotated[int | None, typer.Option(help="Runs at a time; all cores if not given.")]


def say(rendered: Rendered) -> None:
    """Print the numbers a person wants, and where the page is."""
    console = Console()
    shown = foremost(rendered.panels)
    for panel in shown:
        title = f"{rendered.namer.drives(panel.drives)}, {panel.direction}link"
        table = Table(title=title, title_justify="left", title_style="bold", box=None)
        table.add_column("network", no_wrap=True)
        last = "without data" if panel.file_mib is None else f"time for {panel.file_mib:g} MiB"
        waits = "in-order wait: p99, most (ms)"
        for column in ("median Mbit/s", "25th pct.", last, waits, "vs best alone"):
            table.add_column(column, justify="right")
        for cell in panel.goodput:
            table.add_row(*_row(panel, rendered.namer, cell), style="" if cell.is_bonded else "dim")
        console.print(table)
        console.print()
    if rows := [row for panel in rendered.panels for row in probed(panel, rendered.namer)]:
        table = Table(title="Round trips of probes, ms", title_justify="left", box=None)
        for column in ("", "network", "5th pct.", "median", "95th pct.", "lost"):
            table.add_column(column, no_wrap=True)
        for row in rows:
            table.add_row(*row)
        console.print(table)
        console.print()
    if len(shown) < sum(not panel.is_probed for panel in rendered.panels):
        console.print("Runs with other settings are in the report.\n")
    for found in rendered.answers:
        console.print(f"{found.place}, {found.direction}link: {found.sentence}")
        console.print(" ".join(found.facts) + "\n", style="dim")
    for sentence in rendered.caveats:
        console.print(f"\n{sentence}")
    if rendered.artefacts:
        console.print()
        console.print(_artefacts(rendered.artefacts))
        console.print(f"\nArtefacts: {tally_words(tally(rendered.artefacts))}.")
    if rendered.flagged:
        console.print(f"\nLive runs flagged as late: {rendered.flagged}; the report names them.")
    console.print(f"\nReport: {rendered.page}", soft_wrap=True)


def _artefacts(found: Sequence[Graded]) -> Table:
    """Return a line for each artefact."""
    table = Table(box=None)
    for column in ("artefact", "grade"):
        table.add_column(column, no_wrap=True)
    table.add_column("its criteria")
    for one in found:
        table.add_row(one.id, one.grade, tally_words(one.counts))
    return table


def _row(panel: Panel, namer: Namer, cell: PathSet) -> list[str]:
    """Return the cells of one line of the table."""
    median = panel.estimate("goodput", cell, "median").value
    gain = ""
    if cell in panel.comparable:
        best = max(panel.estimate("goodput", n, "median").value for n in cell.alone)
        gain = f"x {median / best:.2f}" if best > 0 else "-"
    return [
        namer.cell(cell),
        mbps(median),
        mbps(panel.estimate("goodput", cell, "p25").value),
        _last(panel, cell),
        waits_words(waits[1:] if (waits := waits_ms(panel, cell)) else None),
        gain,
    ]


def _last(panel: Panel, cell: PathSet) -> str:
    """Return the share of time without data, or how long the file took."""
    if panel.file_mib is None:
        return percent(panel.estimate("goodput", cell, "zero_share").value)
    return f"{panel.estimate('completion_s', cell, 'median').value:.1f} s"


def duration_words(seconds: float) -> str:
    """Return a duration as a person would say it.

    >>> duration_words(42.4), duration_words(840), duration_words(9000)
    ('42 s', '14 min', '2.5 h')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


def live_words(runs: float, seconds: float, at_a_time: int = 1) -> str:
    """Say how long live runs take: ``seconds`` of them all, ``at_a_time`` of them at once.

    >>> live_words(42, 840)
    '42 live runs take about 14 min in real time.'
    """
    what = "live run takes" if runs == 1 else "live runs take"
    return f"{runs:.0f} {what} about {duration_words(seconds / at_a_time)} in real time."
