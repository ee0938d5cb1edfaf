"""``skyweave testbed up``, ``backup`` and ``restore``: the orchestrator's own side."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from skyweave.console import Console
from skyweave.errors import ConfigError
from skyweave.printing import put
from skyweave.telemetry.address import host_port
from skyweave.testbed.access import first_admin_code
from skyweave.testbed.access.oidc import Client, read_client
from skyweave.testbed.api import Office
from skyweave.testbed.api.serve import Certificate, own_certificate, serve
from skyweave.testbed.api.unit import Oidc
from skyweave.testbed.api.unit import unit as text_of
from skyweave.testbed.store import Database, Objects, back_up
from skyweave.testbed.store import restore as put_back
from skyweave.testbed.wire import Invitation

Data = Annotated[
    Path, typer.Option(metavar="DIR", help="Its folder: keys, database, artefacts, uploads.")
]
DatabaseUrl = Annotated[
    str | None, typer.Option("--database", metavar="URL", help="postgresql://..., else SQLite.")
]
ArtefactsUrl = Annotated[
    str | None, typer.Option("--artefacts", metavar="URL", help="s3://..., else a folder.")
]
OidcIssuer = Annotated[
    str | None, typer.Option(metavar="URL", help="An OpenID provider to sign in by.")
]
OidcClient = Annotated[
    str | None, typer.Option(metavar="NAME", help="What it knows the orchestrator by.")
]
OidcSecret = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Holds the secret that goes with it.")
]
SECRETS = ("orchestrator.pem", "certificate.pem", "certificate.key")


def up(
    data: Data,
    listen: Annotated[
        str, typer.Option(metavar="ADDRESS:PORT", help="0.0.0.0:8440 for all the world.")
    ] = "127.0.0.1:8440",
    url: Annotated[
        str | None, typer.Option(metavar="URL", help="How nodes and people reach it.")
    ] = None,
    database: DatabaseUrl = None,
    artefacts: ArtefactsUrl = None,
    certificate: Annotated[
        Path | None, typer.Option(metavar="FILE", help="One that the world trusts (PEM).")
    ] = None,
    key: Annotated[Path | None, typer.Option(metavar="FILE", help="Its key.")] = None,
    oidc_issuer: OidcIssuer = None,
    oidc_client: OidcClient = None,
    oidc_secret: OidcSecret = None,
    behind_proxy: Annotated[
        bool,
        typer.Option(
            "--behind-proxy", help="Plain HTTP, for a proxy that does TLS and adds X-Forwarded-For."
        ),
    ] = False,
) -> None:
    """Be the orchestrator, until Ctrl-C."""
    host, port = host_port(listen, "--listen")
    if (certificate is None) != (key is None):
        raise ConfigError("give --certificate and --key together, or neither")
    if behind_proxy and (certificate is not None or url is None):
        raise ConfigError("--behind-proxy needs --url, the proxy's address, and no --certificate")
    if url is None and host in ("0.0.0.0", "::"):
        raise ConfigError("--url: say how nodes and people reach it, such as https://HOST:8440")
    shown = f"[{host}]" if ":" in host else host
    url = (url or f"https://{shown}:{port}").rstrip("/")
    oidc = _provider(oidc_issuer, oidc_client, oidc_secret, url)
    data.mkdir(parents=True, exist_ok=True, mode=0o700)
    used, pin = None, None
    if certificate is not None and key is not None:
        used = Certificate(certificate, key)
    elif not behind_proxy:
        used = own_certificate(data, host)
        pin = used.pin
    office = Office(data, database, artefacts, url, pin, behind_proxy=behind_proxy, oidc=oidc)
    console = Console(stderr=True, soft_wrap=True)
    with office.database.write() as connection:
        code = first_admin_code(connection, office.now())
    if code is not None:
        invitation = Invitation(url=url, code=code, pin=pin)
        console.print("Nobody is an admin yet. Within 15 minutes, in another terminal:")
        console.print(f"skyweave testbed login '{invitation}' --name YOU")
    console.print(f"The testbed answers at {url}; Ctrl-C ends it.")
    try:
        serve(office, host, port, used)
    finally:
        office.close()


def unit(
    url: Annotated[str, typer.Option(metavar="URL", help="How nodes and people reach it.")],
    listen: Annotated[str, typer.Option(metavar="ADDRESS:PORT")] = "0.0.0.0:8440",
    name: Annotated[
        str, typer.Option(help="Its folder in /var/lib, and the unit's user.")
    ] = "skyweave-testbed",
    oidc_issuer: OidcIssuer = None,
    oidc_client: OidcClient = None,
    oidc_secret: OidcSecret = None,
) -> None:
    """Print a unit of systemd, for /etc/systemd/system/skyweave-testbed.service."""
    host_port(listen, "--listen")
    oidc = None
    if (known := _provider(oidc_issuer, oidc_client, oidc_secret, url)) is not None:
        secret = None if oidc_secret is None else oidc_secret.absolute()
        oidc = Oidc(known.issuer, known.name, secret)
    put(text_of(name, listen, url, oidc=oidc), end="")


def _provider(
    issuer: str | None, client: str | None, secret: Path | None, url: str
) -> Client | None:
    """Return the OpenID provider of the options, if they name one."""
    if issuer is not None:
        return read_client(issuer, client, secret, url)
    if client is not None or secret is not None:
        raise ConfigError("--oidc-client and --oidc-secret go with --oidc-issuer; give that, too")
    return None


def backup(
    data: Data,
    out: Annotated[Path, typer.Option(metavar="FILE", help="A new tar file. It holds keys.")],
    database: DatabaseUrl = None,
    artefacts: ArtefactsUrl = None,
) -> None:
    """Write all rows, files and keys into one new file."""
    if not (data / SECRETS[0]).exists():
        raise ConfigError(f"{data}: is no folder of 'skyweave testbed up'")
    there = Database(database or f"sqlite:///{data}/testbed.db")
    secrets = [data / name for name in SECRETS if (data / name).exists()]
    rows = back_up(there, Objects(artefacts or data / "artefacts"), secrets, out)
    there.close()
    Console(soft_wrap=True).print(f"{out}: {rows:,} rows; keep it as you keep a key")


def restore(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Of 'skyweave testbed backup'.")],
    data: Data,
    database: DatabaseUrl = None,
    artefacts: ArtefactsUrl = None,
) -> None:
    """Put a backup into a new folder and an empty database."""
    if data.exists() and any(data.iterdir()):
        raise ConfigError(f"{data}: is not empty; name a new folder")
    data.mkdir(parents=True, exist_ok=True, mode=0o700)
    made = Database(database or f"sqlite:///{data}/testbed.db")
    rows = put_back(file, made, Objects(artefacts or data / "artefacts"), data)
    made.close()
    Console(soft_wrap=True).print(f"{data}: {rows:,} rows; start it with 'skyweave testbed up'")
