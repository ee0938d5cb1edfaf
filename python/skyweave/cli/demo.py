"""``skyweave demo``."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import Annotated

import typer

from skyweave.cli.progress import Progress
from skyweave.cli.say import Jobs, say
from skyweave.report.page.render import render_report
from skyweave.study.run.session import StudyOptions, run_study

Out = Annotated[Path, typer.Option(help="Folder for the results; an unfinished one is continued.")]


def demo(out: Out = Path("results/demo"), jobs: Jobs = None) -> None:
    """See in a minute what bonding is worth: a short study on a drive in Alaska."""
    progress = Progress()
    with resources.as_file(resources.files("skyweave.study") / "demo.toml") as file:
        run_study(file, StudyOptions(out=out, jobs=jobs, restart=True), progress)
    say(render_report(out, progress.drawn))
