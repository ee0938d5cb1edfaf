"""``skyweave lab``: experiments with everything at once, on this machine alone."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Annotated, Any

import typer

from skyweave.cli.lazy import Later, lazy_group
from skyweave.console import Console
from skyweave.data.writers import write_bytes, write_text
from skyweave.lab.closed_loop import Plan, run_loop
from skyweave.lab.draw import loop_figure
from skyweave.lab.judge import judge, look, misses
from skyweave.orbit.words import check_picture, picture
from skyweave.printing import put
from skyweave.version import code_version

COMMANDS = {
    "testbed": Later(
        "skyweave.cli.lab_testbed:up",
        "Start a testbed with three nodes on this machine, and experiments on it, until Ctrl-C.",
    ),
}
lab_app = typer.Typer(
    help="Experiments with everything at once, on this machine alone.",
    cls=lazy_group(COMMANDS), no_args_is_help=True,
)  # fmt: skip


@lab_app.callback()
def _group() -> None:
    """Keep the names of the commands."""


@lab_app.command("closed-loop")
def closed_loop(
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="A new folder for the files of all programs.")
    ],
    duration: Annotated[float, typer.Option(metavar="S", help="How long it runs.")] = 90.0,
    terminal: Annotated[str, typer.Option(metavar="PLACE", help="Where the dish is.")] = "seattle",
    constellation: Annotated[
        str, typer.Option(metavar="NAME|FILE", help="Built-in, or a file of elements.")
    ] = "starlink",
    seed: Annotated[int, typer.Option(min=0, help="Levels, jitter and inflated handovers.")] = 1,
    inflated: Annotated[
        float, typer.Option(min=0, max=1, help="Share of handovers with inflated round trips.")
    ] = 0.5,
    figure: Annotated[Path | None, typer.Option(help="Draw what was seen: .png or .svg.")] = None,
    evidence: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the numbers here (JSON).")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Numbers for programs.")] = False,
) -> None:
    """Let a fake dish, an emulated link, probes, a trigger and its runs meet, and judge them.

    Needs a machine that can make emulated networks, as 'skyweave shell' does. Exit code 1: an aim
    was missed.
    """
    check_picture(figure)
    plan = Plan(terminal, constellation, duration, seed, inflated)
    loop = run_loop(plan, out)
    seen = look(loop)
    found = _origin(plan) | judge(loop, seen)
    missed = misses(found)
    text = json.dumps(found | {"missed": missed}, indent=1, allow_nan=False)
    if evidence is not None:
        write_text(evidence, text + "\n")
    if figure is not None:
        write_bytes(figure, picture(loop_figure(loop, seen, _headline(found)), figure))
    if as_json:
        put(text)
    else:
        _say(found, missed)
    if missed:
        raise typer.Exit(1)


def _origin(plan: Plan) -> dict[str, Any]:
    """Return what makes a loop, and with which code."""
    asked = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False,
        cwd=Path(__file__).parent,
    )  # fmt: skip
    return {
        "command": f"skyweave lab closed-loop --terminal {plan.terminal} "
        f"--constellation {plan.constellation} --duration {plan.duration_s:g} "
        f"--inflated {plan.inflated:g} --seed {plan.seed}",
        "code": code_version(),
        "commit": asked.stdout.strip() or None,
    }


def _headline(found: dict[str, Any]) -> str:
    slots, delay = found["slots"], found["delay_s"]
    late = "no delay" if delay["p50"] is None else f"{delay['p50']:.2f} s later (median)"
    return (
        f"{slots['recovered']} of {slots['with_satellite']} satellites found; "
        f"{found['disturbances']['fired']} of {found['disturbances']['over_the_limit']} "
        f"disturbances fired, {late}"
    )


def _say(found: dict[str, Any], missed: list[str]) -> None:
    console = Console(soft_wrap=True)
    console.print(f"{found['seconds']:.0f} s: {_headline(found)}.")
    delay, start, records = found["delay_s"], found["start_delay_s"], found["records"]
    if delay["n"]:
        console.print(
            f"From the first probe over the limit to the run: at most {delay['max']:.2f} s; from "
            f"the firing to the run: p99 {start['p99']:.3f} s."
        )
    console.print(
        f"{records['n']} records, {records['with_trigger']} name their trigger; {records['whole']} "
        f"of {records['due_whole']} hold 30 s on both sides; the log replays "
        f"{'alike' if found['firings']['replayed_alike'] else 'DIFFERENTLY'}."
    )
    for target, one in found["forecasts"].items():
        console.print(
            f"Foreseen '{target}': {100 * one['better_than_last']:.0f} % better than the last "
            f"value, {100 * one['in_band']:.0f} % in the 80 % band."
        )
    for sentence in missed:
        console.print(f"Missed: {sentence}.")
