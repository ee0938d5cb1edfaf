"""Certificates of servers in tests."""

from __future__ import annotations

import subprocess
from pathlib import Path


def certificate(folder: Path) -> tuple[Path, Path]:
    """Make a certificate for localhost and its key."""
    cert, key = folder / "cert.pem", folder / "key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
         "-nodes", "-keyout", key, "-out", cert, "-days", "2", "-subj", "/CN=test",
         "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
         "-addext", "basicConstraints=critical,CA:FALSE"],
        check=True, capture_output=True,
    )  # fmt: skip
    return cert, key
