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
import time
from dataclasses import asdict

from skyweave.errors import SkyweaveError
from skyweave.triggers.machine import Event
from skyweave.triggers.spec import Run


def carry_out(run: Run, event: Event) -> int | None:
    """Wait for the start, run the program, end it when its time is over.

    Returns its exit code, None if it was ended. Raises :class:`SkyweaveError` if it cannot be
    started.
    """
    time.sleep(max(0.0, (event.start_unix_s or 0.0) - time.time()))
    try:
        child = subprocess.Popen(
            list(run.command), stdin=subprocess.PIPE, shell=False, start_new_session=True
        )
    except OSError as error:
        raise SkyweaveError(
            f"{run.command[0]}: cannot be started ({error.strerror}); check the command of "
            f"'{event.trigger}'"
        ) from None
    try:
        child.communicate(as_json(event).encode(), timeout=run.seconds)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        child.communicate()
        return None
    return child.returncode


def as_json(event: Event) -> str:
    """Return an event as a line of JSON; numbers that JSON does not know are null."""
    found = asdict(event)
    found["context"] = [
        (when, name, value if not isinstance(value, float) or math.isfinite(value) else None)
        for when, name, value in event.context
    ]
    return json.dumps(found, allow_nan=False)
