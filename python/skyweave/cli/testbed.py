"""``skyweave testbed``: an orchestrator, and all that one asks of it.

Errors are :class:`SkyweaveError` and pass through to the main command, which prints their sentence
and exits with code 2.
"""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from skyweave.cli.lazy import Later, lazy_group
from skyweave.console import Console, wide_console
from skyweave.errors import ConfigError
from skyweave.model.textfile import read_text
from skyweave.printing import put
from skyweave.testbed.client import Testbed, log_in

COMMANDS = {
    "up": Later("skyweave.cli.testbed_up:up", "Be the orchestrator, until Ctrl-C."),
    "unit": Later(
        "skyweave.cli.testbed_up:unit",
        "Print a unit of systemd, for /etc/systemd/system/skyweave-testbed.service.",
    ),
    "backup": Later(
        "skyweave.cli.testbed_up:backup", "Write all rows, files and keys into one new file."
    ),
    "restore": Later(
        "skyweave.cli.testbed_up:restore", "Put a backup into a new folder and an empty database."
    ),
    "submit": Later(
        "skyweave.cli.testbed_submit:submit", "Submit an experiment: a study, or a command."
    ),
    "tokens": Later("skyweave.cli.testbed_people:tokens_app", "Own tokens: list, make, revoke."),
    "passkeys": Later("skyweave.cli.testbed_people:passkeys_app", "Own passkeys: list, revoke."),
    "people": Later("skyweave.cli.testbed_people:people_app", "Accounts: list, add, change."),
}
MOST_CONTEXT = 90_000
"""Characters of what fired that go with a run."""
testbed_app = typer.Typer(
    help="Nodes at volunteers' terminals: lend one, run experiments on all.",
    cls=lazy_group(COMMANDS), no_args_is_help=True,
)  # fmt: skip
Json = Annotated[bool, typer.Option("--json", help="The answer as it is, for programs.")]
Run = Annotated[str, typer.Argument(metavar="RUN", help="The id of a run.")]
Experiment = Annotated[str, typer.Argument(metavar="EXPERIMENT", help="Its id.")]
Node = Annotated[str, typer.Argument(metavar="NODE", help="The name of a node or a server.")]


def moment(unix_s: float | None) -> str:
    """Return a time as people read it, in UTC."""
    if unix_s is None:
        return "-"
    return f"{datetime.fromtimestamp(unix_s, UTC):%Y-%m-%d %H:%M:%S}"


def show(rows: list[dict[str, Any]], as_json: bool, *columns: str) -> None:
    """Print rows as a table of some columns, or as they are."""
    if as_json:
        put(json.dumps(rows, indent=1))
        return
    table = Table(*(one.removesuffix("_unix_s") for one in columns), box=None)
    for row in rows:
        cells = (
            moment(row[one]) if one.endswith("_unix_s") else _word(row[one]) for one in columns
        )
        table.add_row(*cells)
    wide_console().print(table)


def _word(value: Any) -> str:
    if value is None:
        return "-"
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


@testbed_app.command()
def login(
    address: Annotated[
        str, typer.Argument(metavar="ADDRESS", help="What 'testbed up', or an admin, printed.")
    ],
    name: Annotated[str | None, typer.Option(help="For the first admin: your name there.")] = None,
) -> None:
    """Log in; the token is kept in a file that only you can read."""
    found = log_in(address, name)
    with Testbed(found) as testbed:
        me = testbed.me()
    Console(soft_wrap=True).print(f"{me['name']} ({me['role']}) at {found.url}")


@testbed_app.command()
def nodes(as_json: Json = False) -> None:
    """List nodes and servers: whose, when last seen, their clocks."""
    with Testbed.open() as testbed:
        rows = testbed.nodes()
    for row in rows:
        beat = row["heartbeat"] or {}
        row["clock_error_s"] = beat.get("clock", {}).get("error_s")
        row["version"] = beat.get("version")
    columns = ("name", "kind", "owner", "seen_unix_s", "paused", "revoked", "version")
    show(rows, as_json, *columns, "clock_error_s")


@testbed_app.command()
def invite(
    server: Annotated[
        bool, typer.Option("--server", help="A server, for 'skyweave measure serve'.")
    ] = False,
) -> None:
    """Invite a node of yours: one use, 15 minutes; paste the line there."""
    with Testbed.open() as testbed:
        kind = "server" if server else "node"
        found = testbed.ask("POST", "/invitations", {"kind": kind})
        owner = testbed.me()["name"]
    line = found["invitation"]
    if server:
        put(f"skyweave measure join '{line}' --address ITS-ADDRESS")
    else:
        put(f"skyweave node join '{line}' --owner {owner}")


@testbed_app.command()
def pause(
    node: Node,
    off: Annotated[bool, typer.Option("--off", help="Let runs begin there again.")] = False,
) -> None:
    """Let nothing new begin on a node of yours."""
    with Testbed.open() as testbed:
        testbed.ask("PATCH", f"/nodes/{node}", {"paused": not off})


