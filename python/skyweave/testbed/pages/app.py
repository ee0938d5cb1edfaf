"""All pages as an application of their own, below the interface's."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from importlib.resources import files

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, RedirectResponse
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from skyweave.printing import complain
from skyweave.testbed.access.once import Once
from skyweave.testbed.api.allowance import retry_after
from skyweave.testbed.api.office import Office
from skyweave.testbed.errors import MissingError, TestbedError
from skyweave.testbed.pages import (
    audit,
    calendar,
    changes,
    nodes,
    oidc,
    passkeys,
    people,
    profiles,
    runs,
    signing,
    submit,
    tokens,
)
from skyweave.testbed.pages import triggers as triggers_page
from skyweave.testbed.pages.guards import SignedOutError
from skyweave.testbed.pages.render import PLACE, page
from skyweave.testbed.pages.session import Sessions

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
"""Of every answer that does not say otherwise by itself."""
KINDS = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
PARTS = (
    signing, passkeys, oidc, nodes, calendar, runs, submit, triggers_page, profiles, tokens, people,
    audit, changes,
)  # fmt: skip
OPEN = frozenset({
    "/", "/sign-in", "/sign-in/passkey", "/sign-in/passkey/options", "/sign-in/oidc",
    "/sign-in/oidc/back", "/first", "/static/{name}",
})  # fmt: skip
"""What is shown without a session: it says nothing of the testbed."""
Statuses = Sequence[tuple[type[TestbedError], int, str]]


def attach(app: FastAPI, office: Office, statuses: Statuses) -> None:
    """Add the pages to the interface; ``statuses`` says which error has which status code."""
    pages = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    pages.state.office, pages.state.sessions = office, Sessions()
    pages.state.challenges, pages.state.away = passkeys.Challenges.new(), Once(oidc.AWAY_S)
    pages.state.watch, pages.state.statuses = changes.Watch(office.database), statuses
    static = _static()
    for part in PARTS:
        pages.include_router(part.router)

    @pages.get("/")
    def first_page() -> RedirectResponse:
        return RedirectResponse(f"{PLACE}/nodes", 303)

    @pages.get("/static/{name}")
    def static_file(name: str) -> Response:
        if name not in static:
            raise MissingError("there is no such file")
        kept = {"Cache-Control": "max-age=3600"}
        return Response(static[name], media_type=KINDS[name.rpartition(".")[2]], headers=kept)

    pages.add_exception_handler(SignedOutError, _signed_out)
    pages.add_exception_handler(TestbedError, _ours)
    pages.add_exception_handler(RequestValidationError, _invalid)
    pages.add_exception_handler(HTTPException, _http)
    pages.add_exception_handler(Exception, _unforeseen)
    pages.add_middleware(_Headers)
    app.mount(PLACE, pages)
    app.add_route("/", lambda _: RedirectResponse(f"{PLACE}/", 303), include_in_schema=False)


def _static() -> dict[str, bytes]:
    """Return scripts and styles by name, those of others among them, as they were published."""
    folder = files("skyweave.testbed.pages") / "static"
    return {
        file.name: file.read_bytes()
        for place in (folder, folder / "vendor")
        for file in place.iterdir()
        if file.name.rpartition(".")[2] in KINDS
    }


def digests() -> dict[str, str]:
    """Return the SHA-256 of each script and style that is served."""
    return {name: hashlib.sha256(content).hexdigest() for name, content in _static().items()}


class _Headers:
    """Adds to each answer the headers that it lacks."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        await self._app(scope, receive, with_headers)


def _signed_out(request: Request, error: Exception) -> Response:
    """Lead to the page for signing in, and back from there to where somebody wanted to go."""
    there = f"{PLACE}/sign-in"
    if request.headers.get("hx-request"):
        return Response(status_code=401, headers={"HX-Redirect": there})
    if request.method == "GET":
        return RedirectResponse(f"{there}?to={signing.way_back(request.url.path)}", 303)
    return _page(request, 401, str(error))


def _ours(request: Request, error: Exception) -> HTMLResponse:
    statuses: Statuses = request.app.state.statuses
    status = next(status for kind, status, _ in statuses if isinstance(error, kind))
    answer = _page(request, status, str(error))
    answer.headers.update(retry_after(error))
    return answer


def _invalid(request: Request, error: Exception) -> HTMLResponse:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"])[:100]
    return _page(request, 400, f"{where}: {str(first['msg'])[:300]}")


def _http(request: Request, error: Exception) -> HTMLResponse:
    assert isinstance(error, HTTPException)
    said = {404: "there is no such page", 405: "that page is not asked in this way"}
    return _page(request, error.status_code, said.get(error.status_code, str(error.detail)[:300]))


def _unforeseen(request: Request, error: Exception) -> HTMLResponse:
    """Say nothing of the inside to who asked, and all of it to who runs the orchestrator."""
    short = " ".join(str(error).split())[:300]
    complain(f"skyweave: {request.method} {request.url.path}: {type(error).__name__}: {short}")
    return _page(request, 500, "the orchestrator made a mistake, and noted it; try again")


def _page(request: Request, status: int, sentence: str) -> HTMLResponse:
    return page(request, "problem", None, status, sentence=sentence, status_code=status)
