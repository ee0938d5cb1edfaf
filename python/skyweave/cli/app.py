"""The command line: ``skyweave run``, ``report``, ``demo`` and ``data``."""

from __future__ import annotations

import os
import sys
from importlib import resources
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Console
from rich.table import Table

from skyweave.errors import SkyweaveError
from skyweave.plotting.words import mbps, percent
from skyweave.report.criteria.grades import ORDER
from skyweave.report.numbers.namer import Namer
from skyweave.report.numbers.panel import Panel
from skyweave.report.page.render import Rendered, render_report
from skyweave.report.page.words import foremost
from skyweave.study.run.engines import SourceName, live_words
from skyweave.study.run.runner import Interrupted
from skyweave.study.run.session import Options, code_version, prepare, run_study

app = typer.Typer(
    name="skyweave",
    help="Weave satellite and cellular links into one connection, and see what that is worth.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Out = Annotated[Path, typer.Option(help="Folder for the results; an unfinished one is continued.")]
EngineName = Literal["sim", "live"]
Jobs = Annotated[int | None, typer.Option(help="Runs at a time; all cores if not given.")]


def _version(wanted: bool) -> None:
    if wanted:
        print(f"skyweave {code_version()}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Take the options that come before a command."""


@app.command()
def run(
    study: Annotated[Path, typer.Argument(help="A study file (study.toml) or its folder.")],
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder for the results, results/<study> if not given; "
            "an unfinished one is continued."
        ),
    ] = None,
    data: Annotated[
        Path | None, typer.Option(help="Folder with data sets, for studies that need them.")
    ] = None,
    jobs: Jobs = None,
    engine: Annotated[
        EngineName | None,
        typer.Option(help="Engine of all runs, instead of the file's: sim or live (Linux)."),
    ] = None,
    live_jobs: Annotated[
        int, typer.Option(help="Live runs at a time; more than one disturb each other.")
    ] = 1,
    source: Annotated[
        SourceName,
        typer.Option(help="What sends and receives in live runs: our own programs, or iperf3."),
    ] = "own",
    seeds: Annotated[
        int | None, typer.Option(help="Synthetic drives in each group, instead of the file's.")
    ] = None,
    restart: Annotated[
        bool, typer.Option("--restart", help="Delete the records that OUT holds, and start over.")
    ] = False,
    cluster: Annotated[
        str | None,
        typer.Option(help="Dask scheduler that computes the runs, e.g. tcp://host:8786."),
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Check the study, say how large it is, and stop."),
    ] = False,
) -> None:
    """Run a study and write its report. Killed or stopped, it continues where it was."""
    file = study / "study.toml" if study.is_dir() else study
    out = out or default_out(file)
    options = Options(
        out=out, data=data, jobs=jobs, live_jobs=live_jobs, engine_name=engine, source=source,
        seeds=seeds, restart=restart, cluster=cluster,
    )  # fmt: skip
    if dry_run:
        _say_size(prepare(file, options).size, live_jobs)
        return
    run_study(file, options)
    _say(render_report(out))


def default_out(study: Path) -> Path:
    """Return where the results of a study file go: its folder says what it is, then its name.

    >>> print(default_out(Path("studies/alcs/study.toml")), default_out(Path("alcs/forecast.toml")))
    results/alcs results/alcs-forecast
    """
    folder = study.resolve().parent.name
    return Path("results") / (folder if study.stem == "study" else f"{folder}-{study.stem}")


@app.command()
def report(
    out: Annotated[Path, typer.Argument(help="Folder with the results of a study.")],
) -> None:
    """Make the report of finished runs anew; runs nothing."""
    _say(render_report(out))


@app.command()
def demo(out: Out = Path("results/demo"), jobs: Jobs = None) -> None:
    """See in a minute what bonding is worth: a short study on a drive in Alaska."""
    with resources.as_file(resources.files("skyweave.study") / "demo.toml") as file:
        run_study(file, Options(out=out, jobs=jobs, restart=True))
    _say(render_report(out))


