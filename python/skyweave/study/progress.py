"""How far a study is: a bar on a terminal, a few plain lines elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

Report = Callable[[float], None]
"""Told about each finished run: how many packets it was expected to carry."""


class _Rate(ProgressColumn):
    """Packets a second."""

    def render(self, task: Task) -> Text:
        """Render the column."""
        return Text(f"{_amount(task.speed or 0.0)} packets/s", style="dim")


@contextmanager
def progress(console: Console, runs: int, packets: float) -> Iterator[Report]:
    """Show how ``runs`` runs with about ``packets`` packets in all get done."""
    if console.is_terminal:
        with _bar(console) as bar:
            task = bar.add_task("runs", total=max(packets, 1.0), done=0, runs=runs)
            count = iter(range(1, runs + 1))

            def advance(packets: float) -> None:
                bar.update(task, advance=packets, done=next(count, runs))

            yield advance
    else:
        yield _lines(console, runs, packets)


def _bar(console: Console) -> Progress:
    return Progress(
        TextColumn("[bold]{task.fields[done]}/{task.fields[runs]} runs"),
        BarColumn(),
        TaskProgressColumn(),
        _Rate(),
        TextColumn("ready in"),
        TimeRemainingColumn(compact=True),
        console=console,
    )


def _lines(console: Console, runs: int, packets: float) -> Report:
    """Return a reporter that prints at most about ten lines."""
    began, done, carried = time.monotonic(), 0, 0.0
    every = max(runs // 10, 1)

    def advance(more: float) -> None:
        nonlocal done, carried
        done, carried = done + 1, carried + more
        if done % every and done != runs:
            return
        spent = max(time.monotonic() - began, 1e-9)
        left = spent * (packets - carried) / max(carried, 1.0)
        console.print(
            f"{done}/{runs} runs, {_amount(carried / spent)} packets/s, about {left:.0f} s left",
            highlight=False,
        )

    return advance


def _amount(value: float) -> str:
    for unit, size in (("M", 1e6), ("k", 1e3)):
        if value >= size:
            return f"{value / size:.1f} {unit}"
    return f"{value:.0f}"
