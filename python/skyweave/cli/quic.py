"""``skyweave quic``: serve a folder, fetch a file, over several interfaces at once.

Errors are :class:`SkyweaveError` and pass through to the main command, which prints their sentence
and exits with code 2. Progress and notes go to standard error.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from skyweave.cli.quic_progress import Show
from skyweave.console import Console
from skyweave.errors import ConfigError
from skyweave.model.config import AckPath, Reinjection
from skyweave.quic.fetch import Fetched, Verification, fetch
from skyweave.quic.options import Retry, options
from skyweave.quic.serve import FileServer, Limits, Serve, Served, allow_many_files
from skyweave.quic.url import PORT, parse_target
from skyweave.steady import steady

quic_app = typer.Typer(
    help="Multipath QUIC on real interfaces: serve files, fetch them.", no_args_is_help=True
)
Scheduler = Annotated[
    str, typer.Option(help="Packet scheduler of what this end sends: skyweave algorithms.")
]
Congestion = Annotated[
    str, typer.Option(help="Congestion control of what this end sends: skyweave algorithms.")
]
AckPathOption = Annotated[
    AckPath, typer.Option(help="Path that carries an acknowledgement.", show_choices=True)
]
ReinjectionOption = Annotated[
    Reinjection,
    typer.Option(help="What is retransmitted on another path though it is not known to be lost."),
]
Datagram = Annotated[
    int, typer.Option(metavar="BYTES", help="UDP payload of a full packet; 1200 fits every path.")
]
Qlog = Annotated[
    Path | None, typer.Option(metavar="DIR", help="Folder for a qlog file of each connection.")
]
MaxPaths = Annotated[int, typer.Option(min=1, help="Paths at a time; 1: no multipath.")]


@quic_app.command()
def serve(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder whose files are served.")],
    listen: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS:PORT",
            help="Where to listen; for this machine alone if not given. "
            f"[::]:{PORT} is on all interfaces: then everyone who reaches this machine can read "
            "every file in DIR, for there are no passwords.",
        ),
    ] = f"127.0.0.1:{PORT}",
    hidden: Annotated[
        bool, typer.Option("--hidden", help="Serve names that begin with a dot, too (.ssh, .git).")
    ] = False,
    cert: Annotated[
        Path | None,
        typer.Option(
            help="Certificate chain (PEM); one is made and signed by itself if not given."
        ),
    ] = None,
    key: Annotated[Path | None, typer.Option(help="Its private key (PEM).")] = None,
    scheduler: Scheduler = "minrtt",
    congestion: Congestion = "cubic",
    ack_path: AckPathOption = "same",
    reinjection: ReinjectionOption = "all",
    datagram_bytes: Datagram = 1200,
    max_paths: MaxPaths = 8,
    max_connections: Annotated[
        int, typer.Option(min=1, help="Connections at a time; further ones are refused.")
    ] = 4096,
    max_per_address: Annotated[
        int,
        typer.Option(min=1, help="Of one address (IPv6: /64); four times as many of one network."),
    ] = 64,
    retry: Annotated[
        Retry,
        typer.Option(
            help="When a client has to prove its address first, which costs it a round trip; "
            "busy: while many handshakes are under way."
        ),
    ] = "busy",
    qlog: Qlog = None,
) -> None:
    """Serve the files of a folder over HTTP/0.9 (hq-interop) until Ctrl-C."""
    if (cert is None) != (key is None):
        raise ConfigError("a certificate and its key belong together; give --cert and --key")
    chosen = options(
        scheduler, congestion, ack_path, reinjection, datagram_bytes=datagram_bytes,
        max_paths=max_paths, qlog=None if qlog is None else str(qlog),
    )  # fmt: skip
    limits = Limits.of(max_connections, max_per_address)
    allow_many_files()
    server = FileServer(Serve(folder, listen, cert, key, retry, chosen, limits, hidden))
    console = Console(stderr=True, soft_wrap=True)
    console.print(f"Serving {folder} on {server.address} (UDP). Ctrl-C ends it.")
    console.print(f"Certificate, SHA-256: {server.fingerprint}")
    console.print(
        f"Fetch with: skyweave quic get HOST:{server.port}/FILE"
        + ("" if cert else f" --pin {server.fingerprint}")
    )

    def say(connections: int, news: tuple[Served, ...]) -> None:
        del connections
        for one in news:
            console.print(one.words())

    server.run(say)


@quic_app.command()
def get(
    url: Annotated[str, typer.Argument(metavar="URL", help="HOST:PORT/PATH, or https://…")],
    path: Annotated[
        list[str] | None,
        typer.Option(
            metavar="INTERFACE",
            help="Interface (or own address) of a path, the preferred one first. May be given "
            "several times; the default route if not given.",
        ),
    ] = None,
    pin: Annotated[
        str | None, typer.Option(help="SHA-256 fingerprint of the server's certificate.")
    ] = None,
    ca: Annotated[
        Path | None,
        typer.Option(help="Certificate authorities (PEM) to trust, instead of this machine's."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="File to write; that of the URL, here, if not given.")
    ] = None,
    timeout: Annotated[
        float, typer.Option(min=0.1, metavar="S", help="How long the server may take to answer.")
    ] = 10.0,
    scheduler: Scheduler = "minrtt",
    congestion: Congestion = "cubic",
    ack_path: AckPathOption = "same",
    reinjection: ReinjectionOption = "all",
    datagram_bytes: Datagram = 1200,
    qlog: Qlog = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Say nothing unless it fails.")] = False,
) -> None:
    """Fetch a file over one or several interfaces at once; they may come and go meanwhile."""
    target = parse_target(url)
    paths = path or []
    twice = next((name for name in paths if paths.count(name) > 1), None)
    if twice is not None:
        raise ConfigError(f"'{twice}' was given twice; give each path once")
    if pin is not None and ca is not None:
        raise ConfigError("--pin and --ca exclude each other; give one")
    to = out or Path(target.file_name)
    if to.is_dir():
        raise ConfigError(f"{to} is a folder; give a file to --out")
    chosen: dict[str, Any] = options(
        scheduler, congestion, ack_path, reinjection, datagram_bytes=datagram_bytes,
        qlog=None if qlog is None else str(qlog),
    )  # fmt: skip
    console = Console(stderr=True, quiet=quiet, soft_wrap=True)
    with Show(console, to.name) as show:
        watch = steady(show.progress, "the progress bar")
        found = fetch(target, to, paths, Verification(pin, ca), chosen, timeout, watch)
    _say(console, found, to)


def _say(console: Console, found: Fetched, out: Path) -> None:
    """Print what came, and over which path."""
    mbps = found.bytes * 8e-6 / found.seconds if found.seconds > 0 else 0.0
    console.print(f"{out}: {found.bytes:,} bytes in {found.seconds:.2f} s, {mbps:,.1f} Mbit/s")
    if len(found.paths) == 1:
        return
    table = Table(box=None)
    table.add_column("path")
    for column in ("bytes of the file", "share", "RTT ms"):
        table.add_column(column, justify="right")
    for one in found.paths:
        share = one.unique_bytes / found.bytes if found.bytes else 0.0
        rtt = "-" if one.srtt_ms is None else f"{one.srtt_ms:.1f}"
        table.add_row(one.name, f"{one.unique_bytes:,}", f"{share:.0%}", rtt)
    console.print(table)
    if not found.multipath:
        console.print("The server does not speak multipath: one path was used.")
