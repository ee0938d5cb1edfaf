"""The interface as one application: paths, errors in a sentence, and nothing else."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from skyweave.printing import complain
from skyweave.testbed.api import agent, experiments, identities, nodes, passkeys, people, runs
from skyweave.testbed.api.allowance import TooManyError, retry_after
from skyweave.testbed.api.guards import SCHEMAS, UnknownError
from skyweave.testbed.api.limits import BodyLimit
from skyweave.testbed.api.office import Office, Ticker
from skyweave.testbed.errors import ConflictError, MissingError, RefusedError, TestbedError
from skyweave.testbed.pages import attach
from skyweave.testbed.runs.files import WrongPartError
from skyweave.testbed.store import UnavailableError
from skyweave.testbed.wire import WrongClockError

STATUS: tuple[tuple[type[TestbedError], int, str], ...] = (
    (WrongClockError, 401, "clock"),
    (UnknownError, 401, "unauthorised"),
    (TooManyError, 429, "too-many"),
    (RefusedError, 403, "forbidden"),
    (ConflictError, 409, "conflict"),
    (MissingError, 404, "missing"),
    (UnavailableError, 503, "unavailable"),
    (TestbedError, 400, "invalid"),
)
CODES = {400: "invalid", 401: "unauthorised", 403: "forbidden", 404: "missing", 405: "invalid"}
OPEN = frozenset({"/health", "/first", "/agent/join", "/openapi.json"})
"""What is asked without a token or a key: each checks a code, or tells nothing."""


def create_app(office: Office, *, ticks: bool = True) -> FastAPI:
    """Return the application of an orchestrator; ``ticks`` lets it do what is due."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        ticker = Ticker(office) if ticks else None
        if ticker:
            ticker.start()
        yield
        if ticker:
            ticker.end()

    app = FastAPI(
        title="Skyweave testbed", version="1", docs_url=None, redoc_url=None, lifespan=lifespan
    )
    app.state.office = office
    for part in (agent, people, passkeys, identities, nodes, experiments, runs):
        app.include_router(part.router)

    @app.get("/health", tags=["health"])
    def health(request: Request) -> dict[str, float]:
        """Say that the orchestrator and its database answer."""
        with request.app.state.office.database.read() as connection:
            connection.exec_driver_sql("SELECT 1")
        return {"now_unix_s": office.now()}

    app.add_exception_handler(TestbedError, _ours)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(Exception, _unforeseen)
    attach(app, office, STATUS)
    app.add_middleware(BodyLimit)
    app.openapi = lambda: _document(app)  # type: ignore[method-assign]
    return app


def _ours(request: Request, error: Exception) -> JSONResponse:
    status, code = next((status, code) for kind, status, code in STATUS if isinstance(error, kind))
    more: dict[str, Any] = {}
    if isinstance(error, WrongClockError):
        more["now_unix_s"] = request.app.state.office.now()
    if isinstance(error, WrongPartError):
        more["held"] = error.held
    return _problem(status, code, str(error), more, retry_after(error))


def _invalid(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"])[:100]
    return _problem(400, "invalid", f"{where}: {str(first['msg'])[:300]}")


def _http(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    said = {404: "there is no such path", 405: "that path is not asked in this way"}
    return _problem(
        error.status_code, CODES.get(error.status_code, "invalid"),
        said.get(error.status_code, str(error.detail)[:300]),
    )  # fmt: skip


def _unforeseen(request: Request, error: Exception) -> JSONResponse:
    """Say nothing of the inside to who asked, and all of it to who runs the orchestrator."""
    short = " ".join(str(error).split())[:300]
    complain(f"skyweave: {request.method} {request.url.path}: {type(error).__name__}: {short}")
    return _problem(500, "internal", "the orchestrator made a mistake, and noted it; try again")


def _problem(
    status: int, code: str, sentence: str, more: dict[str, Any] | None = None,
    headers: dict[str, str] | None = None,
) -> JSONResponse:  # fmt: skip
    return JSONResponse(
        {"error": sentence[:500], "code": code, **(more or {})},
        status_code=status,
        headers={"Cache-Control": "no-store", **(headers or {})},
    )


def _document(app: FastAPI) -> dict[str, Any]:
    """Return the OpenAPI document, with the bodies that this package reads by itself."""
    if app.openapi_schema is None:
        made = get_openapi(title=app.title, version=app.version, routes=app.routes)
        schemas = made.setdefault("components", {}).setdefault("schemas", {})
        for name, schema in SCHEMAS.items():
            schemas.setdefault(name, schema)
        app.openapi_schema = made
    return app.openapi_schema
