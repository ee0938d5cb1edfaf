"""Programs that measure by themselves, run by an agent: started and ended in time."""

from __future__ import annotations

import signal
import subprocess
import time
from pathlib import Path
from typing import Any

_LOOK_S, _RETRY_S = 0.001, 0.1
GRACE_NS = 10_000_000_000
"""How long after its end a client that was connected may take to exchange results."""
_UNCONNECTED = "unable to connect"
"""What iperf3 says while there is no way to its server."""
_LAST_WORDS_S = 5.0
"""How long a program may take to print its results after it was interrupted."""


def measure(argv: list[str], times_ns: tuple[int, int], protocol: str) -> dict[str, Any]:
    """Run a client of a measurement from its start; interrupt it if it goes on after its end.

    Starts it again while it cannot connect, as when the path is down. Returns its ``output`` and
    ``code``, ``interrupted``, and ``opened_ns``: when it had opened its second socket of the
    ``protocol`` (TCP or MPTCP), the first being for control; ``None`` if it never did.
    """
    start_ns, end_ns = times_ns
    time.sleep(max(start_ns - time.monotonic_ns(), 0) / 1e9)
    while True:
        before = _count(protocol)
        program = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        opened_ns = _second_socket(program, protocol, before, end_ns)
        found = ended(program, end_ns if opened_ns is None else end_ns + GRACE_NS)
        if _UNCONNECTED not in found["output"]:
            return {**found, "opened_ns": opened_ns}
        if time.monotonic_ns() + _RETRY_S * 1e9 >= end_ns:
            return {**found, "opened_ns": None, "interrupted": True}
        time.sleep(_RETRY_S)


def ended(program: subprocess.Popen[bytes], end_ns: int) -> dict[str, Any]:
    """Return the output and code of a program, which is interrupted if it goes on after its end."""
    interrupted = False
    try:
        output, _ = program.communicate(timeout=max((end_ns - time.monotonic_ns()) / 1e9, 0.5))
    except subprocess.TimeoutExpired:
        interrupted = True
        program.send_signal(signal.SIGINT)
        try:
            output, _ = program.communicate(timeout=_LAST_WORDS_S)
        except subprocess.TimeoutExpired:
            program.kill()
            output, _ = program.communicate()
    words = (output or b"").decode(errors="replace")
    return {"output": words, "code": program.returncode, "interrupted": interrupted}


def _second_socket(
    program: subprocess.Popen[bytes], protocol: str, before: int, end_ns: int
) -> int | None:
    while program.poll() is None and time.monotonic_ns() < end_ns:
        if _count(protocol) >= before + 2:
            return time.monotonic_ns()
        time.sleep(_LOOK_S)
    return None


def _count(protocol: str) -> int:
    """Return how many sockets of a protocol there are on this side."""
    for line in Path("/proc/thread-self/net/protocols").read_text().splitlines():
        words = line.split()
        if words[0] == protocol:
            return int(words[2])
    return 0
