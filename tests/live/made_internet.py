"""A machine with an internet behind it: ``python made_internet.py FOLDER COMMAND...``.

To be started as root of network, mount and PID namespaces of its own. The internet is another
network namespace with a web server for FOLDER (port 80), a server that gives back what it got when
the client is through (port 7), and a resolver for which all names are the web server's. Services on
the machine's loopback note in FOLDER/touched what came. Ends with the code of the command.
"""

from __future__ import annotations

import functools
import http.server
import os
import socket
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path

from skyweave.live.world.namespaces import enter_network, new_network, this_network

WEB, WEB6 = "203.0.113.80", "2001:db8:2::80"
RESOLVER = "203.0.113.53"
PRIVATE_PORT = 8099
SIZE = 2_000_000
LOOPBACKS = ("127.0.0.1", "::1")
_ROUTER, _ROUTER6 = "198.51.100.1", "2001:db8:1::1"
_HEAD = 12
"""Bytes of the header of a DNS message (RFC 1035)."""


class Handler(http.server.SimpleHTTPRequestHandler):
    """Files, without a word on stderr, and ``shared.js`` for a client with more than one path."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Send the script until all paths have carried their share, which FOLDER/enough says.

        A subflow joins when the kernel gets to it: until FOLDER/joined is there most is held back.
        After five times SIZE, or a minute without that file, the script is over whatever came.
        """
        if self.path != "/shared.js":
            super().do_GET()
            return
        folder, words = Path(self.directory), b"woven " * (SIZE // 6)
        self.send_response(200)
        self.send_header("Content-Type", "text/javascript")
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(b"/*" + words[: SIZE // 10])
        late = time.monotonic() + 60
        while not (folder / "joined").exists() and time.monotonic() < late:
            time.sleep(0.01)
        for _ in range(5):
            self.wfile.write(words)
            if (folder / "enough").exists():
                break
        self.wfile.write(b"*/ document.body.textContent = 6 * 7;")

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class Server(http.server.ThreadingHTTPServer):
    """Listens in both versions of IP."""

    address_family = socket.AF_INET6


def answer(question: bytes) -> bytes:
    """Answer for any name with the web server's address."""
    end = question.index(b"\0", _HEAD) + 5
    (kind,) = struct.unpack("!H", question[end - 4 : end - 2])
    known = {1: socket.inet_aton(WEB), 28: socket.inet_pton(socket.AF_INET6, WEB6)}.get(kind, b"")
    record = b"\xc0\x0c" + struct.pack("!HHIH", kind, 1, 60, len(known)) + known if known else b""
    counts = struct.pack("!HHHH", 1, int(bool(record)), 0, 0)
    return question[:2] + b"\x81\x80" + counts + question[_HEAD:end] + record


def resolve(end: socket.socket) -> None:
    """Answer questions for names for ever."""
    while True:
        question, who = end.recvfrom(2000)
        end.sendto(answer(question), who)


def give_back(end: socket.socket) -> None:
    """Send each client what it has sent, after its end, for ever."""
    while True:
        with end.accept()[0] as client:
            came = b"".join(iter(lambda: client.recv(65536), b""))
            client.sendall(came)


def note(end: socket.socket, file: Path) -> None:
    """Note that something has come, for ever."""
    while True:
        if end.type == socket.SOCK_STREAM:
            end.accept()[0].close()
        else:
            end.recvfrom(2000)
        with file.open("a") as touched:
            touched.write(f"{end.getsockname()} {end.type}\n")


def run(function: object, *arguments: object) -> None:
    """Run something beside the command."""
    threading.Thread(target=function, args=arguments, daemon=True).start()  # type: ignore[arg-type]


def ip(*lines: str) -> None:
    """Let ip(8) do each line."""
    for line in lines:
        subprocess.run(["ip", *line.split()], check=True)


def internet(folder: Path, far: int) -> None:
    """Make the internet and its servers; comes back to the machine's network."""
    here = this_network()
    enter_network(far)
    ip("link set lo up", "link set far up")
    ip(f"addr add {_ROUTER}/24 dev far", f"addr add {_ROUTER6}/64 dev far nodad")
    ip(f"addr add {WEB}/32 dev lo", f"addr add {WEB6}/128 dev lo nodad")
    ip(f"addr add {RESOLVER}/32 dev lo")
    web = Server(("::", 80), functools.partial(Handler, directory=str(folder)))
    names = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    names.bind((RESOLVER, 53))
    echo = socket.create_server((WEB, 7))
    enter_network(here)
    run(give_back, echo)
    run(web.serve_forever)
    run(resolve, names)


def machine(folder: Path) -> None:
    """Make the machine: its way to the internet, its resolver and its private services."""
    here = this_network()
    far = new_network()
    enter_network(here)
    ip("link set lo up", "link add near type veth peer name far")
    subprocess.run(
        ["ip", "link", "set", "far", "netns", f"/proc/{os.getpid()}/fd/{far}"], check=True
    )
    ip("addr add 198.51.100.2/24 dev near", "addr add 2001:db8:1::2/64 dev near nodad")
    internet(folder, far)
    ip("link set near up")
    ip(f"route add default via {_ROUTER}", f"-6 route add default via {_ROUTER6}")
    # As everywhere but in a new namespace: who may send an echo request without privilege.
    Path("/proc/sys/net/ipv4/ping_group_range").write_text("0 0")
    (folder / "resolv.conf").write_text(f"nameserver {RESOLVER}\nsearch example.org\n")
    subprocess.run(["mount", "--bind", folder / "resolv.conf", "/etc/resolv.conf"], check=True)
    for address in LOOPBACKS:
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
            end = socket.socket(family, kind)
            end.bind((address, PRIVATE_PORT))
            if kind == socket.SOCK_STREAM:
                end.listen()
            run(note, end, folder / "touched")


if __name__ == "__main__":
    machine(Path(sys.argv[1]))
    sys.exit(subprocess.run(sys.argv[2:], check=False).returncode)
