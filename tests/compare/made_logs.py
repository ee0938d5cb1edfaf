"""Made-up logs, small enough that a whole comparison takes seconds."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

UNIX_S = 1_760_000_000
START = datetime.fromtimestamp(UNIX_S, UTC)
"""When they begin."""


def write_log(file: Path, mbps: Sequence[float], at_s: float = UNIX_S) -> Path:
    """Write ``timestamp,mbps``, one row a second, and give the file."""
    rows = [f"{at_s + second:.0f},{rate:g}" for second, rate in enumerate(mbps)]
    file.parent.mkdir(exist_ok=True, parents=True)
    file.write_text("\n".join(["timestamp,mbps", *rows]) + "\n")
    return file
