"""``skyweave report``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from skyweave.cli.progress import Progress
from skyweave.cli.say import say
from skyweave.report.page.render import render_report


def report(
    out: Annotated[Path, typer.Argument(help="Folder with the results of a study.")],
) -> None:
    """Make the report of finished runs anew; runs nothing."""
    say(render_report(out, Progress().drawn))
