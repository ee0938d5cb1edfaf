"""``skyweave measure``: the far end of a testbed's measurements, and the node's side of them.

Errors are :class:`SkyweaveError` and pass through to the main command, which prints their sentence
and exits with code 2.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Annotated

import typer

from skyweave.cli.stopping import stopped
from skyweave.console import Console
from skyweave.errors import ConfigError
from skyweave.printing import complain, put

DEFAULT = Path("/var/lib/skyweave-server")
measure_app = typer.Typer(
    help="The far end of a testbed's measurements, and measuring against it.",
    no_args_is_help=True,
)
HomeOption = Annotated[
    Path, typer.Option("--home", metavar="DIR", help="The folder of the server: key and book.")
]


@measure_app.command()
def join(
    invitation: Annotated[
        str, typer.Argument(metavar="INVITATION", help="What 'skyweave testbed invite' printed.")
    ],
    address: Annotated[
        str, typer.Option(metavar="ADDRESS", help="The IP address that nodes reach this at.")
    ],
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="Of this server; that of the machine else.")
    ] = None,
    home: HomeOption = DEFAULT,
) -> None:
    """Join a testbed as a measurement server."""
    from skyweave.testbed.node.home import Home, host_name
    from skyweave.testbed.node.home import join as enrol
    from skyweave.testbed.wire import Invitation

    who = enrol(
        Home(home), Invitation.parse(invitation), name or host_name(), "server", None, address
    )
    Console(soft_wrap=True).print(f"This is server '{who.name}' of {who.url}.")


@measure_app.command()
def serve(
    home: HomeOption = DEFAULT,
    first_port: Annotated[
        int, typer.Option(metavar="PORT", min=1024, max=65000, help="Ports from here to 255 more.")
    ] = 5200,
) -> None:
    """Serve runs: iperf3, QUIC, HTTP, probes, studies; for one run's token and address alone."""
    from skyweave.testbed.measure.start import serving

    if os.geteuid() != 0:
        raise ConfigError("a server needs root, for rules by address and sandboxes; use sudo")
    say = Console(stderr=True, soft_wrap=True)
    with (
        serving(home, first_port, lambda one: complain(f"skyweave: {one}")) as server,
        stopped(server.stop.set),
    ):
        say.print(f"Server '{server.talk.name}' waits for runs. Ctrl-C ends it.")
        server.run()


@measure_app.command()
def field(
    where: Annotated[
        str,
        typer.Option("--listen", metavar="ADDRESS:PORT", help="TCP for words, UDP for probes."),
    ] = "0.0.0.0:5200",
    ports: Annotated[
        int, typer.Option(min=1, max=6, help="Further ports after it, TCP and UDP, for data.")
    ] = 2,
    films: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Of films that 'skyweave video' made, for nginx."),
    ] = None,
) -> None:
    """Be the far end of studies over real networks, for who knows the token.

    The token is that in SKYWEAVE_TOKEN, or a new one, which is printed.
    """
    import secrets

    from skyweave.field.serve import FieldServer
    from skyweave.telemetry.address import host_port

    host, port = host_port(where, "--listen")
    token = os.environ.get("SKYWEAVE_TOKEN", "")
    given = bool(token)
    if not given:
        token = secrets.token_urlsafe(32)
    server = FieldServer(host, range(port, port + 1 + ports), token, films)
    say = Console(stderr=True, soft_wrap=True)
    with stopped() as stop:
        say.print(
            f"Answering at {host}:{port}, data at {port + 1} to {port + ports}; Ctrl-C ends it."
        )
        if not given:
            say.print(f"SKYWEAVE_TOKEN={token} skyweave run STUDY --server ADDRESS:{port}")
        stop.wait()
    server.close()


@measure_app.command()
def knock() -> None:
    """In a run: open the server's gate from each uplink, and print where its services are."""
    from skyweave.testbed.measure.client import FarSide

    put(json.dumps(FarSide.of_environment().open().model_dump()))


@measure_app.command()
def unit(home: HomeOption = DEFAULT) -> None:
    """Print a unit of systemd, for /etc/systemd/system/skyweave-server.service."""
    from skyweave.testbed.node.unit import unit as text_of

    put(text_of("server", home.absolute()), end="")
