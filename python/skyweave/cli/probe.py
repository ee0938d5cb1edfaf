"""``skyweave probe``: probes that never wait for the last reply, their server, and the way.

Errors are :class:`SkyweaveError` and pass through to the main command, which prints their sentence
and exits with code 2.
"""

from __future__ import annotations

import math
import socket
from contextlib import ExitStack, closing
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from skyweave.cli.stopping import stopped
from skyweave.console import Console, wide_console
from skyweave.errors import ConfigError, DataError
from skyweave.printing import complain
from skyweave.telemetry.address import host_port
from skyweave.telemetry.probes.dns import DnsProbe
from skyweave.telemetry.probes.echo import PORT, EchoServer, listen
from skyweave.telemetry.probes.icmp import IcmpProbe
from skyweave.telemetry.probes.pinger import INTERVAL_S, SCHEMA, TIMEOUT_S, Pinger, Sample, ping
from skyweave.telemetry.probes.probe import Probe
from skyweave.telemetry.probes.route import MOST_HOPS, read_segments, shares, trace
from skyweave.telemetry.probes.tcp import TcpProbe
from skyweave.telemetry.probes.udp import UdpProbe
from skyweave.telemetry.store import QUOTA_BYTES, Store

probe_app = typer.Typer(
    help="Own probes, ten a second: run them, answer them, follow the way.", no_args_is_help=True
)
Targets = list[str] | None
MOST_TARGETS = 16


@probe_app.command()
def run(
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder of the Parquet files.")],
    icmp: Annotated[Targets, typer.Option(metavar="HOST", help="Echo requests; repeat it.")] = None,
    udp: Annotated[
        Targets, typer.Option(metavar="HOST:PORT", help="Echoes of 'skyweave probe serve'.")
    ] = None,
    tcp: Annotated[
        Targets, typer.Option(metavar="HOST:PORT", help="SYN and SYN-ACK, to any port.")
    ] = None,
    dns: Annotated[
        Targets, typer.Option(metavar="SERVER/NAME", help="Questions to a name server.")
    ] = None,
    interval: Annotated[float, typer.Option(metavar="S", help="Between probes.")] = INTERVAL_S,
    timeout: Annotated[float, typer.Option(metavar="S", help="Then it is lost.")] = TIMEOUT_S,
    quota_mb: Annotated[
        float, typer.Option(metavar="MB", min=1, help="Beyond it the oldest hours are removed.")
    ] = QUOTA_BYTES / 1e6,
    duration: Annotated[
        float, typer.Option(metavar="S", min=0, help="Stop then; else at Ctrl-C.")
    ] = math.inf,
) -> None:
    """Send probes on time, whatever came of the last one, and keep what came."""
    store = Store(out, int(quota_mb * 1e6))
    with ExitStack() as stack, stopped() as stop:
        probes = []
        for one in _probes(icmp, udp, tcp, dns):
            probes.append(stack.enter_context(closing(one)))
        keep = _Keeper(store)
        pingers = [Pinger(one, keep, interval, timeout) for one in probes]
        Console(stderr=True, soft_wrap=True).print(f"Probing into {out}; Ctrl-C ends it.")
        ping(pingers, stop, duration)
    store.flush()
    table = Table("probe", *asdict(pingers[0].counts))
    for each in pingers:
        table.add_row(each.probe.name, *(f"{n:,}" for n in asdict(each.counts).values()))
    wide_console().print(table)


@probe_app.command()
def serve(
    where: Annotated[
        str, typer.Option("--listen", metavar="ADDRESS:PORT", help="[::]: everyone.")
    ] = f"127.0.0.1:{PORT}",
) -> None:
    """Answer the UDP probes of others: after a cookie, never more bytes than came, 100/s each."""
    host, port = host_port(where, "--listen")
    ours, bell = socket.socketpair()
    server = EchoServer()
    with ours, bell, listen(host, port) as mine, stopped(lambda: ours.send(b"!")):
        Console(stderr=True, soft_wrap=True).print(
            f"Answering at {host}:{mine.getsockname()[1]}; Ctrl-C ends it."
        )
        server.serve(mine, bell)
    Console(soft_wrap=True).print(f"{server.answered:,} answers, {server.refused:,} refused")


@probe_app.command()
def route(
    host: Annotated[str, typer.Argument(help="Where to.")],
    segments: Annotated[
        Path | None,
        typer.Option(help="CSV of prefix,segment; else what is behind a Starlink dish."),
    ] = None,
    hops: Annotated[int, typer.Option(min=1, max=64, help="The longest way.")] = MOST_HOPS,
    timeout: Annotated[float, typer.Option(metavar="S", min=0.1, max=60)] = TIMEOUT_S,
) -> None:
    """Follow the way to a host, and say what each segment adds to the round trip."""
    found = trace(host, read_segments(segments), most_hops=hops, timeout_s=timeout)
    table = Table("hop", "address", "median ms", "segment")
    for hop in found:
        rtt = "-" if hop.rtt_ms is None else f"{hop.rtt_ms:.1f}"
        table.add_row(str(hop.distance), hop.address or "*", rtt, hop.segment)
    console = wide_console()
    console.print(table)
    for name, share in shares(found).items():
        console.print(f"{name}: {100 * share:.0f} % of the round trip")


class _Keeper:
    """Keeps samples; a disk that is full is warned of once, and ends nothing."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._warned = False

    def __call__(self, sample: Sample) -> None:
        try:
            self._store.add("probes", SCHEMA, [asdict(sample)])
        except DataError as error:
            if not self._warned:
                complain(f"skyweave: {error}")
            self._warned = True
        else:
            self._warned = False


def _probes(icmp: Targets, udp: Targets, tcp: Targets, dns: Targets) -> list[Probe]:
    """Make what the options name; :class:`ConfigError` for none, and for too many."""
    wanted = [*(icmp or ()), *(udp or ()), *(tcp or ()), *(dns or ())]
    if not 0 < len(wanted) <= MOST_TARGETS:
        raise ConfigError(f"give 1 to {MOST_TARGETS} of --icmp, --udp, --tcp and --dns")
    made: list[Probe] = [IcmpProbe(host) for host in icmp or ()]
    made += [UdpProbe(*host_port(text, "--udp")) for text in udp or ()]
    made += [TcpProbe(*host_port(text, "--tcp")) for text in tcp or ()]
    for text in dns or ():
        server, slash, name = text.partition("/")
        if not slash:
            raise ConfigError(f"--dns {text}: write SERVER/NAME, such as 8.8.8.8/example.org")
        made.append(DnsProbe(server, name))
    return made
