"""``skyweave trigger``: check triggers, replay a log, watch samples, say what triggers save.

Errors are :class:`SkyweaveError` and pass through to the main command, which prints their sentence
and exits with code 2.
"""

from __future__ import annotations

import math
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, TextIO

import typer
from rich.table import Table

from skyweave.awareness.outlet import Outlet
from skyweave.cli.stopping import stopped
from skyweave.console import Console, wide_console
from skyweave.errors import ConfigError, SkyweaveError
from skyweave.forecast.predictors.file import PredictorFile, read_predictor
from skyweave.printing import complain, put
from skyweave.triggers.act import as_json, carry_out
from skyweave.triggers.cost import HEADER_BYTES, PACKET_BYTES
from skyweave.triggers.cost import cost as cost_of
from skyweave.triggers.firings import Firings
from skyweave.triggers.machine import Event
from skyweave.triggers.replay import LONGEST_LINE, Row, read_lines, read_log
from skyweave.triggers.replay import replay as replayed
from skyweave.triggers.sources import KINDS
from skyweave.triggers.spec import Run, TriggerFile, read_triggers
from skyweave.triggers.watch import Watch, logged

trigger_app = typer.Typer(
    help="Conditions over recent samples that start runs.", no_args_is_help=True
)
File = Annotated[Path, typer.Argument(metavar="TRIGGERS", help="A file of triggers (TOML).")]
Out = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="A folder for each firing: samples 30 s around it, its run."),
]
Json = Annotated[bool, typer.Option("--json", help="A JSON object a line.")]


@trigger_app.command()
def check(file: File) -> None:
    """Check a file: names, types, limits; nothing is run."""
    found = read_triggers(file)
    console = Console(soft_wrap=True)
    for one in found.trigger:
        action = one.run.words if one.run is not None else "nothing"
        console.print(f"{one.name}: when {one.when}; starts {action}")
    for name, kind in found.known.items():
        console.print(f"{name}: {kind}")


@trigger_app.command()
def sources() -> None:
    """List the kinds of sources, and the series that each offers."""
    table = Table("kind", "series", "is", "what it says")
    for kind, source in KINDS.items():
        for place, (name, one) in enumerate(source.offers.items()):
            table.add_row(kind if place == 0 else "", name, one.kind, one.words)
    wide_console().print(table)


@trigger_app.command()
def replay(
    file: File,
    log: Annotated[
        Path,
        typer.Argument(help="CSV with time_unix_s and the series, or a .jsonl of 'watch --log'."),
    ],
    out: Out = None,
    as_lines: Json = False,
) -> None:
    """Say what would have fired on a log; nothing is run."""
    triggers = read_triggers(file)
    kept = Firings(out, triggers) if out is not None else None
    whole = kept.whole if kept is not None else _nothing
    for event in replayed(triggers, read_log(log, triggers.known), whole):
        _say(event, as_lines)
        if event.what == "fired" and kept is not None:
            kept.begin(event)


@trigger_app.command()
def watch(
    file: File,
    out: Out = None,
    log: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write all samples here (.jsonl), for 'replay'."),
    ] = None,
    publish: Annotated[
        Path | None,
        typer.Option(metavar="SOCKET", help="Publish samples, firings, forecasts here."),
    ] = None,
    predictor: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SERIES=FILE", help="Publish what a trained predictor says of a series."
        ),
    ] = None,
    pages: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Also hints of each of these series in shared memory."),
    ] = None,
    duration: Annotated[
        float, typer.Option(metavar="S", min=0, help="Stop then; else at Ctrl-C.")
    ] = math.inf,
    as_lines: Json = False,
) -> None:
    """Start what fires on samples of the file's sources.

    Without sources: of standard input, a JSON object a line.
    """
    triggers = read_triggers(file)
    with ExitStack() as stack:
        # a read of standard input ends by KeyboardInterrupt alone
        stop = stack.enter_context(stopped()) if triggers.source else threading.Event()
        rows = _rows(triggers, stop)
        if log is not None:
            rows = logged(rows, stack.enter_context(_opened(log)), _warn)
        said: Callable[[Event], object] = _nothing
        if publish is not None:
            outlet = stack.enter_context(Outlet(publish, _predictors(predictor, triggers), pages))
            rows, said = outlet.samples(rows), outlet.fired
        elif predictor or pages is not None:
            raise ConfigError("--predictor and --pages are for --publish; give a socket")
        if not math.isinf(duration):
            timer = threading.Timer(duration, stop.set)
            timer.start()
            stack.callback(timer.cancel)
        kept = Firings(out, triggers) if out is not None else None
        _act(triggers, rows, kept, said, as_lines)


def _rows(triggers: TriggerFile, stop: threading.Event) -> Iterator[Row]:
    """Return the samples of the sources; without any, those of standard input."""
    if triggers.source:
        return Watch(triggers, stop, _warn).rows()
    lines = iter(lambda: sys.stdin.readline(LONGEST_LINE), "")
    return read_lines(lines, triggers.known)


def _act(
    triggers: TriggerFile, rows: Iterator[Row], kept: Firings | None,
    said: Callable[[Event], object], as_lines: bool,
) -> None:  # fmt: skip
    """Say what changes, and start what fires; runs go on side by side, and are waited for."""
    runs = {one.name: one.run for one in triggers.trigger}
    working: list[threading.Thread] = []
    for event in replayed(triggers, rows, kept.whole if kept is not None else _nothing):
        _say(event, as_lines)
        if event.what != "fired":
            continue
        said(event)
        folder = kept.begin(event) if kept is not None else None
        run = runs[event.trigger]
        if run is not None:
            working = [one for one in working if one.is_alive()]
            working.append(threading.Thread(target=_carry_out, args=(run, event, kept, folder)))
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


def _carry_out(run: Run, event: Event, kept: Firings | None, folder: Path | None) -> None:
    ran = None
    try:
        ran = carry_out(run, event, folder)
    except SkyweaveError as error:
        _warn(str(error))
    if kept is not None:
        kept.ran(event, ran)


def _predictors(texts: list[str] | None, triggers: TriggerFile) -> dict[str, PredictorFile]:
    """Read the predictors of series; :class:`ConfigError` for a series that is no number here."""
    found = {}
    for text in texts or ():
        name, equals, file = text.partition("=")
        if not equals or triggers.known.get(name) != "number":
            raise ConfigError(f"--predictor {text}: write SERIES=FILE, the series being a number")
        found[name] = read_predictor(Path(file))
    return found


def _opened(log: Path) -> TextIO:
    """Open a log; lines reach it one by one, so that a crash loses none."""
    if log.suffix != ".jsonl":
        raise ConfigError(f"--log {log}: the name must end in .jsonl, which 'replay' goes by")
    try:
        return log.open("w", buffering=1)
    except OSError as error:
        raise ConfigError(f"--log {log}: cannot be written ({error.strerror})") from None


def _warn(sentence: str) -> None:
    complain(f"skyweave: {sentence}")


def _nothing(_: Event) -> None:
    pass


def _say(event: Event, as_lines: bool) -> None:
    if as_lines:
        put(as_json(event))
        return
    when = f"{datetime.fromtimestamp(event.time_unix_s, UTC):%Y-%m-%d %H:%M:%S.%f}"[:-3]
    start = ""
    if event.start_unix_s is not None and event.start_unix_s > event.time_unix_s:
        start = f", starts {event.start_unix_s - event.time_unix_s:.1f} s later"
    Console(soft_wrap=True).print(f"{when} {event.trigger} {event.what}{start}")
