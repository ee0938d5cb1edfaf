"""``skyweave testbed submit``: options, or a file, to a plan."""

from __future__ import annotations

import json
import tomllib
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from skyweave.cli.testbed import moment
from skyweave.console import Console
from skyweave.errors import ConfigError
from skyweave.model.textfile import read_text
from skyweave.printing import put
from skyweave.testbed.client import Testbed


def submit(
    command: Annotated[
        list[str] | None, typer.Argument(metavar="[COMMAND]...", help="What to run, after '--'.")
    ] = None,
    node: Annotated[str | None, typer.Option(help="Where.")] = None,
    seconds: Annotated[int, typer.Option(min=1, max=86_400, help="How long it may run.")] = 60,
    study: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A study; its folder goes with it.")
    ] = None,
    folder: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Files that a command needs.")
    ] = None,
    server: Annotated[str | None, typer.Option(help="The far end.")] = None,
    service: Annotated[
        list[str] | None, typer.Option(help="iperf3, quic, http, probe or field there; repeat it.")
    ] = None,
    kind: Annotated[
        str | None, typer.Option(help="probe, tcp, mptcp, mpquic, video, or command.")
    ] = None,
    priority: Annotated[
        str, typer.Option("--class", help="background, normal or exclusive.")
    ] = "exclusive",
    at: Annotated[
        str | None, typer.Option(metavar="TIME", help="UTC, such as 2027-01-15T08:00:00.")
    ] = None,
    every: Annotated[int | None, typer.Option(metavar="S", help="Period in seconds.")] = None,
    cron: Annotated[str | None, typer.Option(help="Five fields, UTC.")] = None,
    until: Annotated[str | None, typer.Option(metavar="TIME", help="For the last two.")] = None,
    trigger: Annotated[
        str | None, typer.Option(metavar="POLICY", help="When one fires: skip, wait, pre-empt.")
    ] = None,
    tolerance: Annotated[
        int | None,
        typer.Option(min=0, max=3600, metavar="S", help="How late it may begin: 2; 30 in a gap."),
    ] = None,
    title: Annotated[str | None, typer.Option(help="What people call it.")] = None,
    plan: Annotated[
        Path | None, typer.Option("--plan", metavar="FILE", help="All of it as TOML.")
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Only ask what the calendar would say.")
    ] = False,
    wait: Annotated[bool, typer.Option("--wait", help="Until the first run is over.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="The answer as it is.")] = False,
) -> None:
    """Submit an experiment: a study, or a command.

    Without a time it takes the nearest gap.
    """
    if plan is not None:
        made = _read(plan)
    else:
        made = _plan(command, node, study, kind, title)
        made["when"] = _when(seconds, at, every, cron, until, trigger)
        made["priority"] = priority
        usual = 30 if made["when"]["kind"] == "soon" else 2
        made["tolerance_s"] = usual if tolerance is None else tolerance
        if server:
            made |= {"server": server, "services": service or ["iperf3"]}
    goes_with = study.parent if study else folder
    with Testbed.open() as testbed:
        if check:
            _say(testbed.check(made, goes_with), as_json)
            return
        found = testbed.submit(made, goes_with)
        last = testbed.wait(found["runs"][0]) if wait and found["runs"] else None
        if as_json:
            put(json.dumps(last or found, indent=1))
            return
        console = Console(soft_wrap=True)
        console.print(f"experiment {found['id']}")
        for run in found["runs"][:10]:
            row = testbed.run(run)["run"]
            console.print(f"run {run}: {row['state']}, {moment(row['start_unix_s'])} {row['why']}")


def _say(answer: dict[str, Any], as_json: bool) -> None:
    if as_json:
        put(json.dumps(answer, indent=1))
    elif answer["fits"]:
        begins = answer["begins_unix_s"]
        put("it fits" + (f", and begins {moment(begins)}" if begins is not None else ""))
    elif answer["taken_unix_s"] is None:
        put("there is no gap for it within two days")
    else:
        near = answer["nearest_unix_s"]
        hint = f"the nearest free start is {moment(near)}" if near else "no gap is near"
        put(f"taken at {moment(answer['taken_unix_s'])}; {hint}")


def _plan(
    command: list[str] | None, node: str | None, study: Path | None, kind: str | None,
    title: str | None,
) -> dict[str, Any]:  # fmt: skip
    if node is None:
        raise ConfigError("say where: --node NAME; 'skyweave testbed nodes' lists all")
    if (study is None) == (not command):
        raise ConfigError("give a study (--study FILE) or a command (-- PROGRAM ARGUMENTS)")
    work: dict[str, Any] = {"kind": "command", "argv": command}
    if study is not None:
        work = {"kind": "study", "file": study.name}
    named = title or (study.stem if study else " ".join(command or ()))[:200]
    return {"title": named, "node": node, "kind": kind or ("tcp" if study else "command")} | {
        "work": work
    }


def _when(
    seconds: int, at: str | None, every: int | None, cron: str | None, until: str | None,
    trigger: str | None,
) -> dict[str, Any]:  # fmt: skip
    if sum(one is not None for one in (every, cron, trigger)) > 1 or (at and (cron or trigger)):
        raise ConfigError("give one of --at, --every, --cron, --trigger (--at begins --every)")
    start = _second(at, "--at") if at else int(datetime.now(UTC).timestamp()) + 60
    end = {"until": _second(until, "--until")} if until else {}
    if trigger is not None:
        return {"kind": "trigger", "seconds": seconds, "policy": trigger}
    if every is not None:
        return {"kind": "every", "start": start, "period": every, "seconds": seconds} | end
    if cron is not None:
        return {"kind": "cron", "expression": cron, "seconds": seconds} | end
    if at is not None:
        return {"kind": "once", "start": start, "seconds": seconds}
    return {"kind": "soon", "seconds": seconds}


def _second(text: str, option: str) -> int:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise ConfigError(f"{option} {text}: write a time such as 2027-01-15T08:00:00") from None
    return int((found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp())


def _read(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(read_text(file).body)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ConfigError(f"{file}: is no TOML ({str(error)[:200]})") from None
