"""``skyweave compare``."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import polars as pl
import typer
from rich.table import Table

from skyweave.cli.data import mapping
from skyweave.cli.progress import Progress
from skyweave.cli.say import Jobs
from skyweave.comparison import Choices, Reading, ask, gather, network_of, sentences
from skyweave.comparison.networks import Kind
from skyweave.comparison.writing import Transport
from skyweave.console import Console
from skyweave.errors import ConfigError, suggest
from skyweave.plotting.words import mbps, percent

Align = Literal["utc", "start"]
MOST_NUMBER = 1e9
"""Of round trips in ms, and of seconds that a clock is off."""


def compare(
    files: Annotated[
        list[Path], typer.Argument(help="Logs of rates: one for each network, or several in one.")
    ],
    rtt: Annotated[
        str | None, typer.Option(metavar="MS,MS", help="Round trip of each network in ms.")
    ] = None,
    ping: Annotated[
        str | None, typer.Option(metavar="FILE,FILE", help="A ping log of each network.")
    ] = None,
    kind: Annotated[
        str | None,
        typer.Option(
            metavar="KIND,KIND", help=f"Kind of each network: {', '.join(get_args(Kind))}."
        ),
    ] = None,
    transport: Annotated[
        str, typer.Option(metavar="NAME,NAME", help="What bonds them: mptcp, mpquic.")
    ] = "mptcp,mpquic",
    scheduler: Annotated[
        str | None,
        typer.Option(
            metavar="NAME,NAME", help="Linux's own for mptcp and weave for mpquic if not given."
        ),
    ] = None,
    congestion: Annotated[
        str,
        typer.Option(metavar="NAME,NAME", help="Congestion controls: skyweave algorithms list."),
    ] = "cubic-linux,bbr",
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for study and results; results/NETWORKS if not given."),
    ] = None,
    pieces: Annotated[
        int | None,
        typer.Option(
            min=0, help="Pieces of the drives to run, 0: all; half a minute's worth if not given."
        ),
    ] = None,
    piece_s: Annotated[float, typer.Option(min=5, help="Seconds of each piece.")] = 30.0,
    air: Annotated[
        bool, typer.Option("--air/--no-air", help="Jitter and losses that logs of rates lack.")
    ] = True,
    align: Annotated[
        Align, typer.Option(help="By UTC, or all logs from their start: for those without a clock.")
    ] = "utc",
    shift: Annotated[
        str | None, typer.Option(metavar="S,S", help="Seconds to add to the clock of each file.")
    ] = None,
    column: Annotated[
        list[str] | None,
        typer.Option(
            "--column", metavar="OWN=NAME", help="Rename a column before it is read; repeat it."
        ),
    ] = None,
    jobs: Jobs = None,
    restart: Annotated[
        bool, typer.Option("--restart", help="Write over the study and the records that OUT holds.")
    ] = False,
) -> None:
    """What would bonding give my users? Logs of each network in, table and report out."""
    choices = Choices(
        transports=_names("--transport", transport, get_args(Transport)),
        schedulers=_list(scheduler),
        congestion=_list(congestion),
        rtt_ms=_numbers("--rtt", rtt),
        piece_s=piece_s,
        pieces=pieces,
        air=air,
    )
    reading = Reading(
        columns=mapping(column), align=align, shift_s=_numbers("--shift", shift),
        kinds=_names("--kind", kind, get_args(Kind)), pings=[Path(one) for one in _list(ping)],
    )  # fmt: skip
    gathered = gather(files, reading)
    done = ask(gathered, out or default_out(files), choices, Progress(), jobs, restart)
    console = Console()
    for said in (*done.gathered.took, *done.gathered.notes):
        console.print(said, soft_wrap=True)
    for direction in done.table["direction"].unique(maintain_order=True):
        console.print()
        console.print(table_of(done.table.filter(direction=direction), direction))
    console.print()
    for sentence in sentences(done.table):
        console.print(sentence, soft_wrap=True)
    console.print(f"\nStudy:  {done.study}", soft_wrap=True)
    console.print(f"Report: {done.report}", soft_wrap=True)


def table_of(found: pl.DataFrame, direction: str) -> Table:
    """The table of one direction."""
    table = Table(
        title=f"{direction}link, Mbit/s", title_justify="left", title_style="bold", box=None,
        caption="gain: median over that of the best network alone", caption_justify="left",
    )  # fmt: skip
    for column in ("networks", "transport, scheduler, congestion"):
        table.add_column(column, overflow="fold")
    for column in ("median", "5th pct.", "no data", "gain"):
        table.add_column(column, justify="right", no_wrap=True)
    for row in found.iter_rows(named=True):
        gain = "" if row["gain"] is None else f"x {row['gain']:.2f}"
        table.add_row(
            row["label"],
            ", ".join(filter(None, (row["transport"], row["scheduler"], row["congestion"]))),
            mbps(row["median_mbps"]), mbps(row["p5_mbps"]), percent(row["zero_share"]), gain,
            style="dim" if row["transport"] == "tcp" else "",
        )  # fmt: skip
    return table


def default_out(files: list[Path]) -> Path:
    """Where results go: named after the first files.

    >>> print(default_out([Path("a/starlink.csv"), Path("b/verizon_2024.csv")]))
    results/starlink-verizon
    """
    names = dict.fromkeys(network_of(file.stem).label.lower() for file in files[:3])
    return Path("results") / (re.sub(r"[^a-z0-9]+", "-", "-".join(names)).strip("-") or "compare")


def _list(text: str | None) -> tuple[str, ...]:
    return tuple(dict.fromkeys(filter(None, (part.strip() for part in (text or "").split(",")))))


def _names(option: str, text: str | None, known: tuple[str, ...]) -> tuple[Any, ...]:
    parts = tuple(filter(None, (part.strip() for part in (text or "").split(","))))
    for part in parts:
        if part not in known:
            raise ConfigError(f"{option} {part}: is unknown; {suggest(part, known)}")
    return parts


def _numbers(option: str, text: str | None) -> tuple[float, ...]:
    try:
        found = tuple(float(part) for part in (text or "").split(",") if part.strip())
    except ValueError:
        found = (math.nan,)
    if not all(abs(one) <= MOST_NUMBER for one in found):
        raise ConfigError(f"{option} {text}: must be numbers with commas between")
    return found
