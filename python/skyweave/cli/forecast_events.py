"""``skyweave forecast events``: how well the events of slot edges are foreseen.

Errors are :class:`SkyweaveError` and pass through to the main command, which prints their sentence
and exits with code 2.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from skyweave.console import Console
from skyweave.data.writers import write_text
from skyweave.errors import ConfigError
from skyweave.forecast.events import EVENTS, EventScore, SlotRows, edges_of, in_slots, judge
from skyweave.forecast.measurement import Kind, Measurement
from skyweave.forecast.predictors.history import EDGE_S, PERIOD_S
from skyweave.forecast.readers import read_measurement
from skyweave.forecast.split import Split
from skyweave.printing import put

WORDS = {
    "handover": "the level moves twice as far as within slots",
    "inflated": "twice the usual round trip, or half the usual rate",
    "outage": "a second without an answer, or below 0.1 Mbit/s",
}


def events(
    files: Annotated[list[Path], typer.Argument(help="Ping log, CSV, iperf3 JSON, data set.")],
    column: Annotated[str | None, typer.Option(help="Which series, if there are several.")] = None,
    time_column: Annotated[str | None, typer.Option(help="The clock of a CSV.")] = None,
    kind: Annotated[Kind | None, typer.Option(help="What the values are; else by name.")] = None,
    split: Annotated[
        Split, typer.Option(help="Learn from the first 80 %, or leave whole drives out.")
    ] = "time",
    period: Annotated[float, typer.Option(min=5, max=600, help="Slot period in s.")] = PERIOD_S,
    edge: Annotated[
        float, typer.Option(min=0, help="A slot's beginning, modulo the period (UTC).")
    ] = EDGE_S,
    as_json: Annotated[bool, typer.Option("--json", help="Numbers for programs.")] = False,
    out: Annotated[Path | None, typer.Option(help="Write the numbers here (JSON).")] = None,
) -> None:
    """Say how well a handover, an inflated slot or an outage is foreseen before each slot edge."""
    if edge >= period:
        raise ConfigError(
            f"--edge {edge:g}: a slot of {period:g} s begins at 0 to below {period:g}"
        )
    found = []
    for file in files:
        series = read_measurement(file, kind, column, time_column)
        rows = in_slots(series, period, edge)
        scores = {event: judge(edges_of(rows, series.kind, event), split) for event in EVENTS}
        facts = {event: one and one.facts() for event, one in scores.items()}
        found.append({"name": series.name, "slots": int(rows.measured.sum()), "events": facts})
        if not as_json:
            _say(series, rows, split, list(scores.values()))
    command = f"skyweave forecast events {' '.join(map(str, files))} --split {split}"
    text: dict[str, Any] = {"command": command, "load": os.getloadavg()[0], "series": found}
    if as_json:
        put(json.dumps(text, indent=1, allow_nan=False))
    if out is not None:
        write_text(out, json.dumps(text, indent=1, allow_nan=False) + "\n")


def _say(
    series: Measurement, rows: SlotRows, split: Split, scores: list[EventScore | None]
) -> None:
    console = Console(soft_wrap=True)
    how = "the first 80 % learned from" if split == "time" else "whole drives left out in turn"
    console.print(f"{series.name}: {rows.measured.sum()} slots; {how}, the rest judged")
    table = Table(box=None)
    for name in ("event", "edges", "share", "Brier", "climatology", "better"):
        table.add_column(name, justify="left" if name == "event" else "right")
    for event, one in zip(EVENTS, scores, strict=True):
        if one is None:
            table.add_row(event, "", "too few, or all", "", "", "")
            continue
        skill = f"{100 * one.skill:.0f} % [{100 * one.skill_low:.0f}, {100 * one.skill_high:.0f}]"
        numbers = f"{100 * one.share:.0f} %", f"{one.brier:.3f}", f"{one.brier_climatology:.3f}"
        table.add_row(event, str(one.edges), *numbers, skill)
    console.print(table)
    for event in EVENTS:
        console.print(f"  {event}: {WORDS[event]}", highlight=False)
    for one in scores:
        if one is not None:
            said = ", ".join(f"{100 * c.said:.0f} → {100 * c.came:.0f}" for c in one.reliability)
            console.print(f"  {one.event}, % said → % came: {said}", highlight=False)
