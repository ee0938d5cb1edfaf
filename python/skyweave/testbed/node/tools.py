"""Programs of the system that the node calls: arguments in a list, no shell, one sentence."""

from __future__ import annotations

import fcntl
import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from skyweave.live.world.namespaces import enter_network
from skyweave.testbed.errors import TestbedError

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""Where programs are looked for, whatever the environment says."""
TOOL_S = 30.0
Result = TypeVar("Result")
_held: set[int] = set()
_LOOK_S = 0.01


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Be the only process that works on a node's folder.

    Programs that :func:`tool` starts share the lock, so that who comes after a crash waits for
    those that the dead process left: they may be about to change the kernel. Raises
    :class:`TestbedError` if another process is still there after the longest time they may take.
    """
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    descriptor = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    end = time.monotonic() + TOOL_S
    try:
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > end:
                    raise TestbedError(
                        f"{folder}: another process works there; end it, or name another folder"
                    ) from None
                time.sleep(_LOOK_S)
        _held.add(descriptor)
        yield
    finally:
        _held.discard(descriptor)
        os.close(descriptor)


def tool(*argv: str, given: str | None = None) -> str:
    """Run a program with ``given`` on its standard input; return what it printed.

    Raises :class:`TestbedError` with its last words if it is missing, fails or takes 30 s.
    """
    try:
        ran = subprocess.run(
            argv, input=given or "", capture_output=True, text=True, errors="replace",
            timeout=TOOL_S, env={"PATH": PATH, "LC_ALL": "C"}, check=False, pass_fds=tuple(_held),
        )  # fmt: skip
    except FileNotFoundError:
        raise TestbedError(f"the program '{argv[0]}' is missing on this node") from None
    except subprocess.TimeoutExpired:
        raise TestbedError(f"{' '.join(argv[:4])}: not done after {TOOL_S:g} s") from None
    if ran.returncode != 0:
        said = (ran.stderr.strip().splitlines() or [f"code {ran.returncode}"])[-1]
        raise TestbedError(f"{' '.join(argv)[:200]}: {said[:200]}")
    return ran.stdout


def within(network: Path | None, do: Callable[[], Result]) -> Result:
    """Call a function in a thread that is in another network namespace; ``None``: in this one.

    Raises what the function raises, and :class:`FileNotFoundError` if the namespace is gone.
    """
    if network is None:
        return do()
    descriptor = os.open(network, os.O_RDONLY | os.O_CLOEXEC)
    done: list[Result] = []
    failed: list[BaseException] = []

    def enter() -> None:
        try:
            enter_network(descriptor)
            done.append(do())
        except BaseException as error:
            failed.append(error)

    try:
        thread = threading.Thread(target=enter)
        thread.start()
        thread.join()
    finally:
        os.close(descriptor)
    if failed:
        raise failed[0]
    return done[0]
