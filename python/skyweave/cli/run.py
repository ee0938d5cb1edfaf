"""``skyweave run``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from skyweave.cli.progress import Progress
from skyweave.cli.say import Jobs, live_words, say
from skyweave.console import Console
from skyweave.errors import ConfigError
from skyweave.model.limits import MOST_RUNS
from skyweave.report.page.render import render_report
from skyweave.study.run.engines import SourceName
from skyweave.study.run.session import StudyOptions, prepare, run_study
from skyweave.study.shipped import find, names

EngineName = Literal["sim", "live", "field"]


def shipped(incomplete: str) -> list[str]:
    """Return the shipped studies that a shell offers for the beginning of a word."""
    return [name for name in names() if name.startswith(incomplete)]


def run(
    study: Annotated[
        Path,
        typer.Argument(
            help="A study file (study.toml), its folder, or a shipped study, e.g. alaska-hawaii "
            "or video-leo/live.",
            autocompletion=shipped,
        ),
    ],
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
        typer.Option(help="Engine of all runs, instead of the file's: sim, live (Linux), field."),
    ] = None,
    live_jobs: Annotated[
        int, typer.Option(help="Live runs at a time; more than one disturb each other.")
    ] = 1,
    source: Annotated[
        SourceName,
        typer.Option(help="What sends and receives in live runs: our own programs, or iperf3."),
    ] = "own",
    server: Annotated[
        str | None,
        typer.Option(
            metavar="HOST[:PORT]",
            help="Engine field: the far end, with its token in SKYWEAVE_TOKEN; "
            "in a testbed the run has one.",
        ),
    ] = None,
    uplink: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATH=DEVICE",
            help="Engine field: the network device of a path that has another name; repeat it.",
        ),
    ] = None,
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
    no_code: Annotated[
        bool,
        typer.Option("--no-code", help="Refuse a study that names Python code of its own."),
    ] = False,
    max_runs: Annotated[
        int, typer.Option(min=1, help="Refuse a study that asks for more runs than that.")
    ] = MOST_RUNS,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Check the study, say how large it is, and stop."),
    ] = False,
) -> None:
    """Run a study and write its report. Killed or stopped, it continues where it was."""
    file = find(study)
    out = out or default_out(file)
    options = StudyOptions(
        out=out, data=data, jobs=jobs, live_jobs=live_jobs, engine_name=engine, source=source,
        seeds=seeds, restart=restart, cluster=cluster, no_code=no_code, max_runs=max_runs,
        server=server, uplinks=_devices(uplink or []),
    )  # fmt: skip
    if dry_run:
        prepared = prepare(file, options)
        _say_size(prepared.size, live_jobs)
        for sentence in prepared.code:
            Console().print(sentence)
        return
    progress = Progress(live_jobs=live_jobs)
    run_study(file, options, progress)
    say(render_report(out, progress.drawn))


def _devices(said: list[str]) -> dict[str, str]:
    """Return the device of each path that ``--uplink`` names.

    >>> _devices(["starlink=eth1"])
    {'starlink': 'eth1'}
    """
    found = {}
    for one in said:
        path, equals, device = one.partition("=")
        if not (path and equals and 0 < len(device) <= MOST_DEVICE and device.isprintable()):
            raise ConfigError(f"--uplink {one[:80]}: give PATH=DEVICE, such as starlink=eth1")
        found[path] = device
    return found


MOST_DEVICE = 15
"""Characters of the name of a network device (``IFNAMSIZ``)."""


def default_out(study: Path) -> Path:
    """Return where the results of a study file go: its folder says what it is, then its name.

    >>> print(default_out(Path("studies/alcs/study.toml")), default_out(Path("alcs/forecast.toml")))
    results/alcs results/alcs-forecast
    """
    try:
        folder = study.resolve().parent.name
    except (OSError, RuntimeError):  # links in a circle: whoever reads the file says so
        folder = study.absolute().parent.name
    return Path("results") / (folder if study.stem == "study" else f"{folder}-{study.stem}")


def _say_size(size: dict[str, float], live_jobs: int) -> None:
    console = Console()
    if size["simulated_runs"]:
        console.print(
            f"{size['simulated_runs']:.0f} runs, {size['simulated_s']:.0f} simulated seconds, "
            f"up to {size['packets'] / 1e6:.1f} million data packets.",
        )
    if size["live_runs"]:
        console.print(live_words(size["live_runs"], size["live_s"], live_jobs))
