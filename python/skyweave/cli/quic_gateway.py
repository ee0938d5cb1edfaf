"""``skyweave quic gateway`` and ``skyweave quic connect``: TCP of any program."""

from __future__ import annotations

from typing import Annotated

import typer

from skyweave.cli.quic_options import (
    AckPathOption,
    Authorities,
    AwarenessSocket,
    Certificate,
    Congestion,
    Datagram,
    Key,
    Known,
    MaxDatagram,
    MaxPaths,
    Paths,
    Pin,
    Qlog,
    Quiet,
    ReinjectionOption,
    RetryOption,
    Scheduler,
    Timeout,
    both_or_none,
    distinct,
    verification,
)
from skyweave.cli.quic_progress import words
from skyweave.cli.stopping import terminable
from skyweave.console import Console
from skyweave.quic.gateway import (
    Connector,
    GatewayServer,
    Passed,
    Passing,
    Reach,
    parse_door,
    parse_origin,
)
from skyweave.quic.hints import hearing, parse_names
from skyweave.quic.listen import Limits, Listen, allow_many_files, host_and_port
from skyweave.quic.options import options
from skyweave.quic.url import PORT


def gateway(
    origin: Annotated[
        list[str],
        typer.Option(
            metavar="[NAME=]HOST:PORT",
            help="Server that clients reach by TCP, and what they call it. May be given several "
            "times; clients that name none reach the first one. Nothing else is ever connected.",
        ),
    ],
    listen: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS:PORT",
            help="Where to listen; for this machine alone if not given. "
            f"[::]:{PORT} is on all interfaces: then everyone who reaches this machine can reach "
            "the origins, for there are no passwords.",
        ),
    ] = f"127.0.0.1:{PORT}",
    cert: Certificate = None,
    key: Key = None,
    scheduler: Scheduler = "weave",
    congestion: Congestion = "cubic",
    ack_path: AckPathOption = "same",
    reinjection: ReinjectionOption = "all",
    datagram_bytes: Datagram = 1200,
    max_datagram_bytes: MaxDatagram = 1452,
    max_paths: MaxPaths = 8,
    max_clients: Annotated[
        int, typer.Option(min=1, help="Clients at a time, each with 256 TCP connections at most.")
    ] = 64,
    max_per_address: Annotated[
        int,
        typer.Option(min=1, help="Of one address (IPv6: /64); four times as many of one network."),
    ] = 16,
    retry: RetryOption = "busy",
    qlog: Qlog = None,
    awareness: AwarenessSocket = None,
    known: Known = None,
) -> None:
    """Connect clients ('quic connect') with TCP servers, the origins, until Ctrl-C."""
    both_or_none(cert, key)
    chosen = options(
        scheduler, congestion, ack_path, reinjection, datagram_bytes=datagram_bytes,
        most_datagram_bytes=max_datagram_bytes,
        max_paths=max_paths, qlog=None if qlog is None else str(qlog),
    )  # fmt: skip
    origins = [parse_origin(text) for text in origin]
    names = parse_names(known)
    allow_many_files()
    limits = Limits.of(max_clients, max_per_address)
    server = GatewayServer(origins, Listen(listen, cert, key, retry, chosen, limits))
    console = Console(stderr=True, soft_wrap=True)
    named = ", ".join(one.name for one in origins)
    console.print(f"Gateway to {named} on {server.address} (UDP). Ctrl-C ends it.")
    console.print(f"Certificate, SHA-256: {server.fingerprint}")
    console.print(
        f"Connect with: skyweave quic connect HOST:{server.port} --listen 127.0.0.1:8080"
        + ("" if cert else f" --pin {server.fingerprint}")
    )

    def say(clients: int, news: tuple[Passed, ...]) -> None:
        del clients
        for one in news:
            console.print(one.words())

    with terminable(), hearing(awareness, names) as hints:
        server.run(say, hints)


def connect(
    gateway: Annotated[str, typer.Argument(metavar="HOST:PORT", help="Where the gateway is.")],
    listen: Annotated[
        list[str],
        typer.Option(
            metavar="[NAME=]ADDRESS:PORT",
            help="Where programs connect to on this machine, and the origin that they reach; the "
            "gateway's first one if not named. May be given several times. Port 0: any.",
        ),
    ],
    path: Paths = None,
    pin: Pin = None,
    ca: Authorities = None,
    timeout: Timeout = 10.0,
    scheduler: Scheduler = "weave",
    congestion: Congestion = "cubic",
    ack_path: AckPathOption = "same",
    reinjection: ReinjectionOption = "all",
    datagram_bytes: Datagram = 1200,
    max_datagram_bytes: MaxDatagram = 1452,
    qlog: Qlog = None,
    quiet: Quiet = False,
    awareness: AwarenessSocket = None,
    known: Known = None,
) -> None:
    """Pass TCP connections of any program to a gateway's origins, over several interfaces at once.

    Until Ctrl-C. Interfaces may come and go; a connection to the gateway that was lost is made anew
    when the next program connects.
    """
    chosen = options(
        scheduler, congestion, ack_path, reinjection, datagram_bytes=datagram_bytes,
        most_datagram_bytes=max_datagram_bytes,
        qlog=None if qlog is None else str(qlog),
    )  # fmt: skip
    names = parse_names(known)
    host, port = host_and_port(gateway, f"gateway.example:{PORT}")
    reach = Reach(host, port, verification(pin, ca), distinct(path), timeout, chosen)
    doors = [parse_door(text) for text in listen]
    allow_many_files()
    connector = Connector(reach, doors)
    console = Console(stderr=True, quiet=quiet, soft_wrap=True)
    for door, address in zip(doors, connector.addresses, strict=True):
        what = f"'{door.origin}'" if door.origin else "the first origin"
        console.print(f"{address} (TCP) is {what} of {gateway}. Ctrl-C ends it.")

    def say(state: Passing) -> None:
        for notice in state.notices:
            console.print(words(notice))
        for one in state.news:
            console.print(one.words())

    with terminable(), hearing(awareness, names) as hints:
        connector.run(say, hints)
