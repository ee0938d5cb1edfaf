"""How far a film is that plays in real time: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.progress import BarColumn
from rich.progress import Progress as Bar

from skyweave.cli.progress import clock
from skyweave.console import Console, TextColumn
from skyweave.live.record.playback import read_lines

_LOOK_S, _LINE_S = 0.5, 30.0
_TAIL_BYTES = 64 * 2**10


@contextmanager
def playing(console: Console, out: Path, limit_s: float) -> Iterator[None]:
    """Show on ``console`` what a player has written in ``out`` so far, while the block lasts.

    The reference player writes nothing before its end: of it only the time is shown.
    """
    over = threading.Event()
    show = _bar if console.is_terminal else _lines
    thread = threading.Thread(target=show, args=(console, out, limit_s, over), daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _bar(console: Console, out: Path, limit_s: float, over: threading.Event) -> None:
    columns = TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[said]}")
    began = time.monotonic()
    with Bar(*columns, console=console, transient=True) as bar:
        task = bar.add_task("playing", total=limit_s, said="")
        while not over.wait(_LOOK_S):
            passed = time.monotonic() - began
            line = last(out)
            if line.get("film_s"):
                position = line.get("position_s") or 0.0
                bar.update(task, total=line["film_s"], completed=position, said=words(line))
            else:
                bar.update(
                    task, completed=passed, said=f"{clock(passed)}, {clock(limit_s)} at most"
                )


def _lines(console: Console, out: Path, limit_s: float, over: threading.Event) -> None:
    console.print(f"Playing in real time, {clock(limit_s)} at most.")
    while not over.wait(_LINE_S):
        line = last(out)
        if line:
            console.print(words(line))


def words(line: dict[str, Any]) -> str:
    """Return what a player wrote last, in words.

    >>> words({"position_s": 61.2, "film_s": 180.0, "underflows": 2, "discarded": 16})
    '1:01 of 3:00, underflows: 2, discarded pictures: 16'
    """
    position, film = line.get("position_s"), line.get("film_s")
    where = (
        "starting" if position is None or film is None else f"{clock(position)} of {clock(film)}"
    )
    told = [("underflows", line.get("underflows")), ("discarded pictures", line.get("discarded"))]
    return ", ".join([where, *(f"{name}: {value}" for name, value in told if value is not None)])


def last(out: Path) -> dict[str, Any]:
    """Return the last line that a player has written; nothing before its first."""
    try:
        lines = read_lines(out / "playback.jsonl", _TAIL_BYTES)
    except OSError:
        return {}
    return lines[-1] if lines else {}
