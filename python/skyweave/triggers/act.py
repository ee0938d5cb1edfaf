"""What a firing starts: the program and the arguments of the file, as they stand there.

There is no shell, and nothing of a sample becomes an argument: the firing with its context is on
the program's standard input, as JSON.
"""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

from skyweave.errors import SkyweaveError
from skyweave.triggers.machine import Event
from skyweave.triggers.spec import Run

MOST_OUTPUT_BYTES = 10**7
OUTPUT = "output.txt"
LAST_WORDS_S = 5.0
"""How long output is read after the end: a program that it left behind may hold the pipe open."""


@dataclass(frozen=True)
class Ran:
    """What became of a run."""

    argv: tuple[str, ...]
    started_unix_s: float
    ended_unix_s: float
    exit_code: int | None
    """None: it was ended when its time was over."""


def argv_of(run: Run, folder: Path | None) -> tuple[str, ...]:
    """Return the program and its arguments; the results of a study go into ``folder``."""
    if run.command is not None:
        return run.command
    out = () if folder is None else ("--out", str(folder.absolute()))
    return (sys.executable, "-m", "skyweave.cli", "run", str(run.study), *out)


def carry_out(run: Run, event: Event, folder: Path | None = None) -> Ran:
    """Wait for the start, run the program, end it when its time is over.

    With a ``folder`` it runs there, and what it prints is kept there in ``output.txt``, up to
    :data:`MOST_OUTPUT_BYTES`. Raises :class:`SkyweaveError` if it cannot be started.
    """
    argv = argv_of(run, folder)
    time.sleep(max(0.0, (event.start_unix_s or 0.0) - time.time()))
    started = time.time()
    try:
        child = subprocess.Popen(
            list(argv), stdin=subprocess.PIPE, shell=False, start_new_session=True, cwd=folder,
            stdout=None if folder is None else subprocess.PIPE,
            stderr=None if folder is None else subprocess.STDOUT,
        )  # fmt: skip
    except OSError as error:
        raise SkyweaveError(
            f"{argv[0]}: cannot be started ({error.strerror}); check the command of "
            f"'{event.trigger}'"
        ) from None
    output, child.stdout = child.stdout, None
    reader = threading.Thread(target=_keep_output, args=(output, folder), daemon=True)
    reader.start()
    code: int | None
    try:
        child.communicate(as_json(event).encode(), timeout=run.seconds)
        code = child.returncode
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        child.communicate()
        code = None
    reader.join(LAST_WORDS_S)
    return Ran(argv, started, time.time(), code)


def as_json(event: Event) -> str:
    """Return an event as a line of JSON; numbers that JSON does not know are null."""
    return json.dumps(facts(event), allow_nan=False)


def facts(event: Event) -> dict[str, object]:
    """Return an event as plain values that JSON can hold."""
    found = asdict(event)
    found["context"] = [
        (when, name, value if not isinstance(value, float) or math.isfinite(value) else None)
        for when, name, value in event.context
    ]
    return found


def _keep_output(output: IO[bytes] | None, folder: Path | None) -> None:
    """Write what a program prints, and let it go on printing when that is enough."""
    if output is None or folder is None:
        return
    with output, (folder / OUTPUT).open("wb") as file:
        left = MOST_OUTPUT_BYTES
        while piece := os.read(output.fileno(), 65_536):
            file.write(piece[:left])
            left -= min(left, len(piece))