def _mount() -> None:
    """Add the commands of other parts; imported here so that ``--help`` stays quick."""
    from skyweave.cli.algorithms import algorithms_app
    from skyweave.cli.bench.emulator import bench_emulator
    from skyweave.cli.bench.mpquic import bench_mpquic
    from skyweave.cli.bench.orbit import bench_orbit
    from skyweave.cli.bench.sim import bench_app
    from skyweave.cli.data import data_app
    from skyweave.cli.forecast import forecast_app
    from skyweave.cli.live import link, shell
    from skyweave.cli.orbit import orbit_app
    from skyweave.cli.quic import quic_app
    from skyweave.cli.radio import radio_app

    app.command()(shell)
    app.command()(link)
    bench_app.command("emulator")(bench_emulator)
    bench_app.command("orbit")(bench_orbit)
    bench_app.command("mpquic")(bench_mpquic)
    app.add_typer(data_app, name="data")
    app.add_typer(forecast_app, name="forecast")
    app.add_typer(orbit_app, name="orbit")
    app.add_typer(quic_app, name="quic")
    app.add_typer(algorithms_app, name="algorithms")
    app.add_typer(radio_app, name="radio")
    app.add_typer(bench_app, name="bench")


def _say_size(size: dict[str, float], live_jobs: int) -> None:
    console = Console()
    if size["simulated_runs"]:
        console.print(
            f"{size['simulated_runs']:.0f} runs, {size['simulated_s']:.0f} simulated seconds, "
            f"up to {size['packets'] / 1e6:.1f} million data packets.",
            highlight=False,
        )
    if size["live_runs"]:
        console.print(live_words(size["live_runs"], size["live_s"], live_jobs), highlight=False)


def _say(rendered: Rendered) -> None:
    """Print the numbers a person wants, and where the page is."""
    console = Console()
    shown = foremost(rendered.panels)
    for panel in shown:
        title = f"{rendered.namer.drives(panel.drives)}, {panel.direction}link"
        table = Table(title=title, title_justify="left", title_style="bold", box=None)
        table.add_column("network", no_wrap=True)
        last = "without data" if panel.file_mib is None else f"time for {panel.file_mib:g} MiB"
        for column in ("median Mbit/s", "25th pct.", last, "vs best alone"):
            table.add_column(column, justify="right")
        for cell in panel.goodput:
            table.add_row(*_row(panel, rendered.namer, cell), style="" if "+" in cell else "dim")
        console.print(table)
        console.print()
    if len(shown) < len(rendered.panels):
        console.print("Runs with other settings are in the report.\n", highlight=False)
    for found in rendered.answers:
        console.print(f"{found.place}, {found.direction}link: {found.sentence}", highlight=False)
    if rendered.outcomes:
        counts = [(grade, sum(o.grade == grade for o in rendered.outcomes)) for grade in ORDER]
        said = ", ".join(f"{count} {grade}" for grade, count in counts if count)
        console.print(f"\nCriteria: {said}.", highlight=False)
    if rendered.flagged:
        console.print(f"\nLive runs flagged as late: {rendered.flagged}; the report names them.")
    console.print(f"\nReport: {rendered.page}", highlight=False, soft_wrap=True)


def _row(panel: Panel, namer: Namer, cell: str) -> list[str]:
    """Return the cells of one line of the table."""
    median = panel.estimate("goodput", cell, "median").value
    gain = ""
    if cell in panel.comparable:
        best = max(panel.estimate("goodput", n, "median").value for n in cell.split("+"))
        gain = f"x {median / best:.2f}" if best > 0 else "-"
    return [
        namer.cell(cell),
        mbps(median),
        mbps(panel.estimate("goodput", cell, "p25").value),
        _last(panel, cell),
        gain,
    ]


def _last(panel: Panel, cell: str) -> str:
    """Return the share of time without data, or how long the file took."""
    if panel.file_mib is None:
        return percent(panel.estimate("goodput", cell, "zero_share").value)
    return f"{panel.estimate('completion_s', cell, 'median').value:.1f} s"


def main() -> None:
    """Run the command line: one line on stderr and exit code 2 for errors, 130 for Ctrl-C."""
    _mount()
    try:
        app()
    except SkyweaveError as error:
        print(f"skyweave: {error}", file=sys.stderr)
        sys.exit(2)
    except Interrupted as error:
        print(f"\nskyweave: {error}", file=sys.stderr, flush=True)
        os._exit(130)  # threads of runs that were given up must not hold the process
    except KeyboardInterrupt:
        print("\nskyweave: stopped", file=sys.stderr)
        sys.exit(130)


if __name__ == "__main__":
    main()
