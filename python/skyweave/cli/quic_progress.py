"""How far a fetch is, on a terminal."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Self

from rich.progress import (
    BarColumn,
    DownloadColumn,
    TimeElapsedColumn,
    TransferSpeedColumn,
)
from rich.progress import Progress as Bar

from skyweave.console import Console, TextColumn
from skyweave.printing import visible
from skyweave.quic.fetch import Notice, Progress

_SPACING_S = 0.5
"""Rates of paths are means over this time."""


class Show:
    """A progress bar with the rate of each path; a context manager."""

    def __init__(self, console: Console, name: str) -> None:
        self._console = console
        self._bar = Bar(
            TextColumn("{task.description}"), BarColumn(bar_width=16), DownloadColumn(),
            TransferSpeedColumn(), TimeElapsedColumn(), TextColumn("{task.fields[rates]}"),
            console=console, transient=True, disable=console.quiet,
        )  # fmt: skip
        self._task = self._bar.add_task(name, total=None, rates="")
        self._before: tuple[float, dict[str, int]] = (time.monotonic(), {})

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._bar.stop()

    def progress(self, state: Progress) -> None:
        """Show a state, and say what happened."""
        for notice in state.notices:
            self._console.print(words(notice))
        self._bar.update(self._task, completed=state.bytes, total=state.total)
        now, (then, before) = time.monotonic(), self._before
        if now - then < _SPACING_S:
            return
        came = {path.name: path.received_bytes for path in state.paths}
        rates = (
            f"{name} {(count - before.get(name, 0)) * 8e-6 / (now - then):.1f}"
            for name, count in came.items()
        )
        self._bar.update(self._task, rates=", ".join(rates) + (" Mbit/s" if came else ""))
        self._before = (now, came)


def words(notice: Notice) -> str:
    """Return a sentence about a path.

    >>> words(Notice("down", "wlan0", "its interface is down"))
    'wlan0: down, its interface is down'
    """
    path = visible(notice.path)
    if notice.kind == "up":
        return f"{path}: up"
    if notice.kind == "again":
        return f"trying again: {visible(notice.why)}"
    if notice.kind == "down":
        return f"{path}: down, {visible(notice.why)}"
    return f"the server does not speak multipath; {path} is the only path"
