"""Options that the commands of ``skyweave quic`` share, and what they have to be together."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from skyweave.errors import ConfigError
from skyweave.model.config import AckPath, Reinjection
from skyweave.model.files import read_regular
from skyweave.quic.fetch import Verification
from skyweave.quic.options import Retry

MAX_TOKEN_BYTES = 8192
"""A file that is longer holds no token."""

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
    int, typer.Option(metavar="BYTES", help="UDP payload of a full packet that passes for certain.")
]
MaxDatagram = Annotated[
    int,
    typer.Option(
        "--max-datagram-bytes",
        metavar="BYTES",
        help="Longest UDP payload that each path is probed for (RFC 8899); with no more than "
        "--datagram-bytes none is.",
    ),
]
Memory = Annotated[
    float | None,
    typer.Option(
        metavar="MB",
        help="Most that a connection holds at this end, to send or for a reader, in 10^6 bytes; "
        "as much as it needs, up to 64 MiB, if not given. With 4 the scheduler matters: weave.",
    ),
]
Qlog = Annotated[
    Path | None, typer.Option(metavar="DIR", help="Folder for a qlog file of each connection.")
]
MaxPaths = Annotated[int, typer.Option(min=1, help="Paths at a time; 1: no multipath.")]
Certificate = Annotated[
    Path | None,
    typer.Option(help="Certificate chain (PEM); one is made and signed by itself if not given."),
]
Key = Annotated[Path | None, typer.Option(help="Its private key (PEM).")]
RetryOption = Annotated[
    Retry,
    typer.Option(
        help="When a client has to prove its address first, which costs it a round trip; "
        "busy: while many handshakes are under way."
    ),
]
Paths = Annotated[
    list[str] | None,
    typer.Option(
        metavar="INTERFACE",
        help="Interface (or own address) of a path, the preferred one first. May be given "
        "several times; the default route if not given.",
    ),
]
Pin = Annotated[str | None, typer.Option(help="SHA-256 fingerprint of the server's certificate.")]
Authorities = Annotated[
    Path | None,
    typer.Option(help="Certificate authorities (PEM) to trust, instead of this machine's."),
]
AwarenessSocket = Annotated[
    Path | None,
    typer.Option(
        "--awareness",
        metavar="SOCKET",
        help="Heed what a publisher foresees of the paths meanwhile ('skyweave awareness').",
    ),
]
Known = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=INTERFACE",
        help="What the publisher calls a path, and its interface or the address of either of its "
        "ends; may be given several times. Other names are taken as they are.",
    ),
]
Timeout = Annotated[
    float, typer.Option(min=0.1, metavar="S", help="How long the server may take to answer.")
]
Idle = Annotated[
    float,
    typer.Option(
        "--idle-timeout", min=1, max=3600, metavar="S",
        help="Silence on all paths after which a connection is over.",
    ),
]  # fmt: skip
TokenFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="File whose only line is the token of those who may ask, as 'openssl rand -hex 32' "
        "prints one; nobody else should be able to read it.",
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", help="Say nothing unless it fails.")]


def both_or_none(cert: Path | None, key: Path | None) -> None:
    """Refuse one without the other."""
    if (cert is None) != (key is None):
        raise ConfigError("a certificate and its key belong together; give --cert and --key")


def token_of(file: Path | None) -> str | None:
    """Return the token that a file holds. Raises :class:`ConfigError`."""
    if file is None:
        return None
    try:
        token = read_regular(file, MAX_TOKEN_BYTES).decode("ascii", "replace").strip()
    except OSError as error:
        raise ConfigError(f"{file} cannot be read: {error.strerror}") from None
    if not token:
        raise ConfigError(f"{file} has no token; 'openssl rand -hex 32 > {file}' makes one")
    return token


def distinct(paths: list[str] | None) -> list[str]:
    """Return the paths, none of which may be there twice."""
    paths = paths or []
    twice = next((name for name in paths if paths.count(name) > 1), None)
    if twice is not None:
        raise ConfigError(f"'{twice}' was given twice; give each path once")
    return paths


def verification(pin: str | None, ca: Path | None) -> Verification:
    """Return how the server is known."""
    if pin is not None and ca is not None:
        raise ConfigError("--pin and --ca exclude each other; give one")
    return Verification(pin, ca)
