"""``skyweave radio``: what the cells along a drive offer.

Errors are :class:`SkyweaveError` and pass through to the main command, which prints their sentence
and exits with code 2.
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from skyweave.console import Console
from skyweave.data.writers import write_bytes, write_drive, write_drives
from skyweave.errors import ConfigError
from skyweave.model.drive import Drive
from skyweave.printing import put
from skyweave.radio.cells import CellGrid, pooled
from skyweave.radio.delay import DelayRule
from skyweave.radio.equations import LOAD
from skyweave.radio.join import WITHIN_M, join
from skyweave.radio.logs import HOLD_S, read_cells
from skyweave.radio.offer import Offer, offer
from skyweave.radio.paths import PathsOf, radio_drive
from skyweave.radio.summary import PERCENTS, Summary, summarise
from skyweave.radio.synthetic import Place, synthetic_cells

radio_app = typer.Typer(
    help="Signal strength of LTE cells to capacity, and to drives.", no_args_is_help=True
)

Paths = Annotated[PathsOf, typer.Option(help="Paths of the drive: operators, or those of a case.")]
Delay = Annotated[DelayRule, typer.Option(help="Delay from capacity.")]
Window = Annotated[int, typer.Option(help="Seconds that the table averages over.")]
Out = Annotated[Path | None, typer.Option(help="Write the drive here (CSV); a folder if several.")]
Picture = Annotated[Path | None, typer.Option("--figure", help="Draw the drive (PNG).")]
Json = Annotated[bool, typer.Option("--json", help="Numbers for programs.")]


@radio_app.callback()
def _radio() -> None:
    """Signal strength of LTE cells to capacity, and to drives."""


@dataclass(frozen=True)
class Passed:
    """One drive past cells: its name, what was offered, and how much of it was joined."""

    name: str
    offered: Offer
    joined: dict[str, float]
    dropped: int
    within_m: float = WITHIN_M


@radio_app.command()
def capacity(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE",
            help="Logs of all cells heard, as OPERATOR=FILE or in a folder named after the "
            "operator. The first operator's drives are followed; others join by position.",
        ),
    ],
    paths: Paths = "operators",
    delay: Delay = "power",
    load: Annotated[float, typer.Option(help="Load of the neighbour cells (Q_L).")] = LOAD,
    hold: Annotated[int, typer.Option(help="Seconds that a cell outlasts its report.")] = HOLD_S,
    within: Annotated[float, typer.Option(help="Metres within which to join.")] = WITHIN_M,
    window: Window = 1,
    out: Out = None,
    figure: Picture = None,
    as_json: Json = False,
) -> None:
    """Capacity of the cells of one or more operators along a drive."""
    passed = _follow(files, load, hold, within)
    _tell(passed, window, figure, as_json)
    if out is not None:
        _write(out, [_drive(one, paths, delay) for one in passed])


@radio_app.command()
def synthetic(
    seed: Annotated[int, typer.Option(help="The same seed, the same drive.", min=0)] = 1,
    duration: Annotated[int, typer.Option(help="Seconds.")] = 600,
    place: Annotated[Place, typer.Option(help="How many cells there are.")] = "whole",
    paths: Paths = "operators",
    delay: Delay = "power",
    window: Window = 1,
    out: Out = None,
    figure: Picture = None,
    as_json: Json = False,
) -> None:
    """Two made-up operators with the published statistics of the MP-QUIC study."""
    offered = offer(synthetic_cells(seed, duration, place))
    made = Passed(f"cells-{place}-{seed}", offered, {}, 0)
    _tell([made], window, figure, as_json)
    if out is not None:
        _write(out, [replace(_drive(made, paths, delay), synthetic=True)])


def _tell(passed: list[Passed], window_s: int, figure: Path | None, as_json: bool) -> None:
    summary = summarise([one.offered for one in passed], window_s)
    if figure is not None:
        _draw(figure, passed)
    if as_json:
        put(json.dumps(facts(passed, summary), indent=1, allow_nan=False))
    else:
        _say(passed, summary)


def _follow(files: list[str], load: float, hold_s: int, within_m: float) -> list[Passed]:
    """Each drive of the first operator, joined with the others."""
    logs: dict[str, list[tuple[str, CellGrid]]] = {}
    for text in files:
        name, path = _named(text)
        grid = read_cells(path, name, hold_s)
        stem = path.name.removesuffix(".gz").removesuffix(".csv")
        logs.setdefault(grid.operator, []).append((stem, grid))
    (_, first), *rest = logs.items()
    others = [pooled([grid for _, grid in drives]) for _, drives in rest]
    passed = []
    for stem, grid in first:
        joined = [join(grid, other, within_m) for other in others]
        offered = offer([grid, *(one.grid for one in joined)], load)
        share = {one.grid.operator: one.share for one in joined}
        dropped = grid.dropped + sum(other.dropped for other in others)
        passed.append(Passed(stem, offered, share, dropped, within_m))
    return passed


def _named(text: str) -> tuple[str | None, Path]:
    """``OPERATOR=FILE`` or ``FILE``."""
    name, equals, rest = text.partition("=")
    if equals and name and rest and "/" not in name:
        return name, Path(rest)
    return None, Path(text)


def facts(passed: list[Passed], summary: Summary) -> dict[str, Any]:
    """The summary for programs, units in the names; JSON knows no NaN: null."""
    named = asdict(summary) | {
        "gain": summary.gain,
        "percents": PERCENTS,
        "drives": [
            {"name": one.name, "joined": one.joined, "dropped_reports": one.dropped}
            for one in passed
        ],
    }
    return dict(_plain(named))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _say(passed: list[Passed], summary: Summary) -> None:
    console = Console(soft_wrap=True)
    for one in passed:
        near = "".join(
            f", {name} within {one.within_m:g} m for {share:.0%}"
            for name, share in one.joined.items()
        )
        console.print(f"{one.name}: {one.offered.seconds} s{near}")
    table = Table(box=None, title_justify="left", title_style="bold",
                  title=f"Mbit/s, means of {summary.window_s} s")  # fmt: skip
    for column in ("", "mean", "median", *(f"p{percent:g}" for percent in PERCENTS[1:])):
        table.add_column(column, justify="right" if column else "left", no_wrap=True)
    for name, row in summary.capacity_mbps.items():
        table.add_row(name, *(f"{value:.2f}" for value in (row.mean, *row.percentiles)))
    console.print(table)
    console.print(
        f"{summary.available_mean:.2f} cells can serve at once, {summary.visible_mean:.2f} are "
        f"visible; together x {summary.gain:.2f} of the best one, whose runner-up has "
        f"{summary.second_to_best:.2f} of it ({summary.compared_s} of {summary.seconds} s "
        "compared)."
    )


def _draw(place: Path, passed: list[Passed]) -> None:
    from skyweave.plotting.style import png_bytes
    from skyweave.radio.draw import cells_figure

    if place.suffix.lower() != ".png":
        raise ConfigError(f"--figure {place}: figures are PNG; end its name in .png")
    if len(passed) > 1:
        raise ConfigError(f"--figure draws one drive; give one file of it, not {len(passed)}")
    write_bytes(place, png_bytes(cells_figure(passed[0].offered, passed[0].name)))


def _drive(one: Passed, paths: PathsOf, delay: DelayRule) -> Drive:
    names = " and ".join(one.offered.operators)
    origin = f"RSRP of {names} in {one.name}, Eq. 1 and 2, paths {paths}, delay rule {delay}"
    return radio_drive(one.offered, one.name, origin, paths, delay)


def _write(place: Path, drives: list[Drive]) -> None:
    if len(drives) == 1:
        write_drive(place, drives[0])
    else:
        write_drives(place, drives)
