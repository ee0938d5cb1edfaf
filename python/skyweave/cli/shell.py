"""``skyweave shell``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from skyweave.cli.profiles import KEYS, parse_path
from skyweave.live.shell import run_shell

PROFILE = (
    "A path, e.g. starlink=alaska/starlink, lte=down=lte.down,up=lte.up,rtt=50 or "
    "wifi=down=50,up=20,rtt=30,loss=0.001. May be given several times. Keys: "
    + "; ".join(f"{key} ({meaning})" for key, meaning in KEYS.items())
    + "."
)


def shell(
    path: Annotated[list[str], typer.Option(metavar="NAME=PROFILE", help=PROFILE)],
    command: Annotated[
        list[str] | None, typer.Argument(help="What to run, after --; your shell if not given.")
    ] = None,
    server_run: Annotated[
        list[str] | None,
        typer.Option(metavar="COMMAND", help="Run this on the server, e.g. 'iperf3 -s'."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Drive of a preset, and random losses.")] = 1,
    buffer_mb: Annotated[
        float | None, typer.Option(help="Largest TCP buffers in MB; the host's if not given.")
    ] = None,
    capture: Annotated[
        Path | None, typer.Option(help="Folder for a pcapng file of each path.")
    ] = None,
    no_offload: Annotated[
        bool,
        typer.Option("--no-offload", help="Devices without segmentation offload, to compare."),
    ] = False,
    outside: Annotated[
        bool,
        typer.Option(
            "--outside",
            help="Make the server a router to this machine's network, by slirp4netns or pasta.",
        ),
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Say nothing about the links.")] = False,
) -> None:
    """Open a shell, or run a program, inside an emulated host with several paths.

    The other end is called 'server'; 'server.NAME' is reached over that path alone.

    Multipath TCP is set up: 'mptcpize run PROGRAM' uses all paths, with --outside to any server.

    Needs no root where user namespaces are allowed; changes nothing of the host, leaves nothing.
    """
    paths = [parse_path(text, seed) for text in path]
    code = run_shell(
        paths,
        command or [],
        server_run=server_run or [],
        seed=seed,
        buffer_mb=buffer_mb,
        capture=capture,
        summary=not quiet,
        offload=not no_offload,
        outside=outside,
    )
    raise typer.Exit(code)
