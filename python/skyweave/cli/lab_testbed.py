"""``skyweave lab testbed``."""

from __future__ import annotations

import json
import os
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated, Any

import typer

from skyweave.console import Console
from skyweave.data.writers import write_bytes
from skyweave.errors import ConfigError
from skyweave.lab.testbed.check import AIM_S, Check, CheckError
from skyweave.lab.testbed.draw import stack_figure
from skyweave.lab.testbed.links import LONGEST_S
from skyweave.lab.testbed.stack import stack_of
from skyweave.lab.testbed.start import Lab, Row, lab
from skyweave.orbit.words import check_picture
from skyweave.plotting.style import drawing, png_bytes, scheme_svg, svg_text
from skyweave.printing import put
from skyweave.version import code_version

TITLE = "The lab's stack on one node, counted while it ran"
CHECK_S = 600.0
"""Longer is a failure, not a slow machine."""


def up(
    seconds: Annotated[
        float,
        typer.Option("--for", metavar="S", min=1, max=LONGEST_S, help="Then it ends by itself."),
    ] = LONGEST_S,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="A new folder, kept; a temporary one if not given."),
    ] = None,
    port: Annotated[
        int, typer.Option(min=1024, max=65535, help="Of the dashboard, on 127.0.0.1.")
    ] = 8440,
    seed: Annotated[int, typer.Option(min=0, max=10**6, help="Of links and disturbances.")] = 1,
    check: Annotated[
        bool,
        typer.Option("--check", help="End when a triggered run is done; exit code 1: too late."),
    ] = False,
    figure: Annotated[
        Path | None, typer.Option(help="Draw at the end who spoke to whom: .svg or .png.")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="With --check: what was found, for programs.")
    ] = False,
) -> None:
    """Start a testbed with three nodes on this machine, and experiments on it, until Ctrl-C.

    Nodes, links, dishes and server are in namespaces of their own; needs root.
    """
    say = Console(stderr=True, soft_wrap=True).print
    check_picture(figure)
    found: dict[str, Any] = {}
    with _interrupted_by_sigterm(), _folder(out) as folder:
        try:
            with lab(folder, port, LONGEST_S, seed, say) as there:
                if check:
                    found = _checked(there)
                else:
                    _shown(there, seconds, say)
                if check or figure is not None:
                    found["stack"] = stack_of(there)
        except KeyboardInterrupt:
            if check:
                raise
        say("The lab is over, and everything of it is gone.")
    if figure is not None and "stack" in found:
        _draw(found["stack"], figure)
    if check:
        found = {"command": f"skyweave lab testbed --check --seed {seed}"} | found
        text = f"{found['seconds']:.0f} s from the start to a triggered run on the dashboard"
        put(json.dumps(found, indent=1) if as_json else text)
        if found["seconds"] > AIM_S:
            raise typer.Exit(1)


def _shown(there: Lab, seconds: float, say: Callable[[str], object]) -> None:
    """Go on until the time is over, or Ctrl-C: then what was counted is still drawn."""
    say("Ctrl-C ends all of it.")
    with suppress(KeyboardInterrupt):
        there.go_on(time.monotonic() + seconds, _never)


def _draw(found: dict[str, Any], figure: Path) -> None:
    with drawing("lab"):
        drawn = stack_figure(found, TITLE)
        is_svg = figure.suffix == ".svg"
        write_bytes(figure, scheme_svg(svg_text(drawn)).encode() if is_svg else png_bytes(drawn))


def _never(_: list[Row]) -> bool:
    return False


def _checked(there: Lab) -> dict[str, Any]:
    one = Check(there)
    there.go_on(there.began_s + CHECK_S, one)
    if "seconds" not in one.found:
        raise CheckError(f"no triggered run was done after {CHECK_S:g} s; found: {one.found}")
    return {"code": code_version(), "cores": os.cpu_count(), **one.found}


@contextmanager
def _folder(out: Path | None) -> Iterator[Path]:
    """Yield the folder of a lab: a new one that stays, or one that goes with it."""
    if out is None:
        with tempfile.TemporaryDirectory(prefix="skyweave-lab-") as found:
            yield Path(found)
        return
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise ConfigError(f"--out {out}: exists and is not an empty folder; choose another")
    out.mkdir(parents=True, exist_ok=True, mode=0o700)
    yield out.absolute()


@contextmanager
def _interrupted_by_sigterm() -> Iterator[None]:
    """Let SIGTERM and SIGHUP end the lab as Ctrl-C does, wherever it is."""
    wanted = (signal.SIGTERM, signal.SIGHUP)
    before = {one: signal.signal(one, signal.default_int_handler) for one in wanted}
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
