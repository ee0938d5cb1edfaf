"""``skyweave dish``: record what a Starlink dish says, look at it, fake a dish.

Errors are :class:`SkyweaveError` and pass through to the main command, which prints their sentence
and exits with code 2.
"""

from __future__ import annotations

import json
import math
import time
from contextlib import ExitStack
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.table import Table

from skyweave.cli.orbit_options import Request, with_orbit
from skyweave.cli.stopping import stopped
from skyweave.console import Console, wide_console
from skyweave.errors import ConfigError
from skyweave.model.drive import PathTrace
from skyweave.printing import complain, put
from skyweave.telemetry.address import host_port
from skyweave.telemetry.store import QUOTA_BYTES, Store, read

dish_app = typer.Typer(
    help="A Starlink dish: record what it says, look at that, fake one.", no_args_is_help=True
)
Folder = Annotated[Path, typer.Argument(metavar="DIR", help="A folder of 'dish record'.")]


@dish_app.command()
def record(
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder of the Parquet files.")],
    host: Annotated[
        str | None, typer.Option(metavar="ADDRESS:PORT", help="Default 192.168.100.1:9200.")
    ] = None,
    ntp: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS:PORT", help="A clock to compare with; default the dish."),
    ] = None,
    satellites: Annotated[
        bool, typer.Option("--satellites", help="Also new pixels of the obstruction map, at 2 Hz.")
    ] = False,
    clear_map: Annotated[
        float | None,
        typer.Option(
            metavar="S", min=15, help="Empty the map that often; the owner's app shows that."
        ),
    ] = None,
    location: Annotated[
        bool, typer.Option("--location", help="Also the location, if its owner allows that.")
    ] = False,
    timeout: Annotated[
        float, typer.Option(metavar="S", min=0.1, max=60, help="How long an answer is waited for.")
    ] = 3.0,
    quota_mb: Annotated[
        float, typer.Option(metavar="MB", min=1, help="Beyond it the oldest hours are removed.")
    ] = QUOTA_BYTES / 1e6,
    feed: Annotated[
        Path | None,
        typer.Option(metavar="SOCKET", help="Also feed sources of 'trigger watch', here."),
    ] = None,
    duration: Annotated[
        float, typer.Option(metavar="S", min=0, help="Stop then; else at Ctrl-C.")
    ] = math.inf,
) -> None:
    """Record a dish: status each second, its history each five minutes."""
    from skyweave.telemetry.clock import PORT, clock_offset_s
    from skyweave.telemetry.dish.client import HOST, Dish
    from skyweave.telemetry.dish.feed import Feed, Tee
    from skyweave.telemetry.dish.record import Options, Recorder, Sink
    from skyweave.telemetry.dish.record import record as go_on

    if clear_map is not None and not satellites:
        raise ConfigError("--clear-map is for --satellites; leave it out, or give both")
    host = host or HOST
    host_port(host, "--host")
    clock = host_port(ntp, "--ntp") if ntp else (host_port(host, "--host")[0], PORT)
    sink: Sink = Store(out, int(quota_mb * 1e6))
    with ExitStack() as stack:
        if feed is not None:
            sink = Tee(stack.enter_context(Feed(feed, satellites)).take, sink)
        dish, stop = stack.enter_context(Dish(host, timeout)), stack.enter_context(stopped())
        recorder = Recorder(
            dish, sink, Options(satellites, clear_map, location),
            offset=lambda: clock_offset_s(clock), warn=lambda said: complain(f"skyweave: {said}"),
        )  # fmt: skip
        Console(stderr=True, soft_wrap=True).print(f"Recording {host} into {out}; Ctrl-C ends it.")
        go_on(recorder, stop, duration)
    Console(soft_wrap=True).print(f"{out}: {recorder.rows:,} statuses")


@dish_app.command()
@with_orbit
def fake(
    request: Request,
    listen: Annotated[
        str, typer.Option(metavar="ADDRESS:PORT", help="Where to answer.")
    ] = "127.0.0.1:9200",
    ntp: Annotated[
        str | None, typer.Option(metavar="ADDRESS:PORT", help="Where its clock answers (NTP).")
    ] = None,
    frame: Annotated[
        Literal["earth", "ut"], typer.Option(help="Frame of the obstruction map.")
    ] = "earth",
    boresight: Annotated[
        str, typer.Option(metavar="AZ,EL", help="Where the dish points, in degrees.")
    ] = "0,90",
    drive: Annotated[
        Path | None, typer.Option(help="A drive (skyweave data) whose rates it reports.")
    ] = None,
    path: Annotated[
        str | None, typer.Option(help="Which path of the drive, if there are several.")
    ] = None,
    fault: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME[@START[+LENGTH]]", help="Do this wrong; repeat it. list: all."),
    ] = None,
    duration: Annotated[
        float, typer.Option(metavar="S", min=0, help="Stop then; else at Ctrl-C.")
    ] = math.inf,
) -> None:
    """Be a dish that real clients can read, with satellites of an orbit."""
    from skyweave.telemetry.dish.fake import FakeDish
    from skyweave.telemetry.dish.faults import Fault, parse_fault
    from skyweave.telemetry.dish.sky_map import facing
    from skyweave.telemetry.dish.world import World

    if fault == ["list"]:
        for one in Fault:
            Console().print(one.value)
        return
    planned = [parse_fault(text) for text in fault or ()]
    host_port(listen, "--listen")
    pointing = facing(*_boresight(boresight))
    world = World(request.sky(), time.time(), _rates(drive, path))
    made = FakeDish(
        world, time.time, address=listen, ntp=host_port(ntp, "--ntp") if ntp else None,
        frame="FRAME_EARTH" if frame == "earth" else "FRAME_UT", attitude=lambda _: pointing,
        planned=planned,
    )  # fmt: skip
    with stopped() as stop, made:
        clock = f", its clock at {ntp}" if ntp else ""
        Console(stderr=True, soft_wrap=True).print(
            f"A dish at {world.spec.terminal} answers at {made.host}{clock}; Ctrl-C ends it."
        )
        stop.wait(None if math.isinf(duration) else duration)


