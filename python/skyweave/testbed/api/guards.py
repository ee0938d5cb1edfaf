"""Who asks, and whether they may: every path has one of these, or is listed as open."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from fastapi import Depends, Request
from pydantic import BaseModel, ValidationError
from sqlalchemy import select
from starlette.concurrency import run_in_threadpool

from skyweave.testbed import wire
from skyweave.testbed.access import Person, person_of
from skyweave.testbed.access.rights import Reach
from skyweave.testbed.access.secrets import hashed
from skyweave.testbed.api.allowance import TooManyError
from skyweave.testbed.api.attempts import address_of
from skyweave.testbed.api.office import Office
from skyweave.testbed.errors import RefusedError, TestbedError
from skyweave.testbed.store.tables import nodes

AnyModel = TypeVar("AnyModel", bound=BaseModel)


class UnknownError(RefusedError):
    """It is not known who asks."""


class Asker(NamedTuple):
    """Who asks, and how far the right goes that the path needs."""

    person: Person
    reach: Reach

    @property
    def name(self) -> str:
        """The person's name."""
        return self.person.name

    def reaches(self, owner: str) -> bool:
        """Tell whether the right goes as far as what belongs to ``owner``."""
        return self.reach == "all" or owner == self.name


def office_of(request: Request) -> Office:
    """Return the orchestrator that serves a request."""
    office: Office = request.app.state.office
    return office


def asks(right: str) -> Any:
    """Return what lets those through who have a right, by the token of their request."""

    def check(request: Request) -> Asker:
        office = office_of(request)
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not token:
            raise UnknownError("give a token: 'Authorization: Bearer skyweave_...'")
        token, now = token.strip(), office.now()
        try:
            with (
                office.attempts.of(address_of(request), now, hashed(token)),
                office.database.read() as connection,
            ):
                person = person_of(connection, token, now)
        except TooManyError:
            raise
        except RefusedError as error:
            raise UnknownError(str(error)) from None
        reach = person.reach(right)
        if reach is None:
            raise RefusedError(
                f"'{right}' is not allowed to {person.name} ({person.role}) with that token"
            )
        return Asker(person, reach)

    check.right = right  # type: ignore[attr-defined]
    return Depends(check)


async def body_of(request: Request) -> bytes:
    """Return the body; its length was checked."""
    return await request.body()


Body = Depends(body_of)


def parsed(model: type[AnyModel], body: bytes) -> AnyModel:
    """Return a body as a model, or say in a sentence what is wrong with it."""
    try:
        return model.model_validate_json(body)
    except ValidationError as error:
        raise TestbedError(sentence(error)) from None


def sentence(error: ValidationError) -> str:
    """Return the first finding as a sentence, without what was sent."""
    first = error.errors(include_url=False, include_input=False)[0]
    where = ".".join(str(part) for part in first["loc"])[:100]
    said = first["msg"].removeprefix("Value error, ")[:300]
    return f"{where}: {said}" if where else said


SCHEMAS: dict[str, Any] = {}
"""What the OpenAPI document needs to know of bodies, by name."""


def accepts(model: type[BaseModel]) -> dict[str, Any]:
    """Return what the OpenAPI document says of a body that :func:`parsed` reads."""
    schema = model.model_json_schema(ref_template="#/components/schemas/{model}")
    SCHEMAS.update(schema.pop("$defs", {}))
    SCHEMAS[model.__name__] = schema
    named = {"$ref": f"#/components/schemas/{model.__name__}"}
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": named}}}}


async def _sender(request: Request) -> str:
    body = await request.body()
    return await run_in_threadpool(_check_signature, request, body)


def _check_signature(request: Request, body: bytes) -> str:
    office = office_of(request)
    try:
        claim = wire.claim_of(request.headers)
        check(office, request, body, claim, lambda name: _key(office, name))
    except wire.WrongClockError:
        raise
    except RefusedError as error:
        raise UnknownError(str(error)) from None
    return claim.key_id


def check(
    office: Office, request: Request, body: bytes, claim: wire.Claim,
    key_of: Callable[[str], str | None],
) -> None:  # fmt: skip
    """Raise :class:`RefusedError` unless a request is signed by the key of its claim."""
    raw = request.scope.get("raw_path") or request.url.path.encode()
    query = request.scope["query_string"]
    signed = wire.Request(request.method, raw.decode("latin-1"), query.decode("latin-1"), body)
    with office.nonce_lock:
        office.nonces.check(claim, signed, request.headers, key_of, office.now())


def _key(office: Office, name: str) -> str | None:
    with office.database.read() as connection:
        return connection.execute(
            select(nodes.c.key).where(nodes.c.name == name, nodes.c.revoked.is_(None))
        ).scalar_one_or_none()


Sender = Depends(_sender)
"""The name of the node, or server, that signed the request."""
