"""``skyweave data``: public sets, imports, statistics, pictures, calibration, synthesis.

Errors are :class:`SkyweaveError` and pass through to the main command, which prints their sentence
and exits with code 2.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Group, RenderableType
from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn
from rich.progress import track as rich_track
from rich.text import Text

from skyweave.cli.data_export import Target, export_drives
from skyweave.cli.data_tables import comparison_tables, run_mean_table, set_panel, statistics_tables
from skyweave.console import Console, TextColumn, wide_console
from skyweave.data import registry as sets
from skyweave.data.importers import FORMATS, load
from skyweave.data.plot import drive_figure, png
from skyweave.data.statistics import describe
from skyweave.data.writers import write_bytes, write_drive, write_drives, write_text
from skyweave.errors import DataError, suggest
from skyweave.model.drive import Drive
from skyweave.printing import put
from skyweave.synthesis.generator import synthesise
from skyweave.synthesis.preset import Preset, load_preset, preset_names, preset_text

data_app = typer.Typer(
    help="Measured and synthetic drives: get, look at, convert, make.", no_args_is_help=True
)
CALIBRATION_SETS = {"midwest": "satcell"}
"""Presets that are fitted to the drives of a data set; the others rest on published run means."""
STATS_SEEDS = range(1, 61)
"""A preset's statistics are those of these seeds, :data:`STATS_DURATION_S` each; fewer drives would
show where they happened to go, for the slowest parts move over 15 minutes."""
STATS_DURATION_S = 600.0

DataOption = Annotated[
    Path | None,
    typer.Option("--data", help="Folder that holds data sets (else $SKYWEAVE_DATA, else fetched)."),
]
FormatOption = Annotated[
    str | None, typer.Option("--format", help=f"One of {', '.join(FORMATS)}; else by content.")
]
NameArgument = Annotated[str, typer.Argument(help="A data set; see 'skyweave data list'.")]


def _errors() -> Console:
    return Console(stderr=True)


@data_app.command("list")
def list_sets(data: DataOption = None) -> None:
    """The public data sets and the presets that Skyweave knows."""
    console = wide_console()
    for name, known in sets.data_sets().items():
        here = "on this machine" if _place(name, data) else "to be fetched"
        _say_known(console, name, known.title, f"{known.licence}; {here}")
    for name in preset_names():
        _say_known(console, name, load_preset(name).title, "synthetic")


def _say_known(console: Console, name: str, title: str, note: str) -> None:
    console.print(Text.assemble((name, "bold"), f"  {title} ", (f"({note})", "dim")))


@data_app.command()
def info(name: NameArgument, data: DataOption = None) -> None:
    """Origin, commit, licence, citation and files of a data set."""
    place = _place(name, data)
    here = str(place) if place else "not on this machine"
    wide_console().print(set_panel(sets.data_set(name), here))


@data_app.command()
def fetch(name: NameArgument, data: DataOption = None) -> None:
    """Get a data set from its origin at the pinned commit, or check the local copy."""
    known = sets.data_set(name)
    console = wide_console()
    console.print(f"{known.title}\nlicence: {known.licence}\ncite: {known.citation}")
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TimeRemainingColumn(),
        console=_errors(),
        transient=True,
    ) as progress:
        folder = sets.fetch(name, data, lambda file: _Bar(progress, file.local_name))
    console.print(f"{folder}")


@data_app.command("import")
def import_file(
    file: Annotated[Path, typer.Argument(help="A trace file or folder.")],
    out: Annotated[Path, typer.Option("--out", help="New folder for one CSV per drive.")],
    format: FormatOption = None,
    column: Annotated[
        list[str] | None,
        typer.Option("--column", help="OWN=PLAIN, maps a column of any CSV; repeat it."),
    ] = None,
) -> None:
    """Convert a trace of any known format into plain CSV, one file per drive, all or none."""
    with _errors().status(f"converting {file}"):
        drives = load(file, format, mapping(column))
        write_drives(out, drives)
    wide_console().print(f"{len(drives)} drive{'s' if len(drives) != 1 else ''} in {out}")


@data_app.command("export")
def export(
    source: Annotated[str, typer.Argument(help="A file, a folder, a data set or a preset.")],
    to: Annotated[
        Target,
        typer.Option(
            "--to",
            help="csv, parquet, mahimahi (.down, .up), netem (a script of tc), "
            "leoreplayer, hypatia, starrynet.",
        ),
    ],
    out: Annotated[Path, typer.Option("--out", help="New folder for the files.")],
    format: FormatOption = None,
    data: DataOption = None,
) -> None:
    """Write drives in the formats of other programs, all or none."""
    files = export_drives(_drives(source, format, data), to, out)
    wide_console().print(f"{len(files)} file{'s' if len(files) != 1 else ''} in {out}")


@data_app.command()
def stats(
    source: Annotated[str, typer.Argument(help="A file, a folder, a data set or a preset.")],
    format: FormatOption = None,
    data: DataOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Numbers for programs.")] = False,
) -> None:
    """What the paths offer, how often they are out, alone and together."""
    drives = _drives(source, format, data)
    facts = describe(drives)
    if as_json:
        put(json.dumps(_plain(facts), indent=1, allow_nan=False))
    else:
        console = wide_console()
        console.print(statistics_tables(source, facts))
        for note in dict.fromkeys(note for drive in drives for note in drive.notes):
            console.print(note)


@data_app.command()
def plot(
    source: Annotated[str, typer.Argument(help="A file, a folder, a data set or a preset.")],
    out: Annotated[Path, typer.Option("--out", help="The PNG to write.")],
    drive: Annotated[str | None, typer.Option(help="Which drive (else the longest).")] = None,
    format: FormatOption = None,
    data: DataOption = None,
) -> None:
    """Draw a drive: every path over time, and its distribution beside it."""
    drives = _drives(source, format, data)
    chosen = _chosen(drives, drive)
    write_bytes(out, png(drive_figure(chosen)))
    wide_console().print(f"{out}: {chosen.name} of {len(drives)}")


@data_app.command()
def calibrate(
    preset: Annotated[str, typer.Option(help="The preset to refit.")] = "midwest",
    data: DataOption = None,
    write: Annotated[Path | None, typer.Option(help="Write the refitted preset here.")] = None,
    repeats: Annotated[
        int, typer.Option(min=1, help="Synthetic drives per measured one, if there are any.")
    ] = 4,
) -> None:
    """Refit a preset to its drives or published run means and lay both side by side."""
    if preset in CALIBRATION_SETS:
        fitted, shown = _fit_to_drives(preset, data, repeats)
    else:
        fitted, shown = _fit_to_run_means(load_preset(preset))
    if write is not None:
        write_text(write, preset_text(fitted))
    console = wide_console()
    console.print(shown)
    if write is not None:
        console.print(f"written to {write}")


def _fit_to_drives(preset: str, data: Path | None, repeats: int) -> tuple[Preset, RenderableType]:
    from skyweave.synthesis.calibration import compare, fit

    name = CALIBRATION_SETS[preset]
    drives = load(sets.find(name, data))
    label = f"{name}, {len(drives)} drives, {sum(d.duration_s for d in drives):,.0f} s"
    fitted = fit(drives, load_preset(preset), label)
    comparison = compare(drives, fitted, repeats, _progress)
    return fitted, Group(f"{preset}, fitted to {label}", comparison_tables(comparison))


def _fit_to_run_means(preset: Preset) -> tuple[Preset, RenderableType]:
    from skyweave.synthesis.runmeans import CHECK_SEEDS, FIT_SEEDS, check_run_means, fit_run_means

    fitted = fit_run_means(preset, FIT_SEEDS, _progress)
    checks = check_run_means(fitted, CHECK_SEEDS, _progress)
    seeds = f"fitted on {len(FIT_SEEDS):,} runs, checked on {len(CHECK_SEEDS):,} others"
    return fitted, Group(f"{preset.name}, levels {seeds}", run_mean_table(checks))


@data_app.command("synthesise")
def synthesise_drive(
    preset: Annotated[str, typer.Argument(help="A preset or a TOML file.")],
    out: Annotated[Path, typer.Option("--out", help="The CSV to write.")],
    seed: Annotated[int, typer.Option(help="Same seed, same drive.")] = 1,
    duration_s: Annotated[float, typer.Option(help="Seconds.")] = 600.0,
) -> None:
    """Make a synthetic drive and write it as plain CSV."""
    drive = synthesise(load_preset(preset), seed, duration_s)
    write_drive(out, drive)
    wide_console().print(f"{out}: {drive.name}, {drive.duration_s:.0f} s, {', '.join(drive.paths)}")


class _Bar:
    """A rich task in the shape that pooch wants of a progress bar."""

    def __init__(self, progress: Progress, name: str) -> None:
        self._progress = progress
        self._task = progress.add_task(name, total=None)

    @property
    def total(self) -> float | None:
        """Bytes to come."""
        return self._progress.tasks[self._task].total

    @total.setter
    def total(self, size: float) -> None:
        self._progress.update(self._task, total=size)

    def update(self, size: int) -> None:
        """``size`` more bytes have come."""
        self._progress.advance(self._task, size)

    def reset(self) -> None:
        """Start over (pooch does so at the end, before it closes the bar)."""
        self._progress.reset(self._task)

    def close(self) -> None:
        """The file is complete."""


def _place(name: str, data: Path | None) -> Path | None:
    sets.data_set(name)
    if (local := sets.local_folder(name, data)) is not None:
        return local
    try:
        return sets.find(name, data)
    except DataError:
        return None


def _drives(source: str, format: str | None, data: Path | None) -> list[Drive]:
    """The drives of a path, a data set or a preset, in this order."""
    with _errors().status(f"reading {source}"):
        if Path(source).exists():
            return load(source, format)
        if source in sets.data_sets():
            return sets.load_set(source, data)
    if source in preset_names():
        chosen = load_preset(source)
        return [synthesise(chosen, seed, STATS_DURATION_S) for seed in _progress(STATS_SEEDS)]
    known = [*sets.data_sets(), *preset_names()]
    raise DataError(f"{source}: no such file, data set or preset; {suggest(source, known)}")


def _progress(steps: Sequence[int]) -> Iterator[int]:
    """A bar on standard error while the steps last."""
    yield from rich_track(steps, "synthesising", console=_errors(), transient=True)


def _chosen(drives: Sequence[Drive], name: str | None) -> Drive:
    if name is None:
        return max(drives, key=lambda drive: drive.duration_s)
    found = next((drive for drive in drives if drive.name == name), None)
    if found is None:
        hint = suggest(name, [drive.name for drive in drives])
        raise DataError(f"drive '{name}' is not in there; {hint}")
    return found


def mapping(pairs: Sequence[str] | None) -> dict[str, str] | None:
    """What ``--column OWN=PLAIN`` says; ``None`` if it was not given."""
    if not pairs:
        return None
    split = [pair.partition("=") for pair in pairs]
    wrong = next((own for own, equals, plain in split if not (own and equals and plain)), None)
    if wrong is not None:
        raise DataError(f"--column {wrong}: is not OWN=PLAIN; write for example --column t=time_s")
    return {own: plain for own, _, plain in split}


def _plain(value: Any) -> Any:
    """JSON knows no NaN: it becomes null."""
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_plain(part) for part in value]
    return None if isinstance(value, float) and math.isnan(value) else value