@dish_app.command()
def stats(
    folder: Folder,
    as_json: Annotated[bool, typer.Option("--json", help="Numbers for programs.")] = False,
) -> None:
    """Say what was recorded: distributions, spikes against slots, outages by cause."""
    from skyweave.telemetry.dish.summary import read_recorded, summary

    found = summary(read_recorded(folder))
    if as_json:
        put(json.dumps(found, indent=1, allow_nan=False))
        return
    console = wide_console()
    offset = found["clock_offset_s"]
    clock = "not known" if offset is None else f"{offset:+.3f} s"
    console.print(
        f"{found['statuses']:,} statuses, {found['gaps']} gaps; dish's clock against ours {clock}"
    )
    columns = ("n", "missing", "mean", "p5", "p50", "p95", "p99")
    table = Table("series", *columns)
    for name, row in (found["series"] | found["attitude"]).items():
        table.add_row(name, *(_cell(row.get(column)) for column in columns))
    console.print(table)
    for name, row in found["spikes"].items():
        edge = (
            ""
            if row["at_edge"] is None
            else f", {100 * row['at_edge']:.0f} % within 2 s of an edge"
        )
        console.print(f"{name}: {row['count']} spikes above twice the mean of 5 s{edge}")
    for cause, row in found["outages"].items():
        console.print(f"{cause}: {row['count']:.0f} outages, {row['seconds']:.0f} s")


@dish_app.command()
def plot(
    folder: Folder,
    out: Annotated[Path, typer.Option(help="The picture: .png or .svg.")],
) -> None:
    """Draw what was recorded: distributions, spikes by slot, attitude, outages."""
    from skyweave.data.writers import write_bytes
    from skyweave.orbit.words import check_picture, picture
    from skyweave.telemetry.dish.draw import dish_figure
    from skyweave.telemetry.dish.summary import read_recorded

    check_picture(out)
    write_bytes(out, picture(dish_figure(read_recorded(folder), folder.resolve().name), out))


@dish_app.command()
def export(
    folder: Folder,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where the files go.")],
    location: Annotated[
        bool,
        typer.Option("--location", help="With attitude, map and place, rounded to 0.1 degrees."),
    ] = False,
) -> None:
    """Write what can be given away: without what tells where the dish stands."""
    from skyweave.telemetry.export import export as give_away

    for file in give_away(folder, out, location):
        Console(soft_wrap=True).print(f"{file}")


@dish_app.command()
def satellites(
    folder: Folder,
    terminal: Annotated[str, typer.Option(metavar="PLACE", help="Where the dish stood.")],
    constellation: Annotated[
        str, typer.Option(metavar="NAME|FILE", help="Built-in, or elements of the day.")
    ],
    clock_offset: Annotated[
        float, typer.Option(metavar="S", help="How far the true time was ahead of the recorder's.")
    ] = 0.0,
    as_json: Annotated[bool, typer.Option("--json", help="Numbers for programs.")] = False,
) -> None:
    """Say which satellite served in each slot, from pixels of 'dish record --satellites'."""
    from pydantic import TypeAdapter, ValidationError

    from skyweave.orbit.catalogue import load_constellation
    from skyweave.orbit.places import Place
    from skyweave.telemetry.dish.record import PIXELS
    from skyweave.telemetry.serving import serving

    try:
        place = TypeAdapter(Place).validate_python(terminal)
    except ValidationError as error:
        said = error.errors()[0]["msg"].removeprefix("Value error, ")
        raise ConfigError(f"--terminal: {said}") from None
    rows = read(folder, "pixels", PIXELS)
    found = serving(rows, load_constellation(constellation), place, clock_offset)
    if as_json:
        each = [asdict(one) | {"accepted": one.accepted} for one in found]
        put(json.dumps(each, indent=1).replace("Infinity", "null"))
        return
    table = Table("slot (UTC)", "satellite", "error °", "margin °", "pixels", "accepted")
    for one in found:
        slot = f"{datetime.fromtimestamp(one.slot_unix_s, UTC):%Y-%m-%d %H:%M:%S}"
        table.add_row(
            slot, one.satellite, f"{one.error_deg:.2f}", f"{one.margin_deg:.2f}", str(one.pixels),
            "yes" if one.accepted else "no",
        )  # fmt: skip
    console = wide_console()
    console.print(table)
    console.print(f"{sum(one.accepted for one in found)} of {len(found)} tracks accepted")


def _cell(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}"


def _boresight(text: str) -> tuple[float, float]:
    try:
        azimuth, elevation = (float(part) for part in text.split(","))
    except ValueError:
        azimuth = elevation = math.nan
    if not (-360 <= azimuth <= 360 and 0 <= elevation <= 90):
        raise ConfigError(f"--boresight {text}: write AZIMUTH,ELEVATION in degrees, such as 0,65")
    return azimuth, elevation


def _rates(file: Path | None, name: str | None) -> PathTrace | None:
    """Return the path of a drive whose rates are reported."""
    if file is None:
        return None
    from skyweave.data import load

    drive = load(file)[0]
    if name is None and len(drive.paths) == 1:
        return next(iter(drive.paths.values()))
    if name not in drive.paths:
        raise ConfigError(f"--path: name one of {', '.join(drive.paths)}")
    return drive.paths[name]
