"""One process that serves: its own certificate, and uvicorn."""

from __future__ import annotations

import hashlib
import ipaddress
import os
import socket
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import uvicorn
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from skyweave.testbed.api.app import create_app
from skyweave.testbed.api.office import Office
from skyweave.testbed.errors import TestbedError
from skyweave.testbed.wire.names import POLL_S

YEARS = 20
MOST_AT_ONCE = 2000
"""Connections; beyond it 503."""


class Certificate(NamedTuple):
    """A certificate with its key, as files."""

    file: Path
    key: Path

    @property
    def pin(self) -> str:
        """SHA-256 of the certificate (DER), in hexadecimal."""
        try:
            read = x509.load_pem_x509_certificate(self.file.read_bytes())
        except (OSError, ValueError) as error:
            raise TestbedError(f"{self.file}: holds no certificate ({error})") from None
        return hashlib.sha256(read.public_bytes(Encoding.DER)).hexdigest()


def own_certificate(folder: Path, host: str) -> Certificate:
    """Return the orchestrator's own certificate, made at the first start."""
    made = Certificate(folder / "certificate.pem", folder / "certificate.key")
    if made.file.exists() and made.key.exists():
        return made
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Skyweave testbed")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=365 * YEARS))
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.SubjectAlternativeName([_general(host)]), critical=False)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )
    secret = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    for file, content in ((made.key, secret), (made.file, certificate.public_bytes(Encoding.PEM))):
        handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
        with os.fdopen(handle, "wb") as out:
            out.write(content)
    return made


def _general(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def serve(
    office: Office, host: str, port: int, certificate: Certificate | None,
    sockets: list[socket.socket] | None = None,
) -> None:  # fmt: skip
    """Serve until SIGINT or SIGTERM; without a certificate, plain HTTP for a proxy in front.

    ``sockets`` that listen already take the place of host and port.
    """
    config = uvicorn.Config(
        create_app(office), host=host, port=port, log_level="warning", access_log=False,
        server_header=False, date_header=False, proxy_headers=False, lifespan="on",
        limit_concurrency=MOST_AT_ONCE, timeout_keep_alive=int(POLL_S) + 10,
        timeout_graceful_shutdown=2, h11_max_incomplete_event_size=32_768,
        ssl_certfile=certificate.file if certificate else None,
        ssl_keyfile=certificate.key if certificate else None,
    )  # fmt: skip
    uvicorn.Server(config).run(sockets=sockets)
