"""What a server measures with: a program for each service, with nothing but its port and folder."""

from __future__ import annotations

import hashlib
import ipaddress
import shutil
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from skyweave.testbed.errors import TestbedError
from skyweave.testbed.node.sandbox.cage import INPUT, RESULTS
from skyweave.testbed.node.tools import PATH
from skyweave.testbed.wire.run import Service

FILES = {"1MB": 10**6, "10MB": 10**7, "100MB": 10**8, "1GB": 10**9}
"""Files of zeros, for downloads by QUIC and HTTP."""
UDP: frozenset[Service] = frozenset({"quic", "probe"})
PROGRAMS = {"iperf3": "iperf3", "http": "nginx"}
_NGINX = """\
worker_processes 1;
daemon off;
master_process off;
pid {folder}/nginx.pid;
error_log {folder}/http.log;
events {{ worker_connections 256; }}
http {{
  access_log off;
  client_max_body_size 1m;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  server {{ listen {port}; root {files}; }}
}}
"""


def lacking(service: Service) -> str | None:
    """Return which program of a service is missing here; ``None``: none."""
    program = PROGRAMS.get(service)
    if program is None or shutil.which(program, path=PATH) is not None:
        return None
    return f"the program '{program}' is missing on this server"


def prepare(folder: Path) -> str:
    """Make what services share: files of zeros, and a certificate; return its SHA-256."""
    files = folder / "files"
    files.mkdir(parents=True, exist_ok=True)
    for name, size in FILES.items():
        with (files / name).open("wb") as opened:
            opened.truncate(size)
    folder.chmod(0o755)  # the folder of the server around it is for its owner alone
    return _certificate(folder)


def argv_of(service: Service, port: int, own: Path, data_ports: int = 0) -> list[str]:
    """Return the program of a service, as its sandbox sees it; ``own`` is the folder of its run.

    ``data_ports``: how many ports after its own ``field`` has.
    """
    ours = [sys.executable, "-I", "-m", "skyweave.cli"]
    if service == "iperf3":
        return ["iperf3", "--server", "--port", str(port), "--forceflush"]
    if service == "http":
        text = _NGINX.format(folder=RESULTS, port=port, files=f"{INPUT}/files")
        (own / "nginx.conf").write_text(text)
        conf = f"{RESULTS}/nginx.conf"
        return ["nginx", "-p", RESULTS, "-e", f"{RESULTS}/http.log", "-c", conf]
    if service == "quic":
        return [
            *ours, "quic", "serve", f"{INPUT}/files", "--listen", f"0.0.0.0:{port}",
            "--retry", "always", "--cert", f"{INPUT}/cert.pem", "--key", f"{INPUT}/key.pem",
        ]  # fmt: skip
    if service == "field":
        where = f"0.0.0.0:{port}"
        return [*ours, "measure", "field", "--listen", where, "--ports", str(data_ports),
                "--films", f"{INPUT}/films"]  # fmt: skip
    return [*ours, "probe", "serve", "--listen", f"0.0.0.0:{port}"]


def is_listening(service: Service, port: int) -> bool:
    """Tell whether a socket of this network namespace has the port of a service."""
    kind = "udp" if service in UDP else "tcp"
    for table in (kind, f"{kind}6"):
        file = Path("/proc/thread-self/net", table)
        if not file.exists():
            continue
        for line in file.read_text().splitlines()[1:]:
            cells = line.split()
            listens = kind == "udp" or cells[3] == "0A"  # TCP_LISTEN
            if listens and int(cells[1].rpartition(":")[2], 16) == port:
                return True
    return False


def _certificate(folder: Path) -> str:
    """Make the certificate of the QUIC server, once; return the SHA-256 of it."""
    file = folder / "cert.pem"
    if not file.exists():
        key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "skyweave measure")])
        now = datetime.now(UTC)
        local = x509.IPAddress(ipaddress.IPv4Address("127.0.0.1"))
        made = (
            x509.CertificateBuilder().subject_name(name).issuer_name(name)
            .public_key(key.public_key()).serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=3650))
            .add_extension(x509.SubjectAlternativeName([local]), critical=False)
            .sign(key, SHA256())
        )  # fmt: skip
        private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        (folder / "key.pem").write_bytes(private)
        file.write_bytes(made.public_bytes(Encoding.PEM))
    try:
        found = x509.load_pem_x509_certificate(file.read_bytes())
    except ValueError:
        raise TestbedError(f"{file}: is no certificate; remove it, and another is made") from None
    return hashlib.sha256(found.public_bytes(Encoding.DER)).hexdigest()
