"""How far a study is: a bar on a terminal, a few plain lines elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager

from rich.progress import (
    BarColumn,
    ProgressColumn,
    Task,
    TaskProgressColumn,
    TimeRemainingColumn,
)
from rich.progress import Progress as Bar
from rich.text import Text

from skyweave.cli.say import live_words
from skyweave.console import Console, TextColumn
from skyweave.study.compile.expand import EngineName, Job
from skyweave.study.run.observer import StudyObserver

Report = Callable[[float], None]
"""Called after each run with its work: expected packets, of a live run its seconds."""


class Progress(StudyObserver):
    """Shows a study on ``console`` (standard error), ``live_jobs`` of its live runs at a time."""

    def __init__(self, console: Console | None = None, live_jobs: int = 1) -> None:
        self._live_jobs = live_jobs
        self._console = Console(stderr=True) if console is None else console
        self._stack = ExitStack()
        self._report: Report = lambda _: None
        self._cost = ""
        self._drawing_since = 0.0

    def starts(self, todo: Sequence[Job], kept: int) -> None:
        """Say what an earlier call has done, and how long live runs take."""
        if kept:
            said = f"{kept} of {len(todo) + kept} runs are already there."
            self._console.print(said)
        if live := [job.work for job in todo if job.engine != "sim"]:
            said = live_words(len(live), sum(live), self._live_jobs)
            self._console.print(said)

    def note(self, sentence: str) -> None:
        """Say it on a line of its own."""
        self._console.print(sentence, highlight=False, markup=False, soft_wrap=True)

    def begins(self, engine: EngineName, jobs: Sequence[Job], at_a_time: int) -> None:
        """Start a bar, or lines."""
        work = [job.work for job in jobs]
        if engine != "sim":
            shown = live_progress(self._console, work, at_a_time)
        else:
            shown = progress(self._console, len(work), sum(work))
        self._report = self._stack.enter_context(shown)

    def finished(self, job: Job) -> None:
        """Move the bar."""
        self._report(job.work)

    def metered(self, cpu_s: float, packets: int) -> None:
        """Remember it for the end, below the bar."""
        if packets:
            self._cost = (
                f"Simulated {_amount(packets)} packets in {cpu_s:.1f} s of processor time: "
                f"{cpu_s / packets * 1e6:.2f} s per million packets."
            )

    def ends(self, _engine: EngineName) -> None:
        """Leave the bar as it is, and say what the simulations needed."""
        self._stack.close()
        if self._cost:
            self._console.print(self._cost, highlight=False, markup=False)
            self._cost = ""

    def drawn(self, done: int, figures: int) -> None:
        """Say each tenth of the figures, once they have taken two seconds."""
        now = time.monotonic()
        if done == 0:
            self._drawing_since = now
        if now - self._drawing_since >= 2.0 and done % max(figures // 10, 1) == 0:
            self._console.print(f"{done}/{figures} figures", highlight=False)


class _Left(ProgressColumn):
    """How long live runs still take: they take the time that they describe."""

    def __init__(self, at_a_time: int) -> None:
        super().__init__()
        self._at_a_time = at_a_time

    def render(self, task: Task) -> Text:
        """Render the column: seconds of runs not done, less what passed since the last ended."""
        since = time.monotonic() - task.fields["since"]
        left = max(task.remaining or 0.0, 0.0) / self._at_a_time - since
        return Text(f"ready in {clock(max(left, 0.0))}")


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


@contextmanager
def live_progress(
    console: Console, seconds: Sequence[float], at_a_time: int = 1
) -> Iterator[Report]:
    """Show how live runs of ``seconds`` each get done, ``at_a_time`` of them at once."""
    if console.is_terminal:
        columns = (
            TextColumn("{task.fields[done]}/{task.fields[runs]} live runs", "bold"), BarColumn(),
            TaskProgressColumn(), _Left(at_a_time),
        )  # fmt: skip
        with Bar(*columns, console=console) as bar:
            total, runs, now = sum(seconds), len(seconds), time.monotonic()
            task = bar.add_task("live", total=total, done=0, runs=runs, since=now)
            count = iter(range(1, runs + 1))

            def advance(more: float) -> None:
                bar.update(task, advance=more, done=next(count, runs), since=time.monotonic())

            yield advance
    else:
        yield _live_lines(console, seconds, at_a_time)


def _live_lines(console: Console, seconds: Sequence[float], at_a_time: int) -> Report:
    """Return a reporter that prints at most about ten lines."""
    runs, left, done = len(seconds), sum(seconds), 0
    every = max(runs // 10, 1)

    def advance(more: float) -> None:
        nonlocal left, done
        left, done = left - more, done + 1
        if done % every == 0 or done == runs:
            console.print(
                f"{done}/{runs} live runs, about {max(left, 0.0) / at_a_time:.0f} s left",
            )

    return advance


def clock(seconds: float) -> str:
    """Return seconds as a clock says them.

    >>> clock(75.2), clock(3725)
    ('1:15', '1:02:05')
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def _bar(console: Console) -> Bar:
    return Bar(
        TextColumn("{task.fields[done]}/{task.fields[runs]} runs", "bold"),
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
        )

    return advance


def _amount(value: float) -> str:
    for unit, size in (("M", 1e6), ("k", 1e3)):
        if value >= size:
            return f"{value / size:.1f} {unit}"
    return f"{value:.0f}"
