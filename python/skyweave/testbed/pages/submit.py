"""Submitting an experiment: a form to a plan, what the calendar says to it, and the nearest gap."""

from __future__ import annotations

import hashlib
import json
import shlex
import tempfile
import tomllib
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, get_args

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from skyweave.testbed.api import experiments as api
from skyweave.testbed.api import nodes as nodes_api
from skyweave.testbed.api.views import CalendarAnswer
from skyweave.testbed.client import pack
from skyweave.testbed.errors import ConflictError, RefusedError, TestbedError
from skyweave.testbed.pages.guards import Visitor, acts, sees
from skyweave.testbed.pages.render import PLACE, page
from skyweave.testbed.pages.words import clock
from skyweave.testbed.store import UnavailableError
from skyweave.testbed.wire.run import Kind, Priority, Service

router = APIRouter(prefix="/submit")
USUAL = {
    "title": "", "node": "", "server": "", "work": "command", "command": "", "study": "",
    "kind": "", "seconds": "60", "priority": "normal", "when": "soon", "start": "",
    "period": "3600", "expression": "0 * * * *", "policy": "skip", "tolerance": "30",
}  # fmt: skip
"""What the form has at first."""
POLICIES = ("skip", "wait", "pre-empt")
MOST_STUDY = 200_000


@router.get("")
def form(
    request: Request, node: Annotated[str, Query(max_length=39)] = "",
    visitor: Visitor = sees("experiments.submit"),
) -> HTMLResponse:  # fmt: skip
    """Show the form."""
    return _form(request, visitor, USUAL | {"node": node}, [])


@router.post("")
def submit(request: Request, visitor: Visitor = acts("experiments.submit")) -> Response:
    """Ask the calendar, or submit; what is wrong is said above the form, which stays as it was."""
    said = {name: visitor.field(name) for name in USUAL}
    services = [value for name, value in visitor.form if name == "service"]
    if chosen := visitor.field("at_nearest"):
        said |= {"start": _written(_number(chosen, "the nearest start"))}
        said |= {"when": "once"} if said["when"] != "every" else {}
    try:
        plan, packed = _plan(said, services)
        if packed is not None:
            digest = hashlib.sha256(packed).hexdigest()
            plan["input"] = {"sha256": digest, "bytes": len(packed)}
        body = json.dumps(plan).encode()
        if visitor.field("do") == "check":
            answer = api.check(request, body, visitor.asker)
            return _form(request, visitor, said, services, answer)
        if packed is not None:
            api.put_input(request, digest, packed, visitor.asker)
        made = api.submit(request, body, None, visitor.asker)
    except ConflictError as error:
        answer = api.check(request, body, visitor.asker)
        said_so = None if answer.fits else answer  # else it is something else that is in the way
        return _form(request, visitor, said, services, said_so, str(error), 409)
    except (RefusedError, UnavailableError):
        raise
    except TestbedError as error:
        return _form(request, visitor, said, services, None, str(error), 400)
    if made.runs:
        return RedirectResponse(f"{PLACE}/runs/{made.runs[0]}", 303)
    place = "triggers" if said["when"] == "trigger" else "calendar"
    return RedirectResponse(f"{PLACE}/{place}", 303)


def _form(
    request: Request, visitor: Visitor, said: dict[str, str], services: list[str],
    answer: CalendarAnswer | None = None, wrong: str | None = None, status: int = 200,
) -> HTMLResponse:  # fmt: skip
    there = [one for one in nodes_api.all_nodes(request) if not one.revoked]
    mine = [one.name for one in there if visitor.asker.reaches(one.owner) and one.kind == "node"]
    return page(
        request, "submit", visitor, status, said=said, chosen=services, answer=answer,
        wrong=wrong, nodes=mine, servers=[one.name for one in there if one.kind == "server"],
        services=get_args(Service), kinds=get_args(Kind), priorities=get_args(Priority),
        policies=POLICIES,
    )  # fmt: skip


def _plan(said: dict[str, str], services: list[str]) -> tuple[dict[str, Any], bytes | None]:
    """Return the plan of a form, without its input, and the input.

    Raises :class:`TestbedError` for what cannot be read; the interface checks all else.
    """
    is_study = said["work"] == "study"
    work = {"kind": "study", "file": "study.toml"} if is_study else _command(said["command"])
    usual = "tcp" if is_study else "command"
    plan: dict[str, Any] = {
        "title": said["title"].strip(), "node": said["node"], "kind": said["kind"] or usual,
        "priority": said["priority"], "work": work, "when": _when(said),
        "tolerance_s": _number(said["tolerance"], "how late it may begin"),
    }  # fmt: skip
    if said["server"]:
        plan |= {"server": said["server"], "services": services}
    return plan, _packed(said["study"]) if is_study else None


def _command(text: str) -> dict[str, Any]:
    try:
        argv = shlex.split(text)
    except ValueError:
        raise TestbedError("the command has a quotation mark without its other one") from None
    if not argv:
        raise TestbedError("give a command, such as: ping -c 10 192.0.2.1")
    return {"kind": "command", "argv": argv}


def _when(said: dict[str, str]) -> dict[str, Any]:
    kind = said["when"]
    found: dict[str, Any] = {"kind": kind, "seconds": _number(said["seconds"], "how long it runs")}
    if kind in ("once", "every"):
        found["start"] = _second(said["start"])
    if kind == "every":
        found["period"] = _number(said["period"], "how often")
    if kind == "cron":
        found["expression"] = said["expression"].strip()
    if kind == "trigger":
        found["policy"] = said["policy"]
    return found


def _packed(study: str) -> bytes:
    if not study.strip():
        raise TestbedError("paste a study file, or choose one")
    if len(study) > MOST_STUDY:
        raise TestbedError(f"a study file has at most {MOST_STUDY:,} characters here")
    try:
        tomllib.loads(study.replace("\r\n", "\n"))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise TestbedError(f"the study is no TOML ({str(error)[:200]})") from None
    with tempfile.TemporaryDirectory() as place:
        Path(place, "study.toml").write_text(study.replace("\r\n", "\n"), encoding="utf-8")
        return pack(Path(place))


def _number(text: str, what: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise TestbedError(f"{what}: give whole seconds") from None


def _second(text: str) -> int:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise TestbedError(
            "when it begins: give a time such as 2027-01-15T08:00:00, in UTC"
        ) from None
    return int((found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp())


def _written(unix_s: int) -> str:
    return clock(unix_s).strftime("%Y-%m-%dT%H:%M:%S")
