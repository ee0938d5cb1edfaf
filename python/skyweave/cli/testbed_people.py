"""``skyweave testbed tokens``, ``passkeys`` and ``people``: who may in, and with what."""

from __future__ import annotations

from typing import Annotated

import typer

from skyweave.cli.testbed import Json, show
from skyweave.console import Console
from skyweave.printing import put
from skyweave.testbed.client import Testbed
from skyweave.testbed.wire.pinning import pin_of

tokens_app = typer.Typer(help="Own tokens: list, make, revoke.", no_args_is_help=True)
passkeys_app = typer.Typer(help="Own passkeys: list, revoke.", no_args_is_help=True)
people_app = typer.Typer(help="Accounts: list, add, change.", no_args_is_help=True)


@tokens_app.command("list")
def list_tokens(as_json: Json = False) -> None:
    """List own tokens, without themselves."""
    with Testbed.open() as testbed:
        rows = testbed.ask("GET", "/me/tokens")
    columns = ("id", "label", "scopes", "created_unix_s", "expires_unix_s", "revoked_unix_s")
    show(rows, as_json, *columns)


@tokens_app.command("make")
def make_token(
    label: Annotated[str, typer.Argument(help="What it is for.")],
    scope: Annotated[
        list[str] | None, typer.Option(help="read, submit or manage; repeat it. Default: read.")
    ] = None,
    days: Annotated[float, typer.Option(min=0.01, max=366, help="How long it is good.")] = 30.0,
) -> None:
    """Make a token; it is shown once."""
    wish = {"label": label, "scopes": scope or ["read"], "days": days}
    with Testbed.open() as testbed:
        put(testbed.ask("POST", "/me/tokens", wish)["token"])


@tokens_app.command("revoke")
def revoke_token(token: Annotated[str, typer.Argument(metavar="ID", help="Its id.")]) -> None:
    """Revoke a token, at once."""
    with Testbed.open() as testbed:
        testbed.ask("DELETE", f"/me/tokens/{token}")


@passkeys_app.command("list")
def list_passkeys(as_json: Json = False) -> None:
    """List own passkeys; a browser makes them, on the page of tokens."""
    with Testbed.open() as testbed:
        rows = testbed.ask("GET", "/me/passkeys")
    show(rows, as_json, "id", "label", "created_unix_s", "used_unix_s", "revoked_unix_s")


@passkeys_app.command("revoke")
def revoke_passkey(passkey: Annotated[str, typer.Argument(metavar="ID", help="Its id.")]) -> None:
    """Revoke a passkey, and end the sessions that it began."""
    with Testbed.open() as testbed:
        testbed.ask("DELETE", f"/me/passkeys/{passkey}")


@people_app.command("list")
def list_people(as_json: Json = False) -> None:
    """List accounts."""
    with Testbed.open() as testbed:
        rows = testbed.ask("GET", "/people")
    show(rows, as_json, "name", "role", "created_unix_s", "disabled")


@people_app.command("add")
def add_person(
    name: Annotated[str, typer.Argument(help="Small letters, digits, hyphens.")],
    role: Annotated[str, typer.Argument(help="owner, researcher, operator or admin.")],
) -> None:
    """Add somebody; hand the line over, it is shown once."""
    with Testbed.open() as testbed:
        token = testbed.ask("POST", "/people", {"name": name, "role": role})["token"]
        certificate = testbed.login.certificate
    pin = f".{pin_of(certificate)}" if certificate else ""
    put(f"skyweave testbed login '{testbed.login.url}#{token}{pin}'")


@people_app.command("change")
def change_person(
    name: Annotated[str, typer.Argument()],
    role: Annotated[str | None, typer.Option(help="A new role.")] = None,
    disable: Annotated[
        bool | None, typer.Option("--disable/--enable", help="Shut out, with all tokens.")
    ] = None,
) -> None:
    """Change a role, or shut somebody out."""
    with Testbed.open() as testbed:
        testbed.ask("PATCH", f"/people/{name}", {"role": role, "disabled": disable})
    Console(soft_wrap=True).print(f"{name}: changed")


@people_app.command("links")
def links(name: Annotated[str, typer.Argument()], as_json: Json = False) -> None:
    """List who of an OpenID provider signs in as somebody."""
    with Testbed.open() as testbed:
        rows = testbed.ask("GET", f"/people/{name}/identities")
    show(rows, as_json, "id", "issuer", "subject", "created_unix_s")


@people_app.command("link")
def link(
    name: Annotated[str, typer.Argument()],
    subject: Annotated[str, typer.Argument(help="Who it is there; 'audit' has refused ones.")],
    issuer: Annotated[
        str | None, typer.Option(metavar="URL", help="Else the orchestrator's own.")
    ] = None,
) -> None:
    """Let somebody of an OpenID provider sign in as somebody here."""
    with Testbed.open() as testbed:
        wish = {"subject": subject, "issuer": issuer}
        put(testbed.ask("POST", f"/people/{name}/identities", wish)["id"])


@people_app.command("unlink")
def unlink(
    name: Annotated[str, typer.Argument()],
    link: Annotated[str, typer.Argument(metavar="ID", help="Of 'people links'.")],
) -> None:
    """Remove such a link, and end the sessions that it began."""
    with Testbed.open() as testbed:
        testbed.ask("DELETE", f"/people/{name}/identities/{link}")
