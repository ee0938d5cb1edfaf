"""The lab's orchestrator: ``python -m skyweave.lab.testbed.orchestrator FOLDER URL SOCKET SOCKET``.

It is that of ``skyweave testbed up``, but it answers on two machines at once: people on this one,
nodes in the lab's world.
"""

from __future__ import annotations

import socket
import sys
from pathlib import Path

from skyweave.testbed.api import Office
from skyweave.testbed.api.serve import own_certificate, serve

HOST = "127.0.0.1"


def main() -> None:
    """Serve until SIGTERM."""
    folder, url = Path(sys.argv[1]), sys.argv[2]
    sockets = [socket.socket(fileno=int(one)) for one in sys.argv[3:5]]
    certificate = own_certificate(folder, HOST)
    office = Office(folder, url=url, pin=certificate.pin)
    try:
        serve(office, HOST, sockets[0].getsockname()[1], certificate, sockets)
    finally:
        office.close()


if __name__ == "__main__":
    main()
