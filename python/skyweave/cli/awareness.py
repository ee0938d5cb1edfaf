"""``skyweave awareness``: ask a publisher, listen to it, steer Multipath TCP by it.

Errors are :class:`SkyweaveError` and pass through to the main command, which prints their sentence
and exits with code 2.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Annotated

import typer

from skyweave.awareness.client import Awareness
from skyweave.awareness.publisher import LEVELS, Level, Publisher
from skyweave.awareness.steer import Endpoints, Rule, steer
from skyweave.cli.stopping import stopped
from skyweave.console import Console
from skyweave.errors import ConfigError
from skyweave.forecast import read_forecast
from skyweave.printing import put

awareness_app = typer.Typer(
    help="What a path does now and next, for programs: ask, listen, steer Multipath TCP.",
    no_args_is_help=True,
)
Socket = Annotated[Path, typer.Option("--socket", metavar="FILE", help="Of the publisher.")]


@awareness_app.command()
def serve(
    socket: Socket,
    forecast: Annotated[
        list[str], typer.Option(metavar="PATH=FILE", help="A forecast of a path; repeat it.")
    ],
) -> None:
    """Publish forecasts of files; 'trigger watch --publish' publishes what is measured."""
    known = {}
    for text in forecast:
        path, equals, file = text.partition("=")
        if not (equals and path and file):
            raise ConfigError(f"--forecast {text}: write PATH=FILE, such as starlink=forecast.json")
        known[path] = read_forecast(Path(file))
    with stopped() as stop, Publisher(socket) as publisher:
        for path, one in known.items():
            publisher.foresee(path, one)
        Console(stderr=True, soft_wrap=True).print(f"Publishing at {socket}; Ctrl-C ends it.")
        stop.wait()


@awareness_app.command()
def show(socket: Socket) -> None:
    """Print the forecasts that hold now, as JSON; an empty table if there are none."""
    known = Awareness(socket, timeout_s=2.0).forecasts()
    facts = {path: one.model_dump(mode="json", exclude_none=True) for path, one in known.items()}
    put(json.dumps(facts, indent=1))


@awareness_app.command()
def listen(
    socket: Socket,
    levels: Annotated[
        str, typer.Option(help=f"Some of {', '.join(LEVELS)}, with commas.")
    ] = ",".join(LEVELS),
) -> None:
    """Print events while they come, a JSON object a line."""
    wanted: list[Level] = [one for one in LEVELS if one in levels.split(",")]
    if len(wanted) != len(set(levels.split(","))):
        raise ConfigError(f"--levels {levels}: give some of {', '.join(LEVELS)}")
    for level, facts in Awareness(socket, timeout_s=2.0).events(wanted):
        put(json.dumps({"level": level, **facts}))


@awareness_app.command()
def header() -> None:
    """Print the C header that reads pages of hints."""
    file = Path(__file__).parents[1] / "awareness" / "skyweave_awareness.h"
    put(file.read_text(), end="")


@awareness_app.command("steer")
def steer_paths(
    socket: Socket,
    endpoint: Annotated[
        list[str],
        typer.Option(metavar="PATH=ID", help="Path, and its endpoint of 'ip mptcp'; repeat it."),
    ],
    lead: Annotated[float, typer.Option(metavar="S", min=0, max=10)] = Rule.lead_s,
    probability: Annotated[
        float, typer.Option(min=0, max=1, help="Less likely outages are not heeded.")
    ] = Rule.least_probability,
) -> None:
    """Make paths backup before their outages, and take them back after (Linux, root)."""
    paths = dict(_endpoint(text) for text in endpoint)
    rule = Rule(lead, probability)
    console = Console(stderr=True, soft_wrap=True)

    def say(away: frozenset[str]) -> None:
        console.print(f"backup: {', '.join(sorted(away)) or 'none'}")

    with stopped() as stop, Endpoints(paths) as endpoints:
        console.print(f"Steering {', '.join(paths)}; Ctrl-C ends it.")
        steer(endpoints, Awareness(socket).forecasts, time.time, stop, rule, say)


def _endpoint(text: str) -> tuple[str, int]:
    path, equals, number = text.partition("=")
    if not (equals and path and number.isascii() and number.isdigit() and int(number) < 256):
        raise ConfigError(f"--endpoint {text}: write PATH=ID, such as starlink=1")
    return path, int(number)
