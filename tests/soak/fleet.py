"""A server of files and the clients that fetch them, one file after the other, for ever."""

from __future__ import annotations

import hashlib
import random
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

from place import Place, Program

PORT = 4433
QUIC = [sys.executable, "-m", "skyweave.cli", "quic"]
SIZES = [50_000, 400_000, 2_000_000, 6_000_000, 12_000_000]


class Server:
    """The server, which comes back with the same identity when it was killed."""

    def __init__(self, place: Place, folder: Path, seed: int) -> None:
        self._place = place
        self.root = folder / "served"
        self.root.mkdir()
        draw = random.Random(seed)
        for number, size in enumerate(SIZES):
            (self.root / f"file{number}").write_bytes(draw.randbytes(size))
        self._cert, self._key = folder / "cert.pem", folder / "key.pem"
        self.pin = _identity(self._cert, self._key)
        self.starts = 0
        self.program = self.start()

    def start(self) -> Program:
        """Start it, again if it was there."""
        options = ["--cert", str(self._cert), "--key", str(self._key)]
        where = ["--listen", f"10.90.0.1:{PORT}"]
        argv = [*QUIC, "serve", str(self.root), *where, *options]
        self.starts += 1
        self.program = self._place.start("server", f"server-{self.starts}", argv)
        return self.program


class Client:
    """Fetches files; a fetch that fails is begun again until its bytes are there."""

    def __init__(self, place: Place, server: Server, number: int, disk: Path, seed: int) -> None:
        self._place, self._server, self.number = place, server, number
        self._draw = random.Random(f"{seed} {number}")
        self.out = disk / f"client-{number}.file"
        self._wanted = ""
        self.fetched, self.bytes = 0, 0
        self.codes: Counter[int] = Counter()
        self.wrong: list[str] = []
        self._tries = 0
        self.program = self.start()

    def start(self) -> Program:
        """Begin the next file, or the same one again."""
        if not self._wanted:
            self._wanted = f"file{self._draw.randrange(len(SIZES))}"
        self._tries += 1
        paths = [word for place in self._order() for word in ("--path", self._place.device(place))]
        target = [f"10.90.0.1:{PORT}/{self._wanted}", "--pin", self._server.pin]
        argv = [*QUIC, "get", *target, *paths, "--out", str(self.out)]
        self.program = self._place.start("client", f"client-{self.number}-{self._tries}", argv)
        return self.program

    def _order(self) -> list[int]:
        places = list(range(len(self._place.names)))
        self._draw.shuffle(places)
        return places

    def look(self, go_on: bool) -> None:
        """Judge a fetch that has ended, and begin another one if wanted."""
        if self.program.runs():
            return
        code = self.program.collect()
        self.codes[code] += 1
        if code == 0:
            self._compare()
        if go_on or self._wanted:
            self.start()

    @property
    def is_idle(self) -> bool:
        """Nothing is wanted and nothing runs."""
        return not self._wanted and not self.program.runs()

    def _compare(self) -> None:
        there, came = self._server.root / self._wanted, self.out
        size = there.stat().st_size
        if _digest(there) != _digest(came):
            self.wrong.append(f"{self.program.mark}: {self._wanted}")
        self.fetched, self.bytes, self._wanted = self.fetched + 1, self.bytes + size, ""
        came.unlink()


def _digest(path: Path) -> str:
    return hashlib.file_digest(path.open("rb"), "sha256").hexdigest()


def _identity(cert: Path, key: Path) -> str:
    """Make a certificate signed by itself; return its fingerprint."""
    make = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
    more = ["-nodes", "-keyout", key, "-out", cert, "-days", "2", "-subj", "/CN=soak"]
    subprocess.run([*make, *more], check=True, capture_output=True)
    show = ["openssl", "x509", "-in", cert, "-outform", "DER"]
    return hashlib.sha256(subprocess.run(show, check=True, capture_output=True).stdout).hexdigest()


def kill(program: Program) -> None:
    """End a program at once, as the kernel does when memory is short."""
    program.send(signal.SIGKILL)
