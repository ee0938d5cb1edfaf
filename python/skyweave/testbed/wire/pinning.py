"""The orchestrator's own certificate: fetched once, compared with the pin, and trusted alone."""

from __future__ import annotations

import hashlib
import hmac
import socket
import ssl
from urllib.parse import urlsplit

from skyweave.testbed.errors import RefusedError, TestbedError

PATIENCE_S = 10.0


def pin_of(certificate: str) -> str:
    """Return the pin of a certificate (PEM): SHA-256 of its DER, in hexadecimal."""
    return hashlib.sha256(ssl.PEM_cert_to_DER_cert(certificate)).hexdigest()


def fetch_certificate(url: str, pin: str) -> str:
    """Return the certificate (PEM) of who answers at ``url``; it must be the one of the pin.

    Raises :class:`RefusedError` if it is another one: somebody may be in between.
    """
    parts = urlsplit(url)
    if parts.scheme != "https" or not parts.hostname:
        raise TestbedError(f"{url[:100]}: a pin needs https://HOST:PORT")
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE  # nothing is said before the pin is compared
    try:
        address = parts.hostname, parts.port or 443
        with (
            socket.create_connection(address, PATIENCE_S) as plain,
            context.wrap_socket(plain, server_hostname=parts.hostname) as secured,
        ):
            der = secured.getpeercert(binary_form=True) or b""
    except (OSError, ValueError) as error:
        raise TestbedError(f"{url[:100]}: nobody answers there ({str(error)[:120]})") from None
    if not hmac.compare_digest(hashlib.sha256(der).hexdigest(), pin):
        raise RefusedError(
            f"{url[:100]} shows another certificate than the one of the invitation; ask its "
            "sender, for somebody may be in between"
        )
    return ssl.DER_cert_to_PEM_cert(der)


def trusting(certificate: str | None) -> ssl.SSLContext:
    """Return a context that trusts one certificate (PEM) alone; with None, what the system does.

    The name in a pinned certificate is not compared: it is that very one, under any address.
    """
    if certificate is None:
        return ssl.create_default_context()
    context = ssl.create_default_context(cadata=certificate)
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    context.check_hostname = False
    return context
