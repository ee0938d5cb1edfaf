"""``skyweave video``: films, and what a viewer sees of them over emulated paths."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from skyweave.cli import video_play
from skyweave.printing import put
from skyweave.video import film, ladder

video_app = typer.Typer(
    help="Play films over emulated paths; make films and their frame tables.", no_args_is_help=True
)


@video_app.callback()
def _video() -> None:
    """Play films over emulated paths; make films and their frame tables."""


@video_app.command("file")
def make(
    kind: Annotated[
        str, typer.Argument(help="cbr: constant rate, 118 MB in 3 minutes; vbr: it varies.")
    ] = "cbr",
    cache: Annotated[
        Path | None, typer.Option(help="Folder that keeps it; the user's cache otherwise.")
    ] = None,
) -> None:
    """Make a film with ffmpeg if it is not there yet; print where it and its frame table are."""
    found = film(kind, cache)
    put(str(found.file))
    put(str(found.frames))


@video_app.command("ladder")
def make_ladder(
    top: Annotated[float, typer.Option(help="Bitrate of the best of six qualities, Mbit/s.")] = 4.3,
    length: Annotated[int, typer.Option(help="Seconds, in whole chunks of 4 s.")] = 180,
    cache: Annotated[
        Path | None, typer.Option(help="Folder that keeps it; the user's cache otherwise.")
    ] = None,
) -> None:
    """Make an adaptive film (DASH) with ffmpeg if it is not there yet.

    Prints where its manifest is, and a file with the sizes of its chunks (chunk_bytes).
    """
    found = ladder(top, length, cache)
    put(str(found.manifest))
    put(str(found.sizes))


video_app.command("play")(video_play.play)
