"""One run in its sandbox: begun, watched, frozen, ended; nothing of it stays but its results."""

from __future__ import annotations

import contextlib
import os
import platform
import shutil
import signal
import subprocess
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from skyweave.testbed.errors import TestbedError
from skyweave.testbed.node.sandbox import network as networks
from skyweave.testbed.node.sandbox.cage import FILTER, USER, cage, furnish
from skyweave.testbed.node.sandbox.groups import Group, Groups
from skyweave.testbed.node.sandbox.network import RunNetwork
from skyweave.testbed.node.sandbox.rules import Ways
from skyweave.testbed.node.tools import PATH
from skyweave.testbed.wire import Limits

MOST_OUTPUT_BYTES = 10**7
OUTPUT = "output.txt"
_GATE = 'read -r go && exec "$@" </dev/null'
"""The first process waits until it is in its control group; without a word it ends."""


@dataclass(frozen=True)
class Ground:
    """What all runs of a node stand on."""

    folder: Path
    """Of the node; each run has one in ``runs/``."""
    mark: str
    """Tells this node's namespaces and groups from those of another node on the machine."""
    groups: Groups
    uplinks: dict[str, str] = field(default_factory=dict)
    ways: Ways = field(default_factory=Ways)

    def sweep(self) -> int:
        """End all that a dead process left; return the number of runs it concerns."""
        return max(self.groups.sweep(), networks.sweep(self.mark))


class Sandbox:
    """One run, from :meth:`prepare` to :meth:`close`, which may be called at any moment."""

    def __init__(self, ground: Ground, run: str, limits: Limits, yields: bool = False) -> None:
        """``yields``: it gives way to the owner, and what it sends is marked for it."""
        self.folder = ground.folder / "runs" / run
        self.network = RunNetwork(ground.mark, run, yields)
        self._ground, self._run, self._limits = ground, run, limits
        self._group: Group | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._reader: threading.Thread | None = None

    @property
    def results(self) -> Path:
        """Where the run writes."""
        return self.folder / "results"

    @property
    def tree(self) -> Path:
        """Where its files are unpacked."""
        return self.folder / "tree"

    def prepare(self) -> None:
        """Make folders, control group and network; :class:`TestbedError` if that fails."""
        self.results.mkdir(parents=True, exist_ok=True)
        os.chown(self.results, USER, USER)
        furnish(self.folder, self._ground.ways.resolver)
        self._group = self._ground.groups.make(self._run, self._limits)
        self.network.make(self._ground.uplinks, self._ground.ways, self._limits.network_bytes)

    def start(self, argv: Sequence[str], environment: dict[str, str]) -> None:
        """Begin the run; raises :class:`TestbedError` if its first process cannot be made."""
        tree = self.tree if self.tree.is_dir() else None
        inside = {"PATH": PATH, "HOME": "/results", "LC_ALL": "C.UTF-8", **environment}
        caged = cage(argv, self.results, tree, self._rlimits())
        enter = ["nsenter", f"--net={self.network.namespace}", "--"]
        assert self._group is not None
        try:
            self._process = subprocess.Popen(
                ["sh", "-c", _GATE, "sh", *enter, *caged], stdin=subprocess.PIPE,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
                env=inside, cwd="/",
            )  # fmt: skip
            self._group.add(self._process.pid)
        except OSError as error:
            raise TestbedError(f"the sandbox cannot be begun ({error.strerror})") from None
        output, self._process.stdout = self._process.stdout, None
        self._reader = threading.Thread(target=self._keep, args=(output,), daemon=True)
        self._reader.start()
        assert self._process.stdin is not None
        with contextlib.suppress(OSError), self._process.stdin as gate:
            gate.write(b"go\n")

    def wait(self, timeout_s: float | None = None) -> int | None:
        """Return its exit code when it is over; ``None``: it is not, after that time."""
        assert self._process is not None
        try:
            return self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            return None

    def freeze(self, frozen: bool) -> None:
        """Let all of its processes stand still with their network, or go on."""
        assert self._group is not None
        obeyed = self._group.freeze(frozen)
        self.network.pause(frozen)
        obeyed()

    def kill(self) -> None:
        """End all of its processes; back when they are gone."""
        if self._process is not None and self._process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
        if self._group is not None:
            self._group.close()
        if self._process is not None:
            self._process.wait()
        if self._reader is not None:
            self._reader.join()

    def traffic(self) -> tuple[int, int]:
        """Return the bytes sent and received so far."""
        return self.network.traffic()

    @property
    def devices(self) -> tuple[str, ...]:
        """The names of its uplinks, inside."""
        return tuple(link.name for link in self.network.links)

    def excess(self) -> str | None:
        """Return which limit it is beyond, in a sentence; ``None``: it is within them."""
        carried, written, limits = sum(self.traffic()), self.results_bytes(), self._limits
        if carried >= limits.network_bytes:
            return f"it has carried {limits.network_bytes:,} bytes, all that it was allowed"
        if written > limits.artefact_bytes:
            return f"it has written {written:,} bytes, and {limits.artefact_bytes:,} are allowed"
        return None

    def results_bytes(self) -> int:
        """Return how much it has written."""
        total = 0
        for place, _, names in os.walk(self.results):  # links are not followed
            for name in names:
                with contextlib.suppress(OSError):
                    total += Path(place, name).lstat().st_size
        return total

    def close(self) -> None:
        """End it, and take away everything but its folder."""
        self.kill()
        self.traffic()
        self.network.close()

    def forget(self) -> None:
        """Remove its folder, too."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def record(self) -> dict[str, object]:
        """Return what it runs under: kernel, versions, isolation, and what is weaker for it."""
        gone = self._ground.groups.missing
        return {
            "kernel": platform.release(),
            "machine": platform.machine(),
            "python": platform.python_version(),
            "isolation": f"bubblewrap, {self._ground.groups.words}",
            "calls_filtered": (self.folder / FILTER).exists(),
            "uplinks": {link.name: link.device for link in self.network.links},
            "limits": self._limits.model_dump(),
            "warnings": [
                f"no control group for {name} here; {_INSTEAD[name]}" for name in gone
            ],
        }  # fmt: skip

    def _rlimits(self) -> list[str]:
        """Return arguments of ``prlimit``: the size of files, and what no control group limits."""
        gone, limits = self._ground.groups.missing, self._limits
        words = [f"--fsize={max(limits.artefact_bytes, 1)}"]
        if "memory" in gone:
            words.append(f"--as={limits.memory_bytes}")
        if "pids" in gone:
            words.append(f"--nproc={limits.processes}")
        return words

    def _keep(self, output: IO[bytes] | None) -> None:
        """Write what it prints, and let it go on printing when that is enough."""
        assert output is not None
        with output, (self.folder / OUTPUT).open("wb") as file:
            left = MOST_OUTPUT_BYTES
            while piece := os.read(output.fileno(), 65_536):
                with contextlib.suppress(OSError):  # the disk is full: the run goes on
                    file.write(piece[:left])
                left -= min(left, len(piece))


_INSTEAD = {
    "memory": "each process has a limit of address space, all together have none",
    "pids": "its user has a limit of processes, which runs of other nodes here share",
    "cpu": "it may use all of the processor",
    "freezer": "it is stopped by signals",
}
