"""``skyweave quic``: files, and any program's TCP connections, over several interfaces at once.

Errors are :class:`SkyweaveError` and pass through to the main command, which prints their sentence
and exits with code 2. Progress and notes go to standard error.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from skyweave.cli.quic_gateway import connect, gateway
from skyweave.cli.quic_options import (
    AckPathOption,
    Authorities,
    AwarenessSocket,
    Certificate,
    Congestion,
    Datagram,
    Idle,
    Key,
    Known,
    MaxDatagram,
    MaxPaths,
    Memory,
    Paths,
    Pin,
    Qlog,
    Quiet,
    ReinjectionOption,
    RetryOption,
    Scheduler,
    Timeout,
    TokenFile,
    both_or_none,
    distinct,
    token_of,
    verification,
)
from skyweave.cli.quic_progress import Show
from skyweave.cli.stopping import terminable
from skyweave.console import Console
from skyweave.errors import ConfigError
from skyweave.quic.fetch import Fetched, Order, fetch
from skyweave.quic.hints import hearing, parse_names
from skyweave.quic.listen import Limits, Listen, allow_many_files
from skyweave.quic.options import memory, options
from skyweave.quic.serve import FileServer, Serve, Served
from skyweave.quic.url import PORT, parse_target
from skyweave.steady import steady

quic_app = typer.Typer(
    help="Multipath QUIC on real interfaces: files, and TCP connections of any program.",
    no_args_is_help=True,
)
quic_app.command()(gateway)
quic_app.command()(connect)


@quic_app.command()
def serve(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder whose files are served.")],
    listen: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS:PORT",
            help="Where to listen; for this machine alone if not given. "
            f"[::]:{PORT} is on all interfaces: then everyone who reaches this machine can read "
            "every file in DIR, unless --token-file is given.",
        ),
    ] = f"127.0.0.1:{PORT}",
    token_file: TokenFile = None,
    hidden: Annotated[
        bool, typer.Option("--hidden", help="Serve names that begin with a dot, too (.ssh, .git).")
    ] = False,
    cert: Certificate = None,
    key: Key = None,
    scheduler: Scheduler = "weave",
    congestion: Congestion = "cubic",
    ack_path: AckPathOption = "same",
    reinjection: ReinjectionOption = "all",
    datagram_bytes: Datagram = 1200,
    max_datagram_bytes: MaxDatagram = 1452,
    memory_mb: Memory = None,
    max_paths: MaxPaths = 8,
    max_connections: Annotated[
        int, typer.Option(min=1, help="Connections at a time; further ones are refused.")
    ] = 4096,
    max_per_address: Annotated[
        int,
        typer.Option(min=1, help="Of one address (IPv6: /64); four times as many of one network."),
    ] = 64,
    retry: RetryOption = "busy",
    idle_timeout: Idle = 60.0,
    hq_interop: Annotated[
        bool,
        typer.Option(
            "--hq-interop",
            help="Speak HTTP/0.9 (hq-interop), too, for interoperability tests: without status, "
            "length, ranges and tokens.",
        ),
    ] = False,
    qlog: Qlog = None,
    awareness: AwarenessSocket = None,
    known: Known = None,
) -> None:
    """Serve the files of a folder over HTTP/3 until Ctrl-C."""
    both_or_none(cert, key)
    chosen = options(
        scheduler, congestion, ack_path, reinjection, datagram_bytes=datagram_bytes,
        most_datagram_bytes=max_datagram_bytes,
        max_paths=max_paths, idle_timeout_s=idle_timeout,
        qlog=None if qlog is None else str(qlog), **memory(memory_mb),
    )  # fmt: skip
    limits = Limits.of(max_connections, max_per_address)
    token = token_of(token_file)
    names = parse_names(known)
    allow_many_files()
    place = Listen(listen, cert, key, retry, chosen, limits)
    server = FileServer(Serve(folder, place, hidden, token, hq_interop))
    console = Console(stderr=True, soft_wrap=True)
    console.print(f"Serving {folder} on {server.address} (UDP). Ctrl-C ends it.")
    console.print(f"Certificate, SHA-256: {server.fingerprint}")
    console.print(
        f"Fetch with: skyweave quic get HOST:{server.port}/FILE"
        + ("" if cert else f" --pin {server.fingerprint}")
        + ("" if token is None else " --token-file TOKEN")
    )

    def say(connections: int, news: tuple[Served, ...]) -> None:
        del connections
        for one in news:
            console.print(one.words())

    with terminable(), hearing(awareness, names) as hints:
        server.run(say, hints)


@quic_app.command()
def get(
    url: Annotated[str, typer.Argument(metavar="URL", help="HOST:PORT/PATH, or https://…")],
    path: Paths = None,
    pin: Pin = None,
    ca: Authorities = None,
    out: Annotated[
        Path | None, typer.Option(help="File to write; that of the URL, here, if not given.")
    ] = None,
    resume: Annotated[
        bool,
        typer.Option(
            "--continue",
            help="Go on with FILE.part as an earlier fetch left it; the SHA-256 of the whole is "
            "checked at the end.",
        ),
    ] = False,
    timeout: Timeout = 10.0,
    retry_for: Annotated[
        float,
        typer.Option(
            min=0,
            max=86_400,
            metavar="S",
            help="How long to connect anew when a connection ended before the file was there; "
            "0: not at all.",
        ),
    ] = 60.0,
    idle_timeout: Idle = 60.0,
    limit_mbps: Annotated[
        float | None, typer.Option(metavar="MBPS", help="Most Mbit/s of the file.")
    ] = None,
    token_file: TokenFile = None,
    scheduler: Scheduler = "weave",
    congestion: Congestion = "cubic",
    ack_path: AckPathOption = "same",
    reinjection: ReinjectionOption = "all",
    datagram_bytes: Datagram = 1200,
    max_datagram_bytes: MaxDatagram = 1452,
    memory_mb: Memory = None,
    qlog: Qlog = None,
    quiet: Quiet = False,
    awareness: AwarenessSocket = None,
    known: Known = None,
) -> None:
    """Fetch a file over one or several interfaces at once; they may come and go meanwhile."""
    target = parse_target(url)
    paths, trusted, names = distinct(path), verification(pin, ca), parse_names(known)
    to = out or Path(target.file_name)
    if to.is_dir():
        raise ConfigError(f"{to} is a folder; give a file to --out")
    chosen: dict[str, Any] = options(
        scheduler, congestion, ack_path, reinjection, datagram_bytes=datagram_bytes,
        most_datagram_bytes=max_datagram_bytes,
        idle_timeout_s=idle_timeout, qlog=None if qlog is None else str(qlog), **memory(memory_mb),
    )  # fmt: skip
    order = Order(resume, token_of(token_file), limit_mbps, retry_for)
    console = Console(stderr=True, quiet=quiet, soft_wrap=True)
    with Show(console, to.name) as show, hearing(awareness, names) as hints:
        watch = steady(show.progress, "the progress bar")
        found = fetch(target, to, paths, trusted, chosen, timeout, watch, hints, order)
    _say(console, found, to)


def _say(console: Console, found: Fetched, out: Path) -> None:
    """Print what came, and over which path."""
    mbps = found.bytes * 8e-6 / found.seconds if found.seconds > 0 else 0.0
    more = ", SHA-256 as the server has it" if found.verified else ""
    more += f", {found.connections} connections" if found.connections > 1 else ""
    said = f"{found.bytes:,} bytes in {found.seconds:.2f} s, {mbps:,.1f} Mbit/s"
    console.print(f"{out}: {said}{more}")
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
