"""The command line: what commands there are, and how errors leave it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Annotated

import typer

from skyweave.cli.lazy import Later, lazy_group
from skyweave.errors import Interrupted, SkyweaveError
from skyweave.printing import complain, put, take_any_text

INTERNAL = 70
MOST_SAID = 300
"""Characters of an unforeseen error that are shown."""
COMMANDS = {
    "compare": Later(
        "skyweave.cli.compare:compare",
        "What would bonding give my users? Logs of each network in, table and report out.",
    ),
    "run": Later(
        "skyweave.cli.run:run",
        "Run a study and write its report. Killed or stopped, it continues where it was.",
    ),
    "report": Later(
        "skyweave.cli.report:report", "Make the report of finished runs anew; runs nothing."
    ),
    "demo": Later(
        "skyweave.cli.demo:demo",
        "See in a minute what bonding is worth: a short study on a drive in Alaska.",
    ),
    "shell": Later(
        "skyweave.cli.shell:shell",
        "Open a shell, or run a program, inside an emulated host with several paths.",
    ),
    "link": Later(
        "skyweave.cli.link:link",
        "Change a path of the 'skyweave shell' that this runs in, at once.",
    ),
    "data": Later(
        "skyweave.cli.data:data_app", "Measured and synthetic drives: get, look at, convert, make."
    ),
    "forecast": Later(
        "skyweave.cli.forecast:forecast_app",
        "Slots and handovers in measurements, and forecasts from them.",
    ),
    "orbit": Later(
        "skyweave.cli.orbit:orbit_app", "Satellites over a terminal: passes, schedules, RTTs, maps."
    ),
    "dish": Later(
        "skyweave.cli.dish:dish_app",
        "A Starlink dish: record what it says, look at that, fake one.",
    ),
    "probe": Later(
        "skyweave.cli.probe:probe_app",
        "Own probes, ten a second: run them, answer them, follow the way.",
    ),
    "quic": Later(
        "skyweave.cli.quic:quic_app",
        "Multipath QUIC on real interfaces: files, and TCP connections of any program.",
    ),
    "algorithms": Later(
        "skyweave.cli.algorithms:algorithms_app",
        "Schedulers, congestion controls, ABR algorithms: list, explain, plot.",
    ),
    "radio": Later(
        "skyweave.cli.radio:radio_app", "Signal strength of LTE cells to capacity, and to drives."
    ),
    "trigger": Later(
        "skyweave.cli.trigger:trigger_app", "Conditions over recent samples that start runs."
    ),
    "node": Later(
        "skyweave.cli.node:node_app", "Lend this machine to a testbed, by its owner's policy."
    ),
    "measure": Later(
        "skyweave.cli.measure:measure_app",
        "The far end of a testbed's measurements, and measuring against it.",
    ),
    "lab": Later(
        "skyweave.cli.lab:lab_app", "Experiments with everything at once, on this machine alone."
    ),
    "testbed": Later(
        "skyweave.cli.testbed:testbed_app",
        "Nodes at volunteers' terminals: lend one, run experiments on all.",
    ),
    "awareness": Later(
        "skyweave.cli.awareness:awareness_app",
        "What a path does now and next, for programs: ask, listen, steer Multipath TCP.",
    ),
    "video": Later(
        "skyweave.cli.video:video_app",
        "Play films over emulated paths; make films and their frame tables.",
    ),
    "bench": Later(
        "skyweave.cli.bench.app:bench_app", "Measure how fast Skyweave is on this machine."
    ),
}

app = typer.Typer(
    name="skyweave",
    help="Weave satellite and cellular links into one connection, and see what that is worth.",
    cls=lazy_group(COMMANDS),
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        from skyweave.version import code_version

        put(f"skyweave {code_version()}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Take the options that come before a command."""


def main() -> None:
    """Run the command line; see :func:`guarded`."""
    guarded(app)


def guarded(program: Callable[[], object], name: str = "skyweave") -> None:
    """Run a program: one line on stderr and an exit code, whatever happens.

    2 for errors, 130 for Ctrl-C, 70 (EX_SOFTWARE of sysexits.h) for what nobody thought of; with
    ``SKYWEAVE_TRACEBACK`` set that one comes with its traceback.
    """
    take_any_text()
    try:
        program()
    except SkyweaveError as error:
        complain(f"{name}: {error}")
        sys.exit(2)
    except Interrupted as error:
        sys.stderr.write("\n")
        complain(f"{name}: {error}")
        os._exit(130)  # threads of runs that were given up must not hold the process
    except KeyboardInterrupt:
        sys.stderr.write("\n")
        complain(f"{name}: stopped")
        sys.exit(130)
    except Exception as error:
        if os.environ.get("SKYWEAVE_TRACEBACK"):
            raise
        complain(f"{name}: {_unforeseen(error)}")
        sys.exit(INTERNAL)


def _unforeseen(error: Exception) -> str:
    """The sentence for an error that is a mistake of this program: what, and in which line."""
    import traceback
    from pathlib import Path

    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if "skyweave" in frame.filename] or frames
    place = f"{Path(own[-1].filename).name}:{own[-1].lineno}" if own else "nowhere"
    said = " ".join(str(error).split())[:MOST_SAID]
    return (
        f"internal error in {place} ({type(error).__name__}: {said}); please report it with the "
        "command and the traceback that SKYWEAVE_TRACEBACK=1 gives"
    )
