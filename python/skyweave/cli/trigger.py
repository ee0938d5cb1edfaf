"""``skyweave trigger``: check triggers, replay a log, watch samples, say what triggers save.

Errors are :class:`SkyweaveError` and pass through to the main command, which prints their sentence
and exits with code 2.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from skyweave.console import Console
from skyweave.data.writers import write_text
from skyweave.errors import SkyweaveError
from skyweave.printing import complain, put
from skyweave.triggers.act import as_json, carry_out
from skyweave.triggers.cost import HEADER_BYTES, PACKET_BYTES
from skyweave.triggers.cost import cost as cost_of
from skyweave.triggers.machine import Event
from skyweave.triggers.replay import LONGEST_LINE, read_lines, read_log
from skyweave.triggers.replay import replay as replayed
from skyweave.triggers.spec import Run, read_triggers

trigger_app = typer.Typer(
    help="Conditions over recent samples that start runs.", no_args_is_help=True
)
File = Annotated[Path, typer.Argument(metavar="TRIGGERS", help="A file of triggers (TOML).")]
Out = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="A file for each firing: the samples 30 s before and after."),
]
Json = Annotated[bool, typer.Option("--json", help="A JSON object a line.")]


@trigger_app.command()
def check(file: File) -> None:
    """Check a file: names, types, limits; nothing is run."""
    found = read_triggers(file)
    for one in found.trigger:
        action = " ".join(one.run.command) if one.run is not None else "nothing"
        Console(soft_wrap=True).print(f"{one.name}: when {one.when}; starts {action}")


@trigger_app.command()
def replay(
    file: File,
    log: Annotated[Path, typer.Argument(help="CSV with time_unix_s and the series.")],
    out: Out = None,
    as_lines: Json = False,
) -> None:
    """Say what would have fired on a log; nothing is run."""
    triggers = read_triggers(file)
    for event in replayed(triggers, read_log(log, triggers.series), _keeper(out)):
        _say(event, as_lines)


@trigger_app.command()
def watch(file: File, out: Out = None, as_lines: Json = False) -> None:
    """Read samples from standard input, a JSON object a line, and start what fires."""
    triggers = read_triggers(file)
    runs = {one.name: one.run for one in triggers.trigger}
    lines = iter(lambda: sys.stdin.readline(LONGEST_LINE), "")
    working: list[threading.Thread] = []
    for event in replayed(triggers, read_lines(lines, triggers.series), _keeper(out)):
        _say(event, as_lines)
        run = runs[event.trigger]
        if event.what == "fired" and run is not None:
            working = [one for one in working if one.is_alive()]
            working.append(threading.Thread(target=_carry_out, args=(run, event)))
            working[-1].start()
    for one in working:
        one.join()


@trigger_app.command()
def cost(
    hours: Annotated[float, typer.Option(help="How long a test would run.")] = 24.0,
    rate: Annotated[float, typer.Option(metavar="MBPS", help="What it carries.")] = 40.0,
    duty: Annotated[float, typer.Option(help="Share of the time that triggers take.")] = 0.1,
    header_bytes: Annotated[int, typer.Option(help="Headers of a packet.")] = HEADER_BYTES,
    packet_bytes: Annotated[int, typer.Option(help="A packet.")] = PACKET_BYTES,
) -> None:
    """Say what triggered tests save over continuous ones."""
    found = cost_of(hours, rate, duty, header_bytes, packet_bytes)
    Console(soft_wrap=True).print(
        f"{hours:g} h at {rate:g} Mbit/s: {found.bits / 1e12:.3f} Tbit, of it headers "
        f"{found.header_bits / 1e9:.1f} Gbit\n{100 * duty:g} % of the time saves "
        f"{found.saved_bits / 1e12:.2f} Tbit, of it headers "
        f"{found.saved_header_bits / 1e9:.1f} Gbit"
    )


def _carry_out(run: Run, event: Event) -> None:
    try:
        carry_out(run, event)
    except SkyweaveError as error:
        complain(f"skyweave: {error}")


def _keeper(out: Path | None) -> Callable[[Event], None]:
    """Return what writes firings with their context; nothing without a folder."""

    def keep(event: Event) -> None:
        if out is not None:
            name = f"{event.trigger}-{event.time_unix_s:.3f}.json"
            write_text(out / name, as_json(event) + "\n")

    return keep


def _say(event: Event, as_lines: bool) -> None:
    if as_lines:
        put(as_json(event))
        return
    when = f"{datetime.fromtimestamp(event.time_unix_s, UTC):%Y-%m-%d %H:%M:%S.%f}"[:-3]
    start = ""
    if event.start_unix_s is not None and event.start_unix_s > event.time_unix_s:
        start = f", starts {event.start_unix_s - event.time_unix_s:.1f} s later"
    Console(soft_wrap=True).print(f"{when} {event.trigger} {event.what}{start}")
