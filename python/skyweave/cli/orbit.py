"""``skyweave orbit``: passes, schedules, RTT series, maps and sky plots of a terminal.

Errors are :class:`SkyweaveError` and pass through to the main command, which prints their sentence
and exits with code 2. Notes (stale elements, satellites left out, outages) go to standard error.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from matplotlib.figure import Figure
from rich.status import Status
from rich.table import Table

from skyweave.cli.orbit_options import Request, with_orbit
from skyweave.console import Console, wide_console
from skyweave.data.traces import DELAY_SPACING_MS
from skyweave.data.writers import write_bytes, write_one_way_delay, write_text
from skyweave.errors import ConfigError
from skyweave.model.drive import Series
from skyweave.orbit.moment import Moment, moment
from skyweave.orbit.passes import Pass, find_passes
from skyweave.orbit.path import OrbitPath, orbit_path
from skyweave.orbit.spec import OrbitSpec
from skyweave.orbit.tables import out_within, rtt_csv, schedule_csv, schedule_json, utc
from skyweave.orbit.words import (
    WHY,
    amount,
    check_picture,
    picture,
    place,
    route,
    service,
    summary,
    view,
)
from skyweave.printing import complain, put

orbit_app = typer.Typer(
    help="Satellites over a terminal: passes, schedules, RTTs, maps.", no_args_is_help=True
)
DAY_S = 86_400.0
DurationOption = Annotated[
    float, typer.Option("--duration", metavar="S", help="How long, from --start.")
]


@orbit_app.command()
@with_orbit
def passes(
    request: Request,
    duration_s: DurationOption = 3600.0,
    first: Annotated[int, typer.Option(min=1, help="How many to show, by their rise.")] = 20,
) -> None:
    """When satellites rise, culminate and set over the terminal."""
    spec = request.sky()
    with _busy("looking for passes"):
        found = find_passes(spec, duration_s, first)
    _say_notes(found.notes)
    console = wide_console()
    console.print(
        f"{place(spec.terminal)}, {found.start:%Y-%m-%d %H:%M:%S} to {found.end:%Y-%m-%d %H:%M:%S} "
        f"UTC, above {spec.min_elevation_deg:g}°: {_count(found.total, 'pass', 'passes')}"
    )
    if not found.total:
        return
    table = Table(box=None)
    table.add_column("satellite")
    for column in ("rise", "culmination", "azimuth", "elevation", "set"):
        table.add_column(column, justify="right")
    for one in found.shown:
        table.add_row(*_pass_row(one))
    console.print(table)
    if len(found.shown) < found.total:
        console.print(f"{found.total - len(found.shown):,} more; see --first.")


def _pass_row(one: Pass) -> list[str]:
    return [
        one.satellite,
        f"{one.rise:%H:%M:%S}" if one.rise else "earlier",
        f"{one.culmination:%H:%M:%S}",
        f"{one.azimuth_deg:.1f}°",
        f"{one.elevation_deg:.1f}°",
        f"{one.set:%H:%M:%S}" if one.set else "later",
    ]


@orbit_app.command()
@with_orbit
def schedule(
    request: Request,
    hours: Annotated[float | None, typer.Option(metavar="H", help="How long. Default 24.")] = None,
    duration_s: Annotated[
        float | None, typer.Option("--duration", metavar="S", help="How long, in seconds.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="All of it as .csv or .json.")
    ] = None,
    first: Annotated[int, typer.Option(min=1, help="How many rows to show.")] = 20,
) -> None:
    """Which satellite serves in each slot, handovers and outages.

    Without --step, outages that begin or end within a slot are known to a slot only.
    """
    if hours is not None and duration_s is not None:
        raise ConfigError("--hours and --duration exclude each other; leave one out")
    if out is not None and out.suffix not in (".csv", ".json"):
        raise ConfigError(f"{out}: schedules are .csv or .json; choose such a name")
    length_s = (
        duration_s if duration_s is not None else 3600 * hours if hours is not None else DAY_S
    )
    slot = request.given.get("slot_s", "15")
    step = {"step_s": 1.0 if slot == "none" else slot}
    spec = replace(request, given={**step, **request.given}).spec()
    path = _followed(spec, length_s, request.seed)
    if out is not None:
        text = schedule_json(spec, path) if out.suffix == ".json" else schedule_csv(path)
        write_text(out, text)
    console = wide_console()
    _say_run(console, spec, path)
    if out is not None:
        console.print(f"{out}: {_count(len(path.serving), 'row')}", soft_wrap=True)
        return
    console.print(_schedule_table(path, first))
    if first < len(path.serving):
        console.print(f"{len(path.serving) - first:,} more; --out FILE.csv writes all.")


def _schedule_table(path: OrbitPath, first: int) -> Table:
    changed = {one.time_s for one in path.handovers}
    table = Table(box=None)
    for column in ("from (UTC)", "satellite", "", "outage"):
        table.add_column(column)
    begins = path.serving_times_s.tolist()
    rows = zip(begins, path.serving, out_within(path, begins), strict=True)
    for begin, name, (out_s, why) in islice(rows, min(first, sys.maxsize)):
        words = " and ".join(WHY[one] for one in why.split("+")) if why else ""
        said = f"{amount(out_s)} s: {words}" if out_s else ""
        table.add_row(utc(path, begin), name or "-", "handover" if begin in changed else "", said)
    return table


@orbit_app.command()
@with_orbit
def rtt(
    request: Request,
    duration_s: DurationOption = 900.0,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="CSV of the series, else printed.")
    ] = None,
    trace: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="One-way delays in ms, a line every 10 ms, for replay."),
    ] = None,
    figure: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Picture of the series (.png, .svg).")
    ] = None,
) -> None:
    """The RTT over time, its handovers and outages: as CSV, as a delay trace, as a picture."""
    check_picture(figure)
    spec = request.spec()
    path = _followed(spec, duration_s, request.seed)
    if trace is not None:
        _write_trace(trace, path)
    if figure is not None:
        from skyweave.orbit.plot_rtt import rtt_figure

        with _busy("drawing"):
            content = picture(rtt_figure(spec, path), figure)
        write_bytes(figure, content)
    if out is not None:
        write_text(out, rtt_csv(path))
    files = [file for file in (out, trace, figure) if file is not None]
    if not files:
        put(rtt_csv(path), end="")
        return
    console = wide_console()
    _say_run(console, spec, path)
    console.print("\n".join(str(file) for file in files), soft_wrap=True)


def _write_trace(file: Path, path: OrbitPath) -> None:
    """Half the RTT as LeoReplayer reads it; the format has no word for an outage, so say it."""
    known = np.flatnonzero(~np.isnan(path.rtt_ms))
    if not len(known):
        raise ConfigError(f"{file}: there is no path at any time; a delay trace cannot say that")
    # The trace's own spacing, so that it is as long as the run whatever the step is.
    spacing_s = DELAY_SPACING_MS / 1e3
    count = max(1, round(path.duration_s / spacing_s))
    times_s = np.arange(count, dtype=np.float64) * spacing_s
    latest = np.searchsorted(path.times_s[known], times_s + spacing_s / 1e3, side="right") - 1
    series = Series(times_s, path.rtt_ms[known[np.maximum(latest, 0)]])
    out_s = sum(one.end_s - one.start_s for one in path.outages)
    if out_s > 0:
        _say_notes([
            f"{file}: a delay trace knows no outages: in {amount(out_s)} s of them it holds the "
            "delay next to them; --out or 'schedule' lists them."
        ])  # fmt: skip
    write_one_way_delay(file, series)


@orbit_app.command("map")
@with_orbit
def draw_map(
    request: Request,
    out: Annotated[
        Path, typer.Option(metavar="FILE", help="Picture to write (.png, .svg).")
    ] = Path("orbit-map.png"),
) -> None:
    """Draw a map of one moment, --start: satellites, who serves, its track, the way."""
    from skyweave.orbit.plot_map import map_figure

    _draw(request, out, map_figure)


@orbit_app.command("sky")
@with_orbit
def draw_sky(
    request: Request,
    out: Annotated[
        Path, typer.Option(metavar="FILE", help="Picture to write (.png, .svg).")
    ] = Path("orbit-sky.png"),
) -> None:
    """Draw the sky at one moment, --start: satellites, their tracks, the mask, the GSO arc."""
    from skyweave.orbit.plot_sky import sky_figure

    _draw(request, out, sky_figure)


def _draw(request: Request, out: Path, draw: Callable[[Moment], Figure]) -> None:
    check_picture(out)
    spec = request.sky()
    with _busy("drawing"):
        found = moment(spec, seed=request.seed)
        content = picture(draw(found), out)
    _say_notes(found.path.notes)
    write_bytes(out, content)
    console = wide_console()
    console.print(f"{place(spec.terminal)}, {found.at:%Y-%m-%d %H:%M:%S} UTC: {view(found)}.")
    console.print(service(found))
    console.print(str(out), soft_wrap=True)


def _followed(spec: OrbitSpec, duration_s: float, seed: int) -> OrbitPath:
    with _busy("following the satellites"):
        path = orbit_path(spec, duration_s, seed=seed)
    _say_notes(path.notes)
    if np.isnan(path.rtt_ms).all():
        _say_notes([f"There is no path at any time: {WHY[path.outages[0].reason]}."])
    return path


def _say_run(console: Console, spec: OrbitSpec, path: OrbitPath) -> None:
    console.print(f"{place(spec.terminal)} {route(spec)}, from {utc(path, 0)} on")
    console.print(f"{summary(path)}.")


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def _busy(what: str) -> Status:
    return Console(stderr=True).status(what)


def _say_notes(notes: Iterable[str]) -> None:
    for note in notes:
        complain(f"note: {note}")
