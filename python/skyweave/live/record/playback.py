"""What a player recorded of a play-out, as rows of the table of its workload."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from skyweave.engine import workloads

_EVENTS = ("sample", "request", "response", "playing", "underflow", "switch", "ended", "closed")
_MOST_BYTES = 64 * 2**20
"""A record beyond this is none of a play-out of a day."""


def read_lines(file: Path, tail_bytes: int = 0) -> list[dict[str, Any]]:
    """Return what a player has written; a last line that was cut short is left out.

    ``tail_bytes``: how many bytes at the end of the file are read, where it is not 0.
    Raises :class:`OSError` where there is no such file.
    """
    with file.open("rb") as text:
        if tail_bytes:
            text.seek(max(file.stat().st_size - tail_bytes, 0))
        lines = text.read(_MOST_BYTES).split(b"\n")
    found = []
    for line in lines:
        try:
            told = json.loads(line)
        except ValueError:
            continue
        if isinstance(told, dict) and isinstance(told.get("monotonic_ns"), int):
            found.append(told)
    return found


def lines_of(folder: Path) -> list[dict[str, Any]]:
    """Return what a driver recorded in its folder; nothing where it recorded nothing."""
    try:
        return read_lines(folder / "playback.jsonl")
    except OSError:
        return []


def facts_of(folder: Path) -> dict[str, Any]:
    """Return a driver's summary; nothing where it was killed before it wrote one."""
    try:
        found = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def rows_of(
    kind: str,
    lines: list[dict[str, Any]],
    epoch_ns: int,
    received: list[tuple[int, int]],
    ladder_mbps: tuple[float, ...] = (),
) -> list[list[Any]]:
    """Return the rows of a play-out in the columns of its workload, null for what is not told.

    ``received``: times (monotonic, ns) and the bytes that had come then, over all connections.
    """
    at_ns, had = zip(*(received or [(epoch_ns, 0)]), strict=True)
    rows, switches, last = [], 0, None
    for line in lines:
        quality = line.get("quality")
        switches += last is not None and quality is not None and quality != last
        last = last if quality is None else quality
        told: dict[str, Any] = {
            **line,
            "time_s": (line["monotonic_ns"] - epoch_ns) / 1e9,
            "event": line["event"] if line.get("event") in _EVENTS else "sample",
            "received_bytes": round(float(np.interp(line["monotonic_ns"], at_ns, had))),
            "bitrate_mbps": None if not ladder_mbps or quality is None else ladder_mbps[quality],
            "switches": switches,
        }
        rows.append([told.get(column.name) for column in workloads.tables()[kind]])
    return rows