@testbed_app.command()
def revoke(node: Node) -> None:
    """Revoke a node of yours permanently; its runs end."""
    with Testbed.open() as testbed:
        testbed.ask("DELETE", f"/nodes/{node}")


@testbed_app.command()
def experiments(as_json: Json = False) -> None:
    """List experiments."""
    with Testbed.open() as testbed:
        rows = testbed.ask("GET", "/experiments")
    for row in rows:
        plan = row["plan"]
        row |= {"title": plan["title"], "node": plan["node"], "when": plan["when"]["kind"]}
    show(rows, as_json, "id", "title", "owner", "node", "when", "created_unix_s", "ended_unix_s")


@testbed_app.command()
def end(experiment: Experiment) -> None:
    """End an experiment: what is reserved is given back, what runs is stopped."""
    with Testbed.open() as testbed:
        testbed.ask("DELETE", f"/experiments/{experiment}")


@testbed_app.command()
def fire(
    experiment: Experiment,
    trigger: Annotated[str | None, typer.Option(help="What fired.")] = None,
    context: Annotated[
        str | None,
        typer.Option(metavar="FILE|-", help="JSON beside the run; '-' is what 'trigger' hands on."),
    ] = None,
) -> None:
    """Start a run of an experiment that waits for a trigger (submit --trigger POLICY)."""
    said = _context(context) if context else {}
    name = trigger or str(said.get("trigger", "by hand"))[:100]
    with Testbed.open() as testbed:
        body = {"trigger": name, "context_json": json.dumps(said)}
        (found,) = testbed.ask("POST", f"/experiments/{experiment}/fire", body)["runs"]
        row = testbed.run(found)["run"]
    Console(soft_wrap=True).print(f"run {found}: {row['state']} {row['why']}")


def _context(place: str) -> dict[str, Any]:
    """Return what goes with a firing; without its samples if these are too many."""
    text = sys.stdin.read(10_000_000) if place == "-" else read_text(Path(place)).body
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise ConfigError(f"--context {place}: is no JSON object")
    if len(text) > MOST_CONTEXT:
        found = {name: value for name, value in found.items() if name != "context"}
    return found


@testbed_app.command()
def runs(
    node: Annotated[str | None, typer.Option(help="On this node alone.")] = None,
    experiment: Annotated[str | None, typer.Option(help="Of this experiment alone.")] = None,
    state: Annotated[str | None, typer.Option(help="In this state alone.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=500)] = 30,
    as_json: Json = False,
) -> None:
    """List runs, the newest first."""
    with Testbed.open() as testbed:
        rows = testbed.runs(node=node, experiment=experiment, state=state, limit=limit)
    show(rows, as_json, "id", "node", "server", "owner", "start_unix_s", "seconds", "state", "why")


@testbed_app.command()
def run(run: Run, as_json: Json = False) -> None:
    """Show a run: its history, what its node said, its files."""
    with Testbed.open() as testbed:
        found = testbed.run(run)
    if as_json:
        put(json.dumps(found, indent=1))
        return
    console = Console(soft_wrap=True)
    for one in found["history"]:
        console.print(f"{moment(one['at_unix_s'])}  {one['state']:<10}  {one['why']}")
    for name, value in (found["report"] or {}).items():
        if name not in ("artefacts", "run", "fence", "kind"):
            console.print(f"{name}: {value}")
    for one in found["artefacts"]:
        there = "" if one["stored"] else "  (has not come yet)"
        console.print(f"{one['artefact']['bytes']:>12,}  {one['artefact']['name']}{there}")


@testbed_app.command()
def stop(run: Run) -> None:
    """Stop a run, or let it not begin."""
    with Testbed.open() as testbed:
        put(testbed.stop(run)["state"])


@testbed_app.command()
def fetch(
    run: Run,
    out: Annotated[Path, typer.Option(metavar="DIR", help="A new folder for the files.")],
) -> None:
    """Save what a run left, with digests checked."""
    with Testbed.open() as testbed:
        for file in testbed.fetch(run, out):
            Console(soft_wrap=True).print(f"{file}")


@testbed_app.command()
def calendar(
    node: Annotated[str | None, typer.Option(help="Of this node or server alone.")] = None,
    hours: Annotated[float, typer.Option(min=0.1, max=240)] = 24.0,
    as_json: Json = False,
) -> None:
    """Show what is reserved from now on."""
    with Testbed.open() as testbed:
        now = int(testbed.ask("GET", "/health")["now_unix_s"])
        until = now + int(3600 * hours)
        rows = testbed.ask("GET", "/calendar", since=now, until=until, node=node)
    show(rows, as_json, "start_unix_s", "end_unix_s", "resource", "priority", "owner", "run")


@testbed_app.command()
def audit(as_json: Json = False) -> None:
    """Show the newest 200 lines of the audit log."""
    with Testbed.open() as testbed:
        rows = testbed.ask("GET", "/audit")
    show(rows, as_json, "at_unix_s", "who", "action", "what", "detail")
